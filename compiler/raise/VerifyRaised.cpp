// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Passes.h"
#include "compiler/Scope.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYRAISED
#include "compiler/Passes.h.inc"

namespace {

struct VerifyRaised : impl::VerifyRaisedBase<VerifyRaised> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (!isa<qt::ScanOp, qt::SoftmaxOp, qt::CausalMaskOp>(op))
        return;
      op->emitOpError() << "is left over" << inScope(op) << ": expected every recurrence and attention to be raised";
      signalPassFailure();
    });
  }
};

} // namespace
} // namespace qcc
