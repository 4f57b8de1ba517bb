// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and adjoints of the model ops.
#include "dialects/qt/Entries.h"
#include "dialects/qt/TypeChecks.h"

using namespace mlir;

namespace qt {

LogicalResult EmbeddingOp::verify() {
  if (failed(expectRank(*this, "weight", getWeight(), 2)))
    return failure();
  if (failed(expectType(*this, "out", getOut(), {shapeOf(getIds())[0], shapeOf(getWeight())[1]},
                        elementTypeOf(getWeight()))))
    return failure();
  return expectTokens(*this, "ids", getIds(), getDocs().getType());
}

SmallVector<Value> EmbeddingOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  BlockArgument order =
      findArgument(getOperation()->getParentOfType<FunctionOpInterface>(), ArgumentRole::EmbeddingOrder);
  assert(order && "the function was given its argument `embedding_order` before");
  Value dWeight = EmbeddingGradOp::create(b, getLoc(), getWeight().getType(), getDocs(), getIds(), order, cotangents[0],
                                          /*into=*/ValueRange());
  return {Value(), Value(), dWeight};
}

LogicalResult LinearOp::verify() {
  if (failed(expectRank(*this, "x", getX(), 2)) || failed(expectRank(*this, "weight", getWeight(), 2)))
    return failure();
  Type element = elementTypeOf(getX());
  if (failed(expectType(*this, "weight", getWeight(), {shapeOf(getWeight())[0], shapeOf(getX())[1]}, element)))
    return failure();
  return expectType(*this, "y", getY(), {shapeOf(getX())[0], shapeOf(getWeight())[0]}, element);
}

double LinearOp::getFlops() {
  return 2.0 * static_cast<double>(tensorType(getX()).getNumElements()) * static_cast<double>(shapeOf(getWeight())[0]);
}

SmallVector<Value> LinearOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value dx = LinearInputGradOp::create(b, getLoc(), getX().getType(), cotangents[0], getWeight());
  Value dWeight =
      LinearWeightGradOp::create(b, getLoc(), getWeight().getType(), cotangents[0], getX(), /*into=*/Value());
  return {dx, dWeight};
}

LogicalResult RmsNormOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  Type element = elementTypeOf(getX());
  if (failed(expectWeight(*this, "weight", getWeight(), shape.take_back(), element)) ||
      failed(expectType(*this, "y", getY(), getX().getType())) ||
      failed(expectType(*this, "rstd", getRstd(), statisticsType(getX()))))
    return failure();
  return expectEps(*this, getEps());
}

SmallVector<Type> RmsNormOp::getResidualTypes() { return {statisticsType(getX())}; }

SmallVector<Value> RmsNormOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  auto grad = RmsNormGradOp::create(b, getLoc(), getX().getType(), getWeight().getType(), getX(), getWeight(),
                                    getRstd(), cotangents[0],
                                    /*into=*/ValueRange(), getEpsAttr());
  return {grad.getDx(), grad.getDweight()};
}

/// The adjoint of n = x * rsqrt(mean(x^2) + eps): qt.rms_norm's with a weight of zero. Its weight gradient is the sum
/// of cotangent * n.
static RmsNormGradOp unweightedNormGrad(OpBuilder &b, Location loc, Value x, double eps, Value cotangent) {
  auto weight = RankedTensorType::get(shapeOf(x).take_back(), elementTypeOf(x));
  Value zeros = ZerosOp::create(b, loc, weight);
  return RmsNormGradOp::create(b, loc, x.getType(), weight, x, zeros, /*rstd=*/Value(), cotangent,
                               /*into=*/ValueRange(), b.getF64FloatAttr(eps));
}

LogicalResult PlainRmsNormOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  Type element = elementTypeOf(getX());
  if (failed(expectWeight(*this, "weight", getWeight(), shape.take_back(), element)) ||
      failed(expectType(*this, "y", getY(), getX().getType())))
    return failure();
  return expectEps(*this, getEps());
}

