// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of the dialect's ops have in common: one wording of "expected this type, got that".
#ifndef DIALECTS_QT_TYPECHECKS_H
#define DIALECTS_QT_TYPECHECKS_H

#include "dialects/qt/Qt.h"

namespace qt {

/// Of a value that is a tensor (the op's definition says so): its type, extents and element type.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tensorType(value).getShape(); }
inline mlir::Type elementTypeOf(mlir::Value value) { return tensorType(value).getElementType(); }

/// What sums and statistics of a storage type are in: f64 for f64, else f32.
mlir::Type accumulatorType(mlir::Type elementType);

/// The type of statistics of x, one for each vector of its last dimension: rstd and lse.
mlir::RankedTensorType statisticsType(mlir::Value x);

/// `shape`, of one dimension or more, with its last one replaced by `last`.
llvm::SmallVector<int64_t> withLast(llvm::ArrayRef<int64_t> shape, int64_t last);

/// The checks below report on `op`, and call the value by the name it has in the op's definition. An absent (null)
/// value passes.

/// The value is a tensor of just this type.
llvm::LogicalResult expectType(mlir::Operation *op, llvm::StringRef name, mlir::Value value, mlir::Type type);
/// The value is a tensor of just this shape and element type.
llvm::LogicalResult expectType(mlir::Operation *op, llvm::StringRef name, mlir::Value value,
                               llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
/// The value has this shape, and the element type `elementType` or its accumulator type: how weights and their
/// gradients are stored.
llvm::LogicalResult expectWeight(mlir::Operation *op, llvm::StringRef name, mlir::Value value,
                                 llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
/// The tensor has exactly `rank` dimensions.
llvm::LogicalResult expectRank(mlir::Operation *op, llvm::StringRef name, mlir::Value value, int64_t rank);
/// The tensor has `rank` dimensions or more.
llvm::LogicalResult expectMinRank(mlir::Operation *op, llvm::StringRef name, mlir::Value value, int64_t rank);
/// The leading dimension counts the tokens of the bucket; nothing is checked where the segments are those of any row.
llvm::LogicalResult expectTokens(mlir::Operation *op, llvm::StringRef name, mlir::Value value, SegmentsType docs);
/// The same for the trained rows of the bucket.
llvm::LogicalResult expectTrainedRows(mlir::Operation *op, llvm::StringRef name, mlir::Value value, SegmentsType docs);
/// `into` is empty, or has one value of the same type for each of the results (absent ones not counted).
llvm::LogicalResult expectInto(mlir::Operation *op, mlir::ValueRange into, llvm::ArrayRef<mlir::Value> results);
/// A number for a message: what is none is "nan", of whatever sign.
std::string printNumber(double number);
/// A norm's epsilon: finite, not negative.
llvm::LogicalResult expectEps(mlir::Operation *op, const llvm::APFloat &eps);
/// Rotary dimensions of heads of `width`: even, from 2 to the width; theta above 0.
llvm::LogicalResult expectRotary(mlir::Operation *op, int64_t rotaryDims, int64_t width, const llvm::APFloat &theta);
/// The number of query heads is a multiple of that of the heads they share.
llvm::LogicalResult expectHeadRatio(mlir::Operation *op, llvm::StringRef many, int64_t manyHeads, llvm::StringRef few,
                                    int64_t fewHeads);

} // namespace qt

#endif // DIALECTS_QT_TYPECHECKS_H
