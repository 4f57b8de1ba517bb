// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Kernels.h"
#include "compiler/Passes.h"
#include "compiler/autodiff/TrainedSymbols.h"
#include "dialects/qt/Entries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYFUSED
#include "compiler/Passes.h.inc"

namespace {

struct VerifyFused : impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    auto packs = packsOfMembers(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!qt::entryKind(function) || qt::isGeneric(function))
        continue;
      if (failed(verifyStateEffects(function, packs)))
        return signalPassFailure();
      for (Operation &op : function.getBody().front()) {
        if (isComputed(&op) || needsNoKernel(&op))
          continue;
        op.emitOpError("expected compounds, clusters, linear ops and views alone, got an op that no kernel computes");
        signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace qcc
