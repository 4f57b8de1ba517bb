// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `qcc build` says about memory.
#ifndef TOOLS_QCC_MEMORYPLAN_H
#define TOOLS_QCC_MEMORYPLAN_H

#include "compiler/emit/TransientPeaks.h"
#include "runtime/program/Program.h"

#include <optional>
#include <string>

namespace qcc {

/// The table of qrt::memoryReport, then of each entry what its transient memory holds at its peak. Ends with a line
/// feed.
std::string memoryPlan(const qrt::Program &program, llvm::ArrayRef<TransientPeak> peaks, std::optional<int64_t> budget);

/// ResourceExhausted if not even a run of one micro-batch a step fits the budget (in bytes).
qrt::Status checkBudget(const qrt::Program &program, int64_t budget);

} // namespace qcc

#endif // TOOLS_QCC_MEMORYPLAN_H
