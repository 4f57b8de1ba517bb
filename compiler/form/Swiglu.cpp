// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// silu(gate) * up -> qt.swiglu.
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMSWIGLU
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.swiglu";

/// The one product that reads a value, through casts; null and why where there is none.
qt::MulOp productOf(Value value, Why &why) {
  while (true) {
    SmallVector<Operation *> readers = readersOf(value);
    if (readers.size() != 1) {
      why = "expected one product with the silu; got " + std::to_string(readers.size()) + " readers";
      return {};
    }
    if (auto cast = dyn_cast<qt::CastOp>(readers.front())) {
      value = cast.getResult();
      continue;
    }
    auto mul = dyn_cast<qt::MulOp>(readers.front());
    if (!mul)
      why = "expected a product with the silu; got " + readers.front()->getName().getStringRef().str();
    return mul;
  }
}

LogicalResult form(qt::SiluOp silu, Why &why) {
  qt::MulOp mul = productOf(silu.getResult(), why);
  if (!mul)
    return failure();
  Value gate = withoutCasts(silu.getX()), up = otherFactor(mul, silu.getResult());
  if (up.getType() != gate.getType()) {
    why = "expected a factor of the gate's type; got " + describe(up);
    return failure();
  }
  Value y = roundedTo(qt::tensorType(gate).getElementType(), mul.getResult());
  if (!y) {
    why = "expected the product in the gate's element type";
    return failure();
  }
  FailureOr<OpBuilder> builder = placeFor({gate, up}, {y}, why);
  if (failed(builder))
    return failure();
  auto compound = qt::SwigluOp::create(*builder, mul.getLoc(), y.getType(), gate, up);
  setScope(compound, mergeScopes({silu, mul}));
  y.replaceAllUsesWith(compound.getY());
  reportFormed(compound, {y});
  return success();
}

/// The silu of a convolution or a gated norm belongs to another compound, which says itself why it was not formed.
bool isOfSwiglu(qt::SiluOp silu) {
  bool ofNorm = llvm::any_of(readersOf(silu.getResult()), [](Operation *reader) {
    auto mul = dyn_cast<qt::MulOp>(reader);
    return mul && (producerOf<qt::PlainRmsNormOp>(mul.getLhs()) || producerOf<qt::PlainRmsNormOp>(mul.getRhs()));
  });
  return !ofNorm && !producerOf<qt::CausalConvOp>(silu.getX());
}

struct FormSwiglu : impl::FormSwigluBase<FormSwiglu> {
  void runOnOperation() override { formAtEach<qt::SiluOp>(getOperation(), kName, isOfSwiglu, form); }
};

} // namespace
} // namespace qcc
