// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Memory.h"

#include "runtime/base/Digits.h"

#include <algorithm>
#include <charconv>

namespace qrt {

StateMemory stateMemory(const Program &program) {
  int64_t bytes[kNumParameterParts] = {};
  for (const Parameter &parameter : program.parameters())
    for (int part = 0; part < kNumParameterParts; ++part)
      if (const std::optional<BufferRef> &buffer = parameter.parts[part]; buffer && buffer->space == Space::State)
        bytes[part] += parameter.elements * byteSize(buffer->dtype);
  auto of = [&](ParameterPart part) { return bytes[static_cast<int>(part)]; };
  StateMemory memory;
  memory.weights = of(ParameterPart::Weight);
  memory.masters = of(ParameterPart::Master);
  memory.moments = of(ParameterPart::ExpAvg) + of(ParameterPart::ExpAvgSq);
  memory.counters = 2 * byteSize(program.counters().dtype);
  memory.alignment = program.stateBytes() - memory.weights - memory.masters - memory.moments - memory.counters;
  return memory;
}

DeviceOverhead deviceOverhead(std::string_view target, int64_t code) {
  if (target == "cpu")
    return {};
  return {kGemmWorkspaceBytes, code, kContextBytes};
}

LeastMemory leastMemory(const Program &program, bool accumulate) {
  LeastMemory least;
  least.masters = stateMemory(program).masters > 0;
  least.state = program.stateBytes();
  for (const Parameter &parameter : program.parameters())
    if (!parameter.frozen)
      least.gradients += parameter.elements * byteSize(parameter.weight().dtype);
  if (accumulate)
    least.gradients += program.gradientBytes();
  least.overhead = deviceOverhead(program.target(), program.deviceCodeBytes()).total();
  return least;
}

std::string lessMemory(const LeastMemory &least, int64_t available, bool budget) {
  std::string text;
  std::vector<std::string> options;
  if (least.masters)
    options.push_back("--states bf16");
  if (least.total() < available)
    options.push_back("a smaller bucket");
  else
    text = "no bucket is small enough";
  if (budget)
    options.push_back(fmt::format("--memory {} and no other --remat", available));
  if (options.empty())
    return text;
  return fmt::format("{}{}`qcc build` makes it less with {}", text, text.empty() ? "" : "; ",
                     fmt::join(options, ", or "));
}

/// The budget that a program was built to keep to, in bytes, if one was.
static std::optional<int64_t> budgetOf(const Program &program) {
  constexpr std::string_view kMemory = "memory=";
  std::optional<int64_t> budget;
  bool keepsToIt = false;
  for (std::string_view option : program.options()) {
    keepsToIt |= option == "remat=budget";
    int64_t bytes = 0;
    if (option.starts_with(kMemory) &&
        std::from_chars(option.data() + kMemory.size(), option.data() + option.size(), bytes).ec == std::errc())
      budget = bytes;
  }
  return keepsToIt ? budget : std::nullopt;
}

std::string lessMemory(const Program &program, bool accumulate, int64_t available) {
  SpaceBytes spaces = program.spaceBytes(accumulate);
  LeastMemory least = leastMemory(program, accumulate);
  std::optional<int64_t> budget = budgetOf(program);
  // In the same buckets batch and tables take what they do.
  bool smallerBudget =
      least.total() + spaces[static_cast<int>(Space::Io)] < available && (!budget || *budget > available);
  std::string text = lessMemory(least, available, smallerBudget);
  if (accumulate)
    text += fmt::format("; a run of one micro-batch a step (--micro-batches 1) takes {} less",
                        printBytes(totalBytes(spaces) - totalBytes(program.spaceBytes(false))));
  return text;
}

std::string memoryLine(std::string_view what, int64_t bytes) {
  return fmt::format("  {:<44}{:>20}{:>12.3f}", what, groupDigits(bytes), static_cast<double>(bytes) / 0x1p30);
}

std::string memoryReport(const Program &program, std::optional<int64_t> budget) {
  std::string text = fmt::format("{:<46}{:>20}{:>12}\n", "memory", "bytes", "GiB");
  auto line = [&](std::string_view what, int64_t bytes, const std::string &remark = "") {
    text += memoryLine(what, bytes) + remark + "\n";
  };
  StateMemory state = stateMemory(program);
  line("state: all that outlives a step", program.stateBytes());
  line("  weights", state.weights);
  line("  masters", state.masters);
  line("  moments", state.moments);
  line("  counters", state.counters);
  line("  alignment", state.alignment);
  DeviceOverhead overhead = deviceOverhead(program.target(), program.deviceCodeBytes());
  bool accumulates = std::any_of(program.entries().begin(), program.entries().end(),
                                 [](const Entry &entry) { return entry.kind == EntryKind::Accumulate; });
  for (bool accumulate : {false, true}) {
    if (accumulate && !accumulates)
      break;
    SpaceBytes spaces = program.spaceBytes(accumulate);
    int64_t total = totalBytes(spaces) + overhead.total();
    std::string verdict;
    if (budget)
      verdict = total <= *budget ? "  fits" : "  short by " + printBytes(total - *budget);
    line(accumulate ? "a run that accumulates micro-batches" : "a run of one micro-batch a step", total, verdict);
    line("  state", spaces[static_cast<int>(Space::State)]);
    if (accumulate)
      line("  gradients", spaces[static_cast<int>(Space::Gradients)]);
    line(accumulate ? "  transient, the most of any entry" : "  transient, the most of step and eval",
         spaces[static_cast<int>(Space::Transient)]);
    line("  batch, tables and results, likewise", spaces[static_cast<int>(Space::Io)]);
    if (overhead.total() == 0)
      continue;
    line("  workspace of matrix products", overhead.workspace);
    line("  machine code of the kernels", overhead.code);
    line("  context of the GPU, code of its libraries", overhead.context);
  }
  return text;
}

} // namespace qrt
