// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second half of `qcc build --explain`: what the backward pass finds of the forward pass, and how long it is all
// expected to take.
#ifndef COMPILER_EXPLAINMEMORY_H
#define COMPILER_EXPLAINMEMORY_H

#include "compiler/cost/CostModel.h"
#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace qcc {

/// Prints of a module of the phase `remat`, for the step of its first bucket on the target: layer by layer (layers of
/// equal tables share one) each tensor that the backward pass reads of the forward pass, whether it is kept, computed
/// again or dropped, its bytes, and the predicted time of a second run; then the predicted time by kind of work. Prints
/// nothing if the module has no such step. Failure: the step has no plan, as was diagnosed.
mlir::LogicalResult explainMemory(mlir::ModuleOp module, const Target &target, const CostModel &costs,
                                  llvm::raw_ostream &out);

} // namespace qcc

#endif // COMPILER_EXPLAINMEMORY_H
