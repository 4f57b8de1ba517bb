// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In what order the ops of an entry function run.
#ifndef COMPILER_PLAN_SCHEDULE_H
#define COMPILER_PLAN_SCHEDULE_H

#include "dialects/qt/Qt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

/// Program order, except that views, zeros and what is computed again (from operands behind a qt.barrier) wait until
/// something needs them, a watch follows its value at once, and updates come last. Ops without uses are left out; the
/// return is not part of it.
class Schedule {
public:
  explicit Schedule(mlir::func::FuncOp function);

  llvm::ArrayRef<mlir::Operation *> ops() const { return ops_; }
  /// The place of an op in `ops()`; after all for a return.
  int64_t position(mlir::Operation *op) const;

private:
  void emit(mlir::Operation *op);

  llvm::SmallVector<mlir::Operation *> ops_;
  llvm::DenseMap<mlir::Operation *, int64_t> positions_;
};

} // namespace qcc

#endif // COMPILER_PLAN_SCHEDULE_H
