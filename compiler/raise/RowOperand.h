// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a raised op takes over from the ops around it: rows [tokens, heads, width] that are cast, scaled, transposed or
// repeated by head.
#ifndef COMPILER_RAISE_ROWOPERAND_H
#define COMPILER_RAISE_ROWOPERAND_H

#include "dialects/qt/Qt.h"

namespace qcc {

/// Rows as they were before the ops that a raised op does itself: original = repeat(widen(value) * scale), each of
/// `value`'s heads standing `repeat` times in a row.
struct RowOperand {
  mlir::Value value;
  double scale = 1;
  int64_t repeat = 1;
};

/// What may be looked through. Casts to a wider type always may: they change no number.
struct Absorb {
  bool scales = false;
  bool repeats = false;
};

/// Looks back from `rows` through casts to a wider type and what `absorb` allows.
RowOperand absorbed(mlir::Value rows, Absorb absorb);

/// The operand of a cast to a wider element type; null if `value` is none.
mlir::Value widenedFrom(mlir::Value value);

/// Casts the values that are narrower than the widest of them, so that all have one element type.
void unifyElementTypes(mlir::OpBuilder &builder, mlir::Location loc, llvm::MutableArrayRef<mlir::Value> values);

/// `value` with dimension `permutation[i]` as its dimension i: itself if nothing moves, the operand of a transpose that
/// this undoes.
mlir::Value arranged(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     llvm::ArrayRef<int64_t> permutation);

/// `raised` as `old` is: dimension `permutation[i]` of `old` is dimension i of `raised`.
mlir::Value restored(mlir::OpBuilder &builder, mlir::Value old, mlir::Value raised,
                     llvm::ArrayRef<int64_t> permutation);

/// Puts `raised` in the place of `old`, of the same numbers with dimension `permutation[i]` of `old` as its dimension
/// i, looking forward through transposes and casts for readers that want `raised` as it is. Others get a transpose or a
/// cast.
void replaceRows(mlir::OpBuilder &builder, mlir::Value old, mlir::Value raised, llvm::ArrayRef<int64_t> permutation);

} // namespace qcc

#endif // COMPILER_RAISE_ROWOPERAND_H
