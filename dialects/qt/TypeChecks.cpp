// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/TypeChecks.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace qt {

Type accumulatorType(Type elementType) {
  return elementType.isF64() ? elementType : Type(Float32Type::get(elementType.getContext()));
}

RankedTensorType statisticsType(Value x) {
  return RankedTensorType::get(shapeOf(x).drop_back(), accumulatorType(elementTypeOf(x)));
}

SmallVector<int64_t> withLast(ArrayRef<int64_t> shape, int64_t last) {
  SmallVector<int64_t> result(shape.drop_back());
  result.push_back(last);
  return result;
}

LogicalResult expectType(Operation *op, StringRef name, Value value, Type type) {
  if (value && value.getType() != type)
    return op->emitOpError("expected ") << name << " of type " << type << ", got " << value.getType();
  return success();
}

LogicalResult expectType(Operation *op, StringRef name, Value value, ArrayRef<int64_t> shape, Type elementType) {
  return expectType(op, name, value, RankedTensorType::get(shape, elementType));
}

LogicalResult expectWeight(Operation *op, StringRef name, Value value, ArrayRef<int64_t> shape, Type elementType) {
  Type wide = accumulatorType(elementType);
  if (!value || value.getType() == RankedTensorType::get(shape, wide))
    return success();
  if (wide == elementType || value.getType() == RankedTensorType::get(shape, elementType))
    return expectType(op, name, value, shape, elementType);
  return op->emitOpError("expected ") << name << " of type " << RankedTensorType::get(shape, elementType) << " or "
                                      << RankedTensorType::get(shape, wide) << ", got " << value.getType();
}

LogicalResult expectRank(Operation *op, StringRef name, Value value, int64_t rank) {
  if (value && tensorType(value).getRank() != rank)
    return op->emitOpError("expected ") << name << " of " << rank << " dimensions, got " << value.getType();
  return success();
}

LogicalResult expectMinRank(Operation *op, StringRef name, Value value, int64_t rank) {
  if (value && tensorType(value).getRank() < rank)
    return op->emitOpError("expected ") << name << " of at least " << rank << " dimensions, got " << value.getType();
  return success();
}

LogicalResult expectTokens(Operation *op, StringRef name, Value value, SegmentsType docs) {
  if (value && docs.isStatic() && shapeOf(value)[0] != docs.getTokens())
    return op->emitOpError("expected ") << name << " to have a row for each of the " << docs.getTokens()
                                        << " tokens of " << docs << ", got " << value.getType();
  return success();
}

LogicalResult expectTrainedRows(Operation *op, StringRef name, Value value, SegmentsType docs) {
  if (value && docs.isStatic() && shapeOf(value)[0] != docs.getTrained())
    return op->emitOpError("expected ") << name << " to have the " << docs.getTrained() << " trained rows of " << docs
                                        << ", got " << value.getType();
  return success();
}

LogicalResult expectInto(Operation *op, ValueRange into, ArrayRef<Value> results) {
  if (into.empty())
    return success();
  SmallVector<Value> present;
  for (Value result : results)
    if (result)
      present.push_back(result);
  if (into.size() != present.size())
    return op->emitOpError("expected a value to add to for each of the ")
           << present.size() << " weight gradients, or none, got " << into.size();
  for (auto [value, result] : llvm::zip_equal(into, present))
    if (value.getType() != result.getType())
      return op->emitOpError("expected a value to add to of the gradient's type ")
             << result.getType() << ", got " << value.getType();
  return success();
}

std::string printNumber(double number) {
  if (std::isnan(number))
    return "nan";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

LogicalResult expectEps(Operation *op, const APFloat &eps) {
  if (!eps.isFinite() || (eps.isNegative() && !eps.isZero()))
    return op->emitOpError("expected eps to be finite and not negative, got ") << printNumber(eps.convertToDouble());
  return success();
}

LogicalResult expectRotary(Operation *op, int64_t rotaryDims, int64_t width, const APFloat &theta) {
  if (rotaryDims < 2 || rotaryDims % 2 != 0 || rotaryDims > width)
    return op->emitOpError("expected an even number of rotary dimensions from 2 to the head's ")
           << width << ", got " << rotaryDims;
  if (!theta.isFinite() || theta.isNegative() || theta.isZero())
    return op->emitOpError("expected theta to be finite and above 0, got ") << printNumber(theta.convertToDouble());
  return success();
}

LogicalResult expectHeadRatio(Operation *op, StringRef many, int64_t manyHeads, StringRef few, int64_t fewHeads) {
  if (fewHeads < 1 || manyHeads % fewHeads != 0)
    return op->emitOpError("expected the heads of ")
           << many << " to be a multiple of those of " << few << ", got " << manyHeads << " and " << fewHeads;
  return success();
}

} // namespace qt