SmallVector<Value> PlainRmsNormOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value g = cotangents[0], weight = getWeight();
  double eps = getEps().convertToDouble();
  if (elementTypeOf(weight) != elementTypeOf(g))
    weight = CastOp::create(b, getLoc(), RankedTensorType::get(shapeOf(weight), elementTypeOf(g)), weight);
  Value dx = unweightedNormGrad(b, getLoc(), getX(), eps, MulOp::create(b, getLoc(), g, weight)).getDx();
  RmsNormGradOp weightGrad = unweightedNormGrad(b, getLoc(), getX(), eps, g);
  weightGrad.getDweight().setType(tensorType(getWeight()));
  return {dx, weightGrad.getDweight()};
}

LogicalResult L2NormOp::verify() {
  if (failed(expectType(*this, "y", getY(), getX().getType())))
    return failure();
  return expectEps(*this, getEps());
}

/// Over rows of D: x rsqrt(sum(x^2) + eps) = D^-1/2 x rsqrt(mean(x^2) + eps / D).
SmallVector<Value> L2NormOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  auto width = static_cast<double>(shapeOf(getX()).back());
  Value g = ScaleOp::create(b, getLoc(), cotangents[0], b.getF64FloatAttr(1 / std::sqrt(width)));
  return {unweightedNormGrad(b, getLoc(), getX(), getEps().convertToDouble() / width, g).getDx()};
}

LogicalResult RopeOp::verify() {
  if (failed(expectRank(*this, "x", getX(), 3)) || failed(expectTokens(*this, "x", getX(), getDocs().getType())))
    return failure();
  return expectRotary(*this, getRotaryDims(), shapeOf(getX())[2], getTheta());
}

/// `x` with the second half of its rotary dimensions negated.
static Value negateSecondHalf(OpBuilder &b, Location loc, Value x, int64_t rotaryDims) {
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<Type> types;
  for (int64_t size : {rotaryDims / 2, rotaryDims / 2, shape.back() - rotaryDims})
    if (size > 0)
      types.push_back(RankedTensorType::get(withLast(shape, size), elementTypeOf(x)));
  auto dim = b.getI64IntegerAttr(shape.size() - 1);
  auto split = SplitOp::create(b, loc, types, x, dim);
  SmallVector<Value> parts(split.getParts());
  parts[1] = NegOp::create(b, loc, parts[1]);
  return JoinOp::create(b, loc, x.getType(), parts, dim);
}

/// A rotation by the opposite angle: the same rotation between two changes of sign of the second coordinate.
SmallVector<Value> RopeOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value flipped = negateSecondHalf(b, getLoc(), cotangents[0], getRotaryDims());
  Value rotated =
      RopeOp::create(b, getLoc(), getY().getType(), getDocs(), flipped, getThetaAttr(), getRotaryDimsAttr());
  return {Value(), negateSecondHalf(b, getLoc(), rotated, getRotaryDims())};
}

LogicalResult CausalConvOp::verify() {
  if (failed(expectRank(*this, "x", getX(), 2)) || failed(expectRank(*this, "weight", getWeight(), 3)))
    return failure();
  int64_t channels = shapeOf(getX())[1], taps = shapeOf(getWeight())[2];
  if (failed(expectWeight(*this, "weight", getWeight(), {channels, 1, taps}, elementTypeOf(getX()))))
    return failure();
  return expectTokens(*this, "x", getX(), getDocs().getType());
}

LogicalResult CrossEntropyOp::verify() {
  if (failed(expectRank(*this, "logits", getLogits(), 2)) ||
      failed(expectType(*this, "loss", getLoss(), {}, accumulatorType(elementTypeOf(getLogits())))))
    return failure();
  return expectType(*this, "labels", getLabels(), shapeOf(getLogits())[0], elementTypeOf(getLabels()));
}

} // namespace qt
