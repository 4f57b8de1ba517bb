// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Passes.h"
#include "compiler/autodiff/TrainedSymbols.h"
#include "dialects/qt/Entries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYFUSED
#include "compiler/Passes.h.inc"

namespace {

/// Whether a kernel or a matrix product computes the op, or the plan does without any: views, zeros, reads, updates and
/// notes.
bool hasInstruction(Operation *op) {
  return isa<qt::KernelBackedOpInterface, qt::LinearOp, qt::LinearInputGradOp, qt::LinearWeightGradOp, qt::ReshapeOp,
             qt::SplitOp, qt::JoinOp, qt::ZerosOp, qt::BarrierOp, qt::WatchOp, qt::ReadOp, qt::UpdateOp,
             func::ReturnOp>(op);
}

struct VerifyFused : impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    auto packs = packsOfMembers(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!qt::entryKind(function) || qt::isGeneric(function))
        continue;
      if (failed(verifyStateEffects(function, packs)))
        return signalPassFailure();
      for (Operation &op : function.getBody().front()) {
        if (hasInstruction(&op))
          continue;
        op.emitOpError("expected compounds, linear ops and views alone, got an op that no kernel computes");
        signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace qcc
