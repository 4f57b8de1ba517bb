// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// add and the rms_norm of its sum -> qt.add_rms_norm. The sum goes on (it is the residual stream), so the compound
// stands where the sum was.
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMADDNORM
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.add_rms_norm";

/// Forms the compound of a norm whose operand is a sum, or says why not.
LogicalResult form(qt::RmsNormOp norm, Why &why) {
  if (producerOf<qt::AddRmsNormOp>(norm.getX())) {
    why = "expected one norm of a sum; got a second one";
    return failure();
  }
  auto add = norm.getX().getDefiningOp<qt::AddOp>();
  if (!add) {
    why = "expected the norm of the sum itself; got of " + describe(norm.getX());
    return failure();
  }
  if (add.getLhs().getType() != add.getRhs().getType()) {
    why = "expected a sum of two tensors of one shape; got one that repeats its right side";
    return failure();
  }
  FailureOr<OpBuilder> builder =
      placeFor({add.getLhs(), add.getRhs(), norm.getWeight()}, {add.getResult(), norm.getY()}, why);
  if (failed(builder))
    return failure();
  auto compound =
      qt::AddRmsNormOp::create(*builder, norm.getLoc(), add.getResult().getType(), norm.getY().getType(),
                               /*rstd=*/Type(), add.getLhs(), add.getRhs(), norm.getWeight(), norm.getEpsAttr());
  // The norm gives it its meaning: the sum belongs to the layer before.
  setScope(compound, scopeOf(norm));
  add.getResult().replaceAllUsesWith(compound.getSum());
  norm.getY().replaceAllUsesWith(compound.getY());
  reportFormed(compound, {add.getResult(), norm.getY()});
  return success();
}

struct FormAddNorm : impl::FormAddNormBase<FormAddNorm> {
  void runOnOperation() override {
    formAtEach<qt::RmsNormOp>(
        getOperation(), kName, [](qt::RmsNormOp norm) { return bool(producerOf<qt::AddOp>(norm.getX())); }, form);
  }
};

} // namespace
} // namespace qcc
