// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the gradient ops: a cotangent has the type of its value, a weight gradient the weight's shape.
#include "dialects/qt/CompoundOperands.h"
#include "dialects/qt/TypeChecks.h"

using namespace mlir;

namespace qt {

/// Whether a weight gradient has the shape of its weight, in the type of the weight or of an accumulator.
static LogicalResult expectWeightGrad(Operation *op, StringRef name, Value gradient, Value weight) {
  return expectWeight(op, name, gradient, shapeOf(weight), elementTypeOf(weight));
}

LogicalResult EmbeddingGradOp::verify() {
  if (failed(expectType(*this, "order", getOrder(), getIds().getType())) ||
      failed(expectRank(*this, "dout", getDout(), 2)) || failed(expectRank(*this, "dweight", getDweight(), 2)) ||
      failed(expectTokens(*this, "ids", getIds(), getDocs().getType())))
    return failure();
  Type element = elementTypeOf(getDout());
  if (failed(expectType(*this, "dout", getDout(), {shapeOf(getIds())[0], shapeOf(getDout())[1]}, element)) ||
      failed(expectWeight(*this, "dweight", getDweight(), {shapeOf(getDweight())[0], shapeOf(getDout())[1]}, element)))
    return failure();
  return expectInto(*this, getInto(), {getDweight()});
}

static double linearFlops(Value rows, int64_t other) {
  return 2.0 * static_cast<double>(tensorType(rows).getNumElements()) * static_cast<double>(other);
}

LogicalResult LinearInputGradOp::verify() {
  if (failed(expectRank(*this, "dy", getDy(), 2)) || failed(expectRank(*this, "weight", getWeight(), 2)))
    return failure();
  Type element = elementTypeOf(getDy());
  if (failed(expectType(*this, "weight", getWeight(), {shapeOf(getDy())[1], shapeOf(getWeight())[1]}, element)))
    return failure();
  return expectType(*this, "dx", getDx(), {shapeOf(getDy())[0], shapeOf(getWeight())[1]}, element);
}

double LinearInputGradOp::getFlops() { return linearFlops(getDy(), shapeOf(getWeight())[1]); }

LogicalResult LinearWeightGradOp::verify() {
  if (failed(expectRank(*this, "dy", getDy(), 2)) || failed(expectRank(*this, "x", getX(), 2)))
    return failure();
  Type element = elementTypeOf(getDy());
  if (failed(expectType(*this, "x", getX(), {shapeOf(getDy())[0], shapeOf(getX())[1]}, element)) ||
      failed(expectWeight(*this, "dweight", getDweight(), {shapeOf(getDy())[1], shapeOf(getX())[1]}, element)))
    return failure();
  return expectType(*this, "into", getInto(), getDweight().getType());
}

double LinearWeightGradOp::getFlops() { return linearFlops(getDy(), shapeOf(getX())[1]); }

LogicalResult RmsNormGradOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  Type element = elementTypeOf(getX());
  if (failed(expectWeight(*this, "weight", getWeight(), shape.take_back(), element)) ||
      failed(expectType(*this, "rstd", getRstd(), statisticsType(getX()))) ||
      failed(expectType(*this, "dy", getDy(), getX().getType())) ||
      failed(expectType(*this, "dx", getDx(), getX().getType())) ||
      failed(expectWeightGrad(*this, "dweight", getDweight(), getWeight())) ||
      failed(expectInto(*this, getInto(), {getDweight()})))
    return failure();
  return expectEps(*this, getEps());
}

LogicalResult AddRmsNormGradOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getSum());
  Type element = elementTypeOf(getSum());
  if (failed(expectWeight(*this, "weight", getWeight(), shape.take_back(), element)) ||
      failed(expectType(*this, "rstd", getRstd(), statisticsType(getSum()))) ||
      failed(expectType(*this, "dsum", getDsum(), getSum().getType())) ||
      failed(expectType(*this, "dy", getDy(), getSum().getType())) ||
      failed(expectType(*this, "dx", getDx(), getSum().getType())) ||
      failed(expectWeightGrad(*this, "dweight", getDweight(), getWeight())) ||
      failed(expectInto(*this, getInto(), {getDweight()})))
    return failure();
  return expectEps(*this, getEps());
}

LogicalResult GatedRmsNormGradOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  Type element = elementTypeOf(getX());
  if (failed(expectType(*this, "z", getZ(), getX().getType())) ||
      failed(expectWeight(*this, "weight", getWeight(), shape.take_back(), element)) ||
      failed(expectType(*this, "rstd", getRstd(), statisticsType(getX()))) ||
      failed(expectType(*this, "dy", getDy(), getX().getType())) ||
      failed(expectType(*this, "dx", getDx(), getX().getType())) ||
      failed(expectType(*this, "dz", getDz(), getX().getType())) ||
      failed(expectWeightGrad(*this, "dweight", getDweight(), getWeight())) ||
      failed(expectInto(*this, getInto(), {getDweight()})))
    return failure();
  return expectEps(*this, getEps());
}

