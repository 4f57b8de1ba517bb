// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the transient memory of a program holds where it is fullest, to the byte (all else: runtime/program/Memory.h).
#ifndef COMPILER_EMIT_TRANSIENTPEAKS_H
#define COMPILER_EMIT_TRANSIENTPEAKS_H

#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace qcc {

/// Of one entry: what is alive at the instruction where most is. Together with `unused` it makes up `transient`.
struct TransientPeak {
  std::string entry; // "step 8192"
  int64_t io = 0;
  int64_t transient = 0;
  int64_t activations = 0;
  int64_t gradients = 0;
  int64_t workspace = 0;
  int64_t documents = 0; // the most that a row may hold
  /// Of `workspace`: what rows of a single document would not take.
  int64_t documentBytes = 0;
  int64_t unused = 0;       // gaps and padding
  int64_t instruction = -1; // none: nothing is transient
  std::string scope;
};

/// The peaks of a module in the phase `planned`, by entry; `target`: what it was planned for.
std::vector<TransientPeak> findTransientPeaks(mlir::ModuleOp module, const Target &target);

} // namespace qcc

#endif // COMPILER_EMIT_TRANSIENTPEAKS_H
