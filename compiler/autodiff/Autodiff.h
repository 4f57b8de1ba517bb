// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse-mode differentiation of a function of formed ops. Each op brings its adjoint (DifferentiableOpInterface).
#ifndef COMPILER_AUTODIFF_AUTODIFF_H
#define COMPILER_AUTODIFF_AUTODIFF_H

#include "dialects/qt/Qt.h"

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

/// What must be added up for the gradient of each parameter or pack, by the symbol that is read.
using Contributions = llvm::MapVector<mlir::StringAttr, llvm::SmallVector<mlir::Value>>;

/// Appends the adjoint of `function` to it, before its return. `loss`, a value of its body, has the cotangent `seed`.
/// Only what leads from trained parameters to the loss is differentiated; its residuals are asked for. Contributions to
/// one cotangent are summed with qt.add; those to a parameter are returned, in the order in which they arise. A
/// weight's contribution has the weight's type, or its accumulator's. Fails with a diagnostic at the op that has no
/// adjoint.
///
/// qt.linear_cross_entropy is replaced by its gradient op, which gives the loss as well, unless the function reads the
/// loss other than to return it.
mlir::FailureOr<Contributions> appendReversePass(mlir::func::FuncOp function, mlir::Value loss, mlir::Value seed);

/// The same gradient in the accumulator's type (f32, or f64): asked of the op that computes it where that op can give
/// it and nobody reads it yet, else cast.
mlir::Value asAccumulator(mlir::OpBuilder &builder, mlir::Value gradient);

} // namespace qcc

#endif // COMPILER_AUTODIFF_AUTODIFF_H
