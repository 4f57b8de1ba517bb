// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/TraceFile.h"

#include "runtime/base/Digits.h"
#include "runtime/base/Json.h"
#include "runtime/executor/Profile.h"

#include <algorithm>
#include <map>

namespace qrt {
namespace {

// The device is one process of the format, its lines are threads: instructions first, then streams.
constexpr int kProcess = 1, kInstructions = 0;

Json metadata(std::string_view what, int64_t line, std::string_view name) {
  return {{"ph", "M"}, {"pid", kProcess}, {"tid", line}, {"name", what}, {"args", {{"name", name}}}};
}

Json slice(std::string_view name, int64_t line, int64_t begin, int64_t end, Json arguments) {
  return {{"ph", "X"},
          {"pid", kProcess},
          {"tid", line},
          {"name", name},
          {"ts", static_cast<double>(begin) * 1e-3},
          {"dur", static_cast<double>(end - begin) * 1e-3},
          {"args", std::move(arguments)}};
}

struct Extent {
  int64_t begin = 0, end = 0;
};

} // namespace

std::string traceJson(const Entry &entry, const ExecutionTrace &trace, std::string_view device) {
  int64_t first = trace.works.empty() ? 0 : trace.works.front().begin;
  // Lines of streams, in the order in which they began to work.
  std::map<int64_t, int64_t> lines;
  std::map<int32_t, Extent> instructions;
  Json events = Json::array({metadata("process_name", kInstructions, fmt::format("{}, {}", device, entry.name())),
                             metadata("thread_name", kInstructions, "instructions")});
  Json works = Json::array();
  for (const TracedWork &work : trace.works) {
    auto [line, isNew] = lines.try_emplace(work.stream, static_cast<int64_t>(lines.size()) + 1);
    if (isNew)
      events.push_back(metadata("thread_name", line->second, fmt::format("stream {}", work.stream)));
    Json arguments = Json::object();
    if (work.instruction >= 0) {
      const Instruction &instruction = entry.instructions[static_cast<size_t>(work.instruction)];
      arguments = {
          {"instruction", work.instruction}, {"class", className(entry, instruction)}, {"scope", instruction.scope}};
      auto [its, isFirst] = instructions.try_emplace(work.instruction, Extent{work.begin, work.end});
      its->second.end = std::max(its->second.end, work.end);
    }
    works.push_back(slice(work.name, line->second, work.begin - first, work.end - first, std::move(arguments)));
  }
  for (auto &[index, extent] : instructions) {
    const Instruction &instruction = entry.instructions[static_cast<size_t>(index)];
    events.push_back(slice(className(entry, instruction), kInstructions, extent.begin - first, extent.end - first,
                           {{"instruction", index}, {"scope", instruction.scope}}));
  }
  events.insert(events.end(), works.begin(), works.end());
  return Json({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}).dump(1) + "\n";
}

std::string traceSummary(const ExecutionTrace &trace) {
  int64_t end = 0, busy = 0;
  // Works may overlap.
  for (const TracedWork &work : trace.works) {
    busy += std::max<int64_t>(work.end - std::max(end, work.begin), 0);
    end = std::max(end, work.end);
  }
  double all = trace.works.empty() ? 0 : static_cast<double>(end - trace.works.front().begin) * 1e-6;
  std::string text =
      fmt::format("{} in {:.3f} ms, in {:.3f} of which the device worked",
                  countOf(static_cast<int64_t>(trace.works.size()), "work"), all, static_cast<double>(busy) * 1e-6);
  return trace.complete ? text
                        : text + "; these are not as many as it was given, so none is known to be of an instruction";
}

} // namespace qrt
