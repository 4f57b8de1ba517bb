// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Memory.h"

#include "runtime/base/Digits.h"

#include <algorithm>

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

std::string lessMemory(const Program &program, int64_t available) {
  std::vector<std::string> options;
  if (stateMemory(program).masters > 0)
    options.push_back("--states bf16");
  // Else no bucket is small enough.
  if (program.stateBytes() + deviceOverhead(program.target(), program.deviceCodeBytes()).total() < available) {
    options.push_back("a smaller bucket");
    options.push_back(fmt::format("--memory {} and no other --remat", available));
  }
  return options.empty() ? "" : fmt::format("; `qcc build` makes it less with {}", fmt::join(options, ", or "));
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