LogicalResult QkNormRopeGradOp::verify() {
  if (failed(verifyQkNormRopeOperands(*this)) || failed(expectType(*this, "dq", getDq(), getQIn().getType())) ||
      failed(expectType(*this, "dk", getDk(), getKIn().getType())) ||
      failed(expectType(*this, "dq_in", getDqIn(), getQIn().getType())) ||
      failed(expectType(*this, "dk_in", getDkIn(), getKIn().getType())) ||
      failed(expectWeightGrad(*this, "dq_weight", getDqWeight(), getQWeight())) ||
      failed(expectWeightGrad(*this, "dk_weight", getDkWeight(), getKWeight())))
    return failure();
  return expectInto(*this, getInto(), {getDqWeight(), getDkWeight()});
}

LogicalResult GatedDeltaInputsGradOp::verify() {
  if (failed(verifyGatedDeltaInputs(*this, {getDq(), getDk(), getDv(), getDg(), getDbeta()}, /*prefix=*/"d")) ||
      failed(expectType(*this, "dqkv", getDqkv(), getQkv().getType())) ||
      failed(expectType(*this, "db", getDb(), getB().getType())) ||
      failed(expectType(*this, "da", getDa(), getA().getType())) ||
      failed(expectWeightGrad(*this, "dconv_weight", getDconvWeight(), getConvWeight())) ||
      failed(expectType(*this, "da_log", getDaLog(), shapeOf(getALog()), accumulatorType(elementTypeOf(getQkv())))) ||
      failed(expectWeightGrad(*this, "ddt_bias", getDdtBias(), getDtBias())))
    return failure();
  return expectInto(*this, getInto(), {getDconvWeight(), getDaLog(), getDdtBias()});
}

LogicalResult GatedDeltaRuleGradOp::verify() {
  if (failed(verifyGatedDeltaRuleOperands(*this)) || failed(expectType(*this, "dout", getDout(), getV().getType())) ||
      failed(expectType(*this, "dq", getDq(), getQ().getType())) ||
      failed(expectType(*this, "dk", getDk(), getK().getType())) ||
      failed(expectType(*this, "dv", getDv(), getV().getType())) ||
      failed(expectType(*this, "dg", getDg(), getG().getType())))
    return failure();
  return expectType(*this, "dbeta", getDbeta(), getBeta().getType());
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttentionOperands(*this)) || failed(expectType(*this, "dy", getDy(), getQ().getType())) ||
      failed(expectType(*this, "dq", getDq(), getQ().getType())) ||
      failed(expectType(*this, "dk", getDk(), getK().getType())) ||
      failed(expectType(*this, "dv", getDv(), getV().getType())))
    return failure();
  if (static_cast<bool>(getGate()) != static_cast<bool>(getDgate()))
    return emitOpError("expected dgate where there is a gate, and only there, got ")
           << (getDgate() ? "one without a gate" : "none");
  return expectType(*this, "dgate", getDgate(), getQ().getType());
}

LogicalResult SwigluGradOp::verify() {
  Type type = getGate().getType();
  if (failed(expectType(*this, "up", getUp(), type)) || failed(expectType(*this, "dy", getDy(), type)) ||
      failed(expectType(*this, "dgate", getDgate(), type)))
    return failure();
  return expectType(*this, "dup", getDup(), type);
}

LogicalResult ScatterRowsOp::verify() {
  if (failed(expectRank(*this, "dx", getDx(), tensorType(getDout()).getRank())) ||
      failed(expectTrainedRows(*this, "dout", getDout(), getDocs().getType())) ||
      failed(expectTokens(*this, "dx", getDx(), getDocs().getType())))
    return failure();
  SmallVector<int64_t> shape(shapeOf(getDout()));
  shape[0] = shapeOf(getDx())[0];
  return expectType(*this, "dx", getDx(), shape, elementTypeOf(getDout()));
}

LogicalResult LinearCrossEntropyGradOp::verify() {
  if (failed(expectRank(*this, "x", getX(), 2)) || failed(expectRank(*this, "weight", getWeight(), 2)))
    return failure();
  Type element = elementTypeOf(getX()), wide = accumulatorType(element);
  if (failed(expectType(*this, "weight", getWeight(), {shapeOf(getWeight())[0], shapeOf(getX())[1]}, element)) ||
      failed(expectType(*this, "labels", getLabels(), shapeOf(getX())[0], elementTypeOf(getLabels()))) ||
      failed(expectType(*this, "dloss", getDloss(), {}, wide)) ||
      failed(expectType(*this, "loss", getLoss(), {}, wide)) ||
      failed(expectType(*this, "dx", getDx(), getX().getType())))
    return failure();
  if (getDweight() && failed(expectWeightGrad(*this, "dweight", getDweight(), getWeight())))
    return failure();
  return expectInto(*this, getInto(), {getDweight()});
}

} // namespace qt
