// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Passes.h"
#include "compiler/autodiff/TrainedSymbols.h"
#include "compiler/remat/Backward.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYREMAT
#include "compiler/Passes.h.inc"

namespace {

struct VerifyRemat : impl::VerifyRematBase<VerifyRemat> {
  void runOnOperation() override {
    auto packs = packsOfMembers(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!qt::entryKind(function) || qt::isGeneric(function))
        continue;
      if (failed(verifyStateEffects(function, packs)) || failed(verifyBarriers(function)))
        return signalPassFailure();
    }
  }

  /// A barrier holds a value of the forward pass back until one of the backward pass is known.
  static LogicalResult verifyBarriers(func::FuncOp function) {
    llvm::DenseSet<Operation *> backward;
    if (hasBackward(function))
      backward = backwardOps(function);
    for (auto barrier : function.getOps<qt::BarrierOp>()) {
      if (!hasBackward(function))
        return barrier.emitOpError("expected barriers in functions with a backward pass only, got one in @")
               << function.getName();
      Operation *after = barrier.getAfter().getDefiningOp(), *source = barrier.getX().getDefiningOp();
      bool seed = barrier.getAfter() == qt::findArgument(function, qt::ArgumentRole::InverseTokens);
      if (!seed && !(after && backward.contains(after)))
        return barrier.emitOpError("expected to wait for a value of the backward pass, got one of the forward pass");
      if (source && backward.contains(source))
        return barrier.emitOpError("expected to hold back a value of the forward pass, got one of the backward pass");
    }
    return success();
  }
};

} // namespace
} // namespace qcc
