// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// plain_rms_norm(x) * silu(z) -> qt.gated_rms_norm (docs/model.md, Gated DeltaNet 7).
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMGATEDNORM
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.gated_rms_norm";

LogicalResult form(qt::PlainRmsNormOp norm, Why &why) {
  Value normed = norm.getY();
  SmallVector<Operation *> readers = readersOf(normed);
  while (readers.size() == 1 && isa<qt::CastOp>(readers.front())) {
    normed = readers.front()->getResult(0);
    readers = readersOf(normed);
  }
  auto mul = readers.size() == 1 ? dyn_cast<qt::MulOp>(readers.front()) : qt::MulOp();
  if (!mul) {
    why = "expected one product with the norm; got " + (readers.size() == 1
                                                            ? readers.front()->getName().getStringRef().str()
                                                            : std::to_string(readers.size()) + " readers");
    return failure();
  }
  Value factor = otherFactor(mul, normed);
  auto silu = factor.getDefiningOp<qt::SiluOp>();
  if (!silu) {
    why = "expected the norm times a silu; got times " + describe(factor);
    return failure();
  }
  Value x = norm.getX(), z = withoutCasts(silu.getX());
  if (x.getType() != z.getType()) {
    why = "expected a gate of the normed tensor's type; got " + describe(z);
    return failure();
  }
  Value y = roundedTo(qt::tensorType(x).getElementType(), mul.getResult());
  if (!y) {
    why = "expected the product in the normed tensor's element type";
    return failure();
  }
  FailureOr<OpBuilder> builder = placeFor({x, z, norm.getWeight()}, {y}, why);
  if (failed(builder))
    return failure();
  auto compound = qt::GatedRmsNormOp::create(*builder, norm.getLoc(), y.getType(), /*rstd=*/Type(), x, z,
                                             norm.getWeight(), norm.getEpsAttr());
  setScope(compound, scopeOf(norm));
  y.replaceAllUsesWith(compound.getY());
  reportFormed(compound, {y});
  return success();
}

struct FormGatedNorm : impl::FormGatedNormBase<FormGatedNorm> {
  void runOnOperation() override {
    formAtEach<qt::PlainRmsNormOp>(getOperation(), kName, [](qt::PlainRmsNormOp) { return true; }, form);
  }
};

} // namespace
} // namespace qcc
