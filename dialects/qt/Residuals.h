// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops with residual results: results that only their adjoint reads, the last and optional ones.
#ifndef DIALECTS_QT_RESIDUALS_H
#define DIALECTS_QT_RESIDUALS_H

#include "dialects/qt/Qt.h"

namespace qt {

/// How many results of an op are no residuals: all those of an op that has none.
unsigned numPrimals(mlir::Operation *op);

/// A copy of an op at the builder's place with other operands and with residuals or without. `resultTypes` begin with
/// the types of its primals.
mlir::Operation *cloneWithResults(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands,
                                  mlir::TypeRange resultTypes);

/// Replaces an op by one without its operand number `operand`, an optional one.
mlir::Operation *replaceWithoutOperand(mlir::Operation *op, unsigned operand);

/// Replaces an op by one without the residuals that nothing reads, as far as no later one is read.
mlir::Operation *dropUnusedResiduals(mlir::Operation *op);

} // namespace qt

#endif // DIALECTS_QT_RESIDUALS_H
