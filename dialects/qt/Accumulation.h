// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradient ops can add their weight gradients to values that are there already: the operand group `into`.
#ifndef DIALECTS_QT_ACCUMULATION_H
#define DIALECTS_QT_ACCUMULATION_H

#include "dialects/qt/Qt.h"

namespace qt {

/// The results of an op that `into` can be given for, in its order; empty where it has none. They are in the weight's
/// type or in its accumulator's.
llvm::SmallVector<mlir::OpResult> accumulatingResults(mlir::Operation *op);

/// The operand group `into` of an op that has accumulating results.
mlir::MutableOperandRange intoOperands(mlir::Operation *op);

} // namespace qt

#endif // DIALECTS_QT_ACCUMULATION_H
