// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/MemoryPlan.h"

#include "runtime/base/Digits.h"
#include "runtime/program/Memory.h"

namespace qcc {

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
    if (peak.documentBytes > 0)
      line(fmt::format("      for up to {} in a row", qrt::countOf(peak.documents, "document")), peak.documentBytes);
    line("    unused", peak.unused);
  }
  return text;
}

qrt::Status checkBudget(const qrt::Program &program, int64_t budget) {
  int64_t needed = qrt::totalBytes(program.spaceBytes(/*accumulate=*/false)) +
                   qrt::deviceOverhead(program.target(), program.deviceCodeBytes()).total();
  if (needed <= budget)
    return qrt::Status();
  return qrt::error(qrt::StatusCode::ResourceExhausted,
                    "--memory: a run of one micro-batch a step needs {}, {} more than {}: nothing is written; {}",
                    qrt::printBytes(needed), qrt::printBytes(needed - budget), qrt::printBytes(budget),
                    qrt::lessMemory(program, /*accumulate=*/false, budget));
}

} // namespace qcc
