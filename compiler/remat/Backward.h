// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which part of an entry function is its backward pass.
#ifndef COMPILER_REMAT_BACKWARD_H
#define COMPILER_REMAT_BACKWARD_H

#include "dialects/qt/Entries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

/// Whether an entry function has a backward pass: @step and @accumulate.
inline bool hasBackward(mlir::func::FuncOp function) {
  auto kind = qt::entryKind(function);
  return kind == qt::EntryKind::Step || kind == qt::EntryKind::Accumulate;
}

/// The ops that depend on the backward pass's seed, 1/N.
inline llvm::DenseSet<mlir::Operation *> backwardOps(mlir::func::FuncOp function) {
  llvm::DenseSet<mlir::Operation *> ops;
  mlir::BlockArgument seed = qt::findArgument(function, qt::ArgumentRole::InverseTokens);
  for (mlir::Operation &op : function.getBody().front())
    if (llvm::any_of(op.getOperands(),
                     [&](mlir::Value operand) { return operand == seed || ops.contains(operand.getDefiningOp()); }))
      ops.insert(&op);
  return ops;
}

} // namespace qcc

#endif // COMPILER_REMAT_BACKWARD_H
