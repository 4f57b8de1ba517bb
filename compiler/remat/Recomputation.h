// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewriting behind recomputation: values that the backward pass reads are computed once more, where it first needs
// them, and are not kept in between.
#ifndef COMPILER_REMAT_RECOMPUTATION_H
#define COMPILER_REMAT_RECOMPUTATION_H

#include "dialects/qt/Qt.h"

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

/// The results of an op of the forward pass that are computed again where the op is; none for ops that never are. The
/// sum of an add_rms_norm is the residual stream: it is kept, and the norm is computed from it. So is what a cluster
/// gives to a sum or to another cluster. Residuals are small and kept, but for those of attention and of the delta
/// rule, which are as large as the results that they come with.
llvm::SmallVector<mlir::Value> recomputedValues(mlir::Operation *op);

/// Both runs of an op that is computed again.
struct Runs {
  mlir::Operation *first;
  mlir::Operation *again = nullptr; // null: the backward pass reads nothing of it
};

/// Rewrites an entry function: what the backward pass reads of `ops` (ops of the forward pass that have
/// recomputedValues) it reads of copies of them, each just before its first reader. The copies wait for the backward
/// pass (qt.barrier), and read the forward pass's values, parameters, or other copies. Gives the runs of each, in the
/// order of `ops`, which are no longer valid where a run without residuals took their place.
llvm::SmallVector<Runs> recompute(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Operation *> ops);

} // namespace qcc

#endif // COMPILER_REMAT_RECOMPUTATION_H
