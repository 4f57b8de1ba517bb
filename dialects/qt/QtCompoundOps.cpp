// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, residuals and adjoints of the compound ops. What the shapes' letters mean is said in
// runtime/kernels/catalog.def.
#include "dialects/qt/CompoundOperands.h"
#include "dialects/qt/TypeChecks.h"
#include "runtime/base/SegmentTable.h"

using namespace mlir;

namespace qt {

/// The cotangent, or zeros where nothing depends on the value.
static Value orZeros(OpBuilder &b, Location loc, Value cotangent, Value value) {
  return cotangent ? cotangent : Value(ZerosOp::create(b, loc, value.getType()));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

LogicalResult AddRmsNormOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  Type element = elementTypeOf(getX());
  if (failed(expectType(*this, "delta", getDelta(), getX().getType())) ||
      failed(expectWeight(*this, "weight", getWeight(), shape.take_back(), element)) ||
      failed(expectType(*this, "sum", getSum(), getX().getType())) ||
      failed(expectType(*this, "y", getY(), getX().getType())) ||
      failed(expectType(*this, "rstd", getRstd(), statisticsType(getX()))))
    return failure();
  return expectEps(*this, getEps());
}

SmallVector<Type> AddRmsNormOp::getResidualTypes() { return {statisticsType(getX())}; }

SmallVector<Value> AddRmsNormOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value dSum = cotangents[0], dy = cotangents[1];
  if (!dy)
    return {dSum, dSum, Value()};
  auto grad = AddRmsNormGradOp::create(b, getLoc(), getX().getType(), getWeight().getType(), getSum(), getWeight(),
                                       getRstd(), dSum, dy,
                                       /*into=*/ValueRange(), getEpsAttr());
  return {grad.getDx(), grad.getDx(), grad.getDweight()};
}

LogicalResult GatedRmsNormOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getX());
  Type element = elementTypeOf(getX());
  if (failed(expectType(*this, "z", getZ(), getX().getType())) ||
      failed(expectWeight(*this, "weight", getWeight(), shape.take_back(), element)) ||
      failed(expectType(*this, "y", getY(), getX().getType())) ||
      failed(expectType(*this, "rstd", getRstd(), statisticsType(getX()))))
    return failure();
  return expectEps(*this, getEps());
}

SmallVector<Type> GatedRmsNormOp::getResidualTypes() { return {statisticsType(getX())}; }

SmallVector<Value> GatedRmsNormOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  auto grad =
      GatedRmsNormGradOp::create(b, getLoc(), getX().getType(), getZ().getType(), getWeight().getType(), getX(), getZ(),
                                 getWeight(), getRstd(), cotangents[0], /*into=*/ValueRange(), getEpsAttr());
  return {grad.getDx(), grad.getDz(), grad.getDweight()};
}

LogicalResult QkNormRopeOp::verify() {
  if (failed(verifyQkNormRopeOperands(*this)) || failed(expectType(*this, "q", getQ(), getQIn().getType())))
    return failure();
  return expectType(*this, "k", getK(), getKIn().getType());
}

SmallVector<Type> QkNormRopeOp::getResidualTypes() { return {statisticsType(getQIn()), statisticsType(getKIn())}; }

SmallVector<Value> QkNormRopeOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value dq = orZeros(b, getLoc(), cotangents[0], getQ()), dk = orZeros(b, getLoc(), cotangents[1], getK());
  auto grad = QkNormRopeGradOp::create(b, getLoc(), getQIn().getType(), getKIn().getType(), getQWeight().getType(),
                                       getKWeight().getType(), getDocs(), getQIn(), getKIn(), getQWeight(),
                                       getKWeight(), getQRstd(), getKRstd(), dq, dk,
                                       /*into=*/ValueRange(), getEpsAttr(), getThetaAttr(), getRotaryDimsAttr());
  return {Value(), grad.getDqIn(), grad.getDkIn(), grad.getDqWeight(), grad.getDkWeight()};
}

//===----------------------------------------------------------------------===//
// Token mixers
//===----------------------------------------------------------------------===//

LogicalResult GatedDeltaInputsOp::verify() {
  return verifyGatedDeltaInputs(*this, {getQ(), getK(), getV(), getG(), getBeta()}, /*prefix=*/"");
}

SmallVector<Value> GatedDeltaInputsOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  SmallVector<Value> grads;
  for (auto [result, cotangent] : llvm::zip_equal(getResults(), cotangents))
    grads.push_back(orZeros(b, getLoc(), cotangent, result));
  auto wideALog = RankedTensorType::get(shapeOf(getALog()), accumulatorType(elementTypeOf(getALog())));
  auto grad = GatedDeltaInputsGradOp::create(
      b, getLoc(), getQkv().getType(), getB().getType(), getA().getType(), getConvWeight().getType(), wideALog,
      getDtBias().getType(), getDocs(), getQkv(), getB(), getA(), getConvWeight(), getALog(), getDtBias(), grads[0],
      grads[1], grads[2], grads[3], grads[4], /*into=*/ValueRange(), getEpsAttr());
  return {Value(),         grad.getDqkv(),   grad.getDb(), grad.getDa(), grad.getDconvWeight(),
          grad.getDaLog(), grad.getDdtBias()};
}

