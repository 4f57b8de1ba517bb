// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory plan of a program, to the byte, known before anything runs.
#ifndef COMPILER_EMIT_MEMORYREPORT_H
#define COMPILER_EMIT_MEMORYREPORT_H

#include "dialects/qt/Qt.h"

#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace qcc {

/// Bytes of each class. Sizes of single buffers are as they are; what rounding their beginnings to 256 bytes costs is
/// `padding`.
struct MemoryReport {
  // The space state.
  int64_t weights = 0;
  int64_t masters = 0;
  int64_t moments = 0;
  int64_t counters = 0;
  int64_t padding = 0;
  int64_t state = 0;
  /// The space of gradients that are accumulated over micro-batches.
  int64_t accumulatedGradients = 0;

  struct Entry {
    std::string name;
    qt::EntryKind kind = qt::EntryKind::Step;
    int64_t io = 0;
    int64_t transient = 0;
    /// What is alive at the instruction where most is; together with `unused` it makes up `transient`.
    int64_t activations = 0;
    int64_t gradients = 0;
    int64_t workspace = 0;
    int64_t unused = 0; // gaps and padding
    int64_t peakInstruction = -1;
    std::string peakScope;
  };
  std::vector<Entry> entries;

  /// What a run needs that takes one micro-batch a step (the entries step and eval), and what one needs that
  /// accumulates (accumulate, apply and eval).
  int64_t total() const;
  int64_t totalAccumulating() const;
};

/// The report of a module in the phase `planned`.
MemoryReport reportMemory(mlir::ModuleOp module);

/// A table; with a budget also whether the totals fit, or how many GiB are missing.
void printMemoryReport(const MemoryReport &report, llvm::raw_ostream &out,
                       std::optional<int64_t> budget = std::nullopt);

} // namespace qcc

#endif // COMPILER_EMIT_MEMORYREPORT_H
