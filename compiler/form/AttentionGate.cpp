// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attention * sigmoid(gate) -> qt.attention with its gate.
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMATTENTIONGATE
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.attention with a gate";

/// The product that an attention's result goes into, through casts and reshapes; null if something else reads it: then
/// no gate is promised.
qt::MulOp productOf(Value y) {
  for (Operation *reader : readersOf(y)) {
    if (auto mul = dyn_cast<qt::MulOp>(reader))
      return mul;
    if (isa<qt::CastOp, qt::ReshapeOp>(reader))
      if (qt::MulOp mul = productOf(reader->getResult(0)))
        return mul;
  }
  return {};
}

Value withoutViews(Value value) {
  while (auto reshape = withoutCasts(value).getDefiningOp<qt::ReshapeOp>())
    value = reshape.getX();
  return withoutCasts(value);
}

LogicalResult form(qt::AttentionOp attention, qt::MulOp mul, Why &why) {
  // Both factors have the product's shape, that of the attention or flat.
  Value lhs = mul.getLhs(), rhs = mul.getRhs();
  Value factor = withoutViews(lhs) == attention.getY() ? rhs : lhs;
  auto sigmoid = producerOf<qt::SigmoidOp>(factor);
  if (!sigmoid) {
    why = "expected the attention times a sigmoid; got times " + describe(withoutCasts(factor));
    return failure();
  }
  Value gate = withoutCasts(sigmoid.getX());
  RankedTensorType type = qt::tensorType(attention.getY());
  if (qt::tensorType(gate).getElementType() != type.getElementType() ||
      qt::tensorType(factor).getShape() != qt::tensorType(mul.getResult()).getShape()) {
    why = "expected a gate of the attention's type; got " + describe(gate);
    return failure();
  }
  if (readersOf(attention.getY()).size() != 1) {
    why = "expected the gate alone to read the attention; got other readers";
    return failure();
  }
  Value y = roundedTo(type.getElementType(), mul.getResult());
  if (!y) {
    why = "expected the product in the attention's element type";
    return failure();
  }
  FailureOr<OpBuilder> builder = placeFor({attention.getQ(), attention.getK(), attention.getV(), gate}, {y}, why);
  if (failed(builder))
    return failure();
  auto reshaped = [&](Value value, RankedTensorType to) -> Value {
    if (value.getType() == to)
      return value;
    auto reshape = qt::ReshapeOp::create(*builder, mul.getLoc(), to, value);
    setScope(reshape, scopeOf(attention));
    return reshape;
  };
  auto gated = qt::AttentionOp::create(*builder, attention.getLoc(), type, /*lse=*/Type(), /*o=*/Type(),
                                       attention.getDocs(), attention.getQ(), attention.getK(), attention.getV(),
                                       reshaped(gate, type), attention.getScaleAttr());
  setScope(gated, scopeOf(attention));
  y.replaceAllUsesWith(reshaped(gated.getY(), qt::tensorType(y)));
  reportFormed(gated, {y});
  return success();
}

struct FormAttentionGate : impl::FormAttentionGateBase<FormAttentionGate> {
  void runOnOperation() override {
    formAtEach<qt::AttentionOp>(
        getOperation(), kName,
        [](qt::AttentionOp attention) { return !attention.getGate() && productOf(attention.getY()); },
        [](qt::AttentionOp attention, Why &why) { return form(attention, productOf(attention.getY()), why); });
  }
};

} // namespace
} // namespace qcc