LogicalResult GatedDeltaRuleOp::verify() {
  if (failed(verifyGatedDeltaRuleOperands(*this)))
    return failure();
  return expectType(*this, "out", getOut(), getV().getType());
}

SmallVector<Type> GatedDeltaRuleOp::getResidualTypes() {
  return {RankedTensorType::get({shapeOf(getV())[0], shapeOf(getV())[1], qrt::kChunkTokens},
                                accumulatorType(elementTypeOf(getV())))};
}

SmallVector<Value> GatedDeltaRuleOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  auto grad = GatedDeltaRuleGradOp::create(b, getLoc(), getQ().getType(), getK().getType(), getV().getType(),
                                           getG().getType(), getBeta().getType(), getDocs(), getQ(), getK(), getV(),
                                           getG(), getBeta(), getInverse(), cotangents[0], getScaleAttr());
  return {Value(), grad.getDq(), grad.getDk(), grad.getDv(), grad.getDg(), grad.getDbeta()};
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyAttentionOperands(*this)) || failed(expectType(*this, "y", getY(), getQ().getType())))
    return failure();
  if (getO() && !getGate())
    return emitOpError("expected a gate where o, the output before it, is asked for");
  return success();
}

SmallVector<Type> AttentionOp::getResidualTypes() {
  SmallVector<Type> types{statisticsType(getQ())};
  if (getGate())
    types.push_back(getQ().getType());
  return types;
}

SmallVector<Value> AttentionOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value o = getGate() ? Value(getO()) : Value(getY());
  Type dGate = getGate() ? getGate().getType() : Type();
  auto grad =
      AttentionGradOp::create(b, getLoc(), getQ().getType(), getK().getType(), getV().getType(), dGate, getDocs(),
                              getQ(), getK(), getV(), getGate(), getLse(), o, cotangents[0], getScaleAttr());
  SmallVector<Value> result{Value(), grad.getDq(), grad.getDk(), grad.getDv()};
  if (getGate())
    result.push_back(grad.getDgate());
  return result;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult SwigluOp::verify() {
  if (failed(expectType(*this, "up", getUp(), getGate().getType())))
    return failure();
  return expectType(*this, "y", getY(), getGate().getType());
}

SmallVector<Value> SwigluOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  auto grad =
      SwigluGradOp::create(b, getLoc(), getGate().getType(), getUp().getType(), getGate(), getUp(), cotangents[0]);
  return {grad.getDgate(), grad.getDup()};
}

LogicalResult GatherRowsOp::verify() {
  if (failed(expectMinRank(*this, "x", getX(), 1)) ||
      failed(expectRank(*this, "out", getOut(), tensorType(getX()).getRank())) ||
      failed(expectTokens(*this, "x", getX(), getDocs().getType())) ||
      failed(expectTrainedRows(*this, "out", getOut(), getDocs().getType())))
    return failure();
  SmallVector<int64_t> shape(shapeOf(getX()));
  shape[0] = shapeOf(getOut())[0];
  return expectType(*this, "out", getOut(), shape, elementTypeOf(getX()));
}

SmallVector<Value> GatherRowsOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  if (!isa<FloatType>(elementTypeOf(getX())))
    return {Value(), Value()};
  return {Value(), ScatterRowsOp::create(b, getLoc(), getX().getType(), getDocs(), cotangents[0])};
}

LogicalResult LinearCrossEntropyOp::verify() {
  if (failed(expectRank(*this, "x", getX(), 2)) || failed(expectRank(*this, "weight", getWeight(), 2)))
    return failure();
  int64_t rows = shapeOf(getX())[0];
  Type element = elementTypeOf(getX()), wide = accumulatorType(element);
  if (failed(expectType(*this, "weight", getWeight(), {shapeOf(getWeight())[0], shapeOf(getX())[1]}, element)) ||
      failed(expectType(*this, "labels", getLabels(), rows, elementTypeOf(getLabels()))) ||
      failed(expectType(*this, "loss", getLoss(), {}, wide)))
    return failure();
  return expectType(*this, "row_loss", getRowLoss(), rows, wide);
}

SmallVector<Value> LinearCrossEntropyOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  assert(cotangents[0] && "the loss of a single row has no adjoint");
  auto grad =
      LinearCrossEntropyGradOp::create(b, getLoc(), getLoss().getType(), getX().getType(), getWeight().getType(),
                                       getX(), getWeight(), getLabels(), cotangents[0], /*into=*/ValueRange());
  return {grad.getDx(), grad.getDweight(), Value()};
}

} // namespace qt
