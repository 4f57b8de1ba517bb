// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rope(rms_norm) of an attention's queries and of its keys -> qt.qk_norm_rope.
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMQKNORMROPE
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.qk_norm_rope";

LogicalResult form(qt::AttentionOp attention, Why &why) {
  qt::RopeOp ropes[2];
  qt::RmsNormOp norms[2];
  for (unsigned i : {0, 1}) {
    std::string what = i == 0 ? "queries" : "keys";
    Value rows = i == 0 ? attention.getQ() : attention.getK();
    ropes[i] = rows.getDefiningOp<qt::RopeOp>();
    if (!ropes[i]) {
      why = "expected the " + what + " to come from qt.rope; got " + describe(rows);
      return failure();
    }
    norms[i] = ropes[i].getX().getDefiningOp<qt::RmsNormOp>();
    if (!norms[i]) {
      why = "expected qt.rope of normed " + what + "; got of " + describe(ropes[i].getX());
      return failure();
    }
  }
  if (ropes[0].getDocs() != ropes[1].getDocs() || ropes[0].getTheta() != ropes[1].getTheta() ||
      ropes[0].getRotaryDims() != ropes[1].getRotaryDims()) {
    why = "expected one rotary embedding of queries and keys; got different ones";
    return failure();
  }
  if (norms[0].getEps() != norms[1].getEps()) {
    why = "expected one eps of the norms of queries and keys; got different ones";
    return failure();
  }
  Value q = ropes[0].getY(), k = ropes[1].getY();
  FailureOr<OpBuilder> builder =
      placeFor({norms[0].getX(), norms[1].getX(), norms[0].getWeight(), norms[1].getWeight()}, {q, k}, why);
  if (failed(builder))
    return failure();
  auto compound = qt::QkNormRopeOp::create(*builder, ropes[0].getLoc(), q.getType(), k.getType(), /*q_rstd=*/Type(),
                                           /*k_rstd=*/Type(), ropes[0].getDocs(), norms[0].getX(), norms[1].getX(),
                                           norms[0].getWeight(), norms[1].getWeight(), norms[0].getEpsAttr(),
                                           ropes[0].getThetaAttr(), ropes[0].getRotaryDimsAttr());
  setScope(compound, mergeScopes({ropes[0], ropes[1], norms[0], norms[1]}));
  q.replaceAllUsesWith(compound.getQ());
  k.replaceAllUsesWith(compound.getK());
  reportFormed(compound, {q, k});
  return success();
}

struct FormQkNormRope : impl::FormQkNormRopeBase<FormQkNormRope> {
  void runOnOperation() override {
    SmallVector<qt::AttentionOp> attentions;
    getOperation().walk([&](qt::AttentionOp attention) { attentions.push_back(attention); });
    llvm::SmallPtrSet<Operation *, 4> explained;
    for (qt::AttentionOp attention : attentions) {
      Why why;
      // Without any rotary embedding nothing was promised.
      Operation *ropes[] = {producerOf<qt::RopeOp>(attention.getQ()), producerOf<qt::RopeOp>(attention.getK())};
      if (!ropes[0] && !ropes[1])
        continue;
      if (succeeded(form(attention, why)))
        continue;
      reportMissed(attention, kName, why);
      explained.insert(std::begin(ropes), std::end(ropes));
    }
    eraseDeadOps(getOperation());
    getOperation().walk([&](qt::RopeOp rope) {
      if (!explained.contains(rope))
        reportMissed(rope, kName, "expected qt.attention to read it as queries or keys");
    });
  }
};

} // namespace
} // namespace qcc
