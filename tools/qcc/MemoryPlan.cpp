// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/MemoryPlan.h"

#include "runtime/base/Digits.h"
#include "runtime/program/Memory.h"

#include "llvm/ADT/StringRef.h"

namespace qcc {

qrt::StatusOr<int64_t> parseMemory(std::string_view text) {
  const std::pair<llvm::StringRef, double> units[] = {
      {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"GB", 1e9}, {"MB", 1e6}, {"", 1}};
  for (auto &[unit, size] : units) {
    llvm::StringRef number(text);
    double value;
    if (number.consume_back(unit) && !number.trim().getAsDouble(value) && value > 0 && value * size < 0x1p62)
      return static_cast<int64_t>(value * size);
  }
  return qrt::error(qrt::StatusCode::InvalidUsage, "--memory: expected an amount like 80GiB or 141GB, got '{}'", text);
}

std::string memoryPlan(const qrt::Program &program, llvm::ArrayRef<TransientPeak> peaks,
                       std::optional<int64_t> budget) {
  std::string text = qrt::memoryReport(program, budget);
  auto line = [&](std::string_view what, int64_t bytes) { text += qrt::memoryLine(what, bytes) + "\n"; };
  for (const TransientPeak &peak : peaks) {
    text += "  entry " + peak.entry + "\n";
    line("  batch, tables and results", peak.io);
    line("  transient", peak.transient);
    if (peak.instruction < 0)
      continue;
    text += fmt::format("      at its peak, instruction {}{}:\n", peak.instruction,
                        peak.scope.empty() ? "" : " (" + peak.scope + ")");
    line("    activations", peak.activations);
    line("    gradients", peak.gradients);
    line("    workspace", peak.workspace);
    line("    unused", peak.unused);
  }
  return text;
}

qrt::Status checkBudget(const qrt::Program &program, int64_t budget) {
  int64_t needed = qrt::totalBytes(program.spaceBytes(/*accumulate=*/false));
  if (needed <= budget)
    return qrt::Status();
  return qrt::error(qrt::StatusCode::ResourceExhausted,
                    "--memory: a run of one micro-batch a step needs {}, {} more than {}: nothing is written. "
                    "--remat memory-bound, --states bf16 or a smaller bucket needs less",
                    qrt::printBytes(needed), qrt::printBytes(needed - budget), qrt::printBytes(budget));
}

} // namespace qcc
