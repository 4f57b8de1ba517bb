// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/CompileDeviceCode.h"

#include "runtime/backends/cuda/DeviceSources.h"

#include <charconv>

namespace qrt::cuda {
namespace {

/// The number before `unit` in a line such as "Used 40 registers, 16 bytes smem"; 0 where the line has none.
int64_t numberBefore(std::string_view line, std::string_view unit) {
  size_t end = line.find(unit);
  if (end == std::string_view::npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

} // namespace

StatusOr<Cubin> compileDeviceCode(CubinCache &cache, std::string_view source, const std::string &function,
                                  std::string_view architecture) {
  std::string main = fmt::format("#include \"{}\"\nusing namespace qrt::device;\n", source);
  return cache.compile(deviceSources(), main, function, architecture);
}

StatusOr<DeviceCodeReport> readReport(const Cubin &cubin) {
  DeviceCodeReport report;
  // Every function that the source defines without a template is compiled too, each under a line of its own.
  const std::string begin = fmt::format("Compiling entry function '{}'", cubin.symbol);
  bool found = false, ours = false;
  for (std::string_view log = cubin.log; !log.empty();) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.find("(C7") != std::string_view::npos || line.find("setmaxnreg") != std::string_view::npos ||
        line.find("wgmma") != std::string_view::npos)
      report.warnings.emplace_back(line);
    if (line.find("Compiling entry function '") != std::string_view::npos) {
      ours = line.find(begin) != std::string_view::npos;
      found = found || ours;
    }
    if (!ours)
      continue;
    report.registers = std::max(report.registers, static_cast<int>(numberBefore(line, " registers")));
    report.stackBytes += numberBefore(line, " bytes stack frame");
    report.spillStoreBytes += numberBefore(line, " bytes spill stores");
    report.spillLoadBytes += numberBefore(line, " bytes spill loads");
    report.sharedBytes = std::max(report.sharedBytes, numberBefore(line, " bytes smem"));
  }
  if (!found)
    return error(StatusCode::InvalidData, "the log of {} says nothing of it:\n{}", cubin.symbol, cubin.log);
  return report;
}

} // namespace qrt::cuda
