// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Passes.h"
#include "compiler/Scope.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYFORMED
#include "compiler/Passes.h.inc"

namespace {

bool isPointwise(Operation *op) {
  return isa<qt::ExpOp, qt::NegOp, qt::SigmoidOp, qt::SiluOp, qt::SoftplusOp, qt::AddOp, qt::SubOp, qt::MulOp,
             qt::ScaleOp, qt::CastOp>(op);
}

/// Whether a kernel or a matrix product computes the op, or nothing has to: views, reads and notes. A sum of the model
/// belongs in a compound, although the sums that autodiff makes have a kernel.
bool isFormed(Operation *op) {
  return !isPointwise(op) && isa<qt::KernelBackedOpInterface, qt::LinearOp, qt::ReshapeOp, qt::SplitOp, qt::JoinOp,
                                 qt::BarrierOp, qt::ReadOp, qt::WatchOp>(op);
}

struct VerifyFormed : impl::VerifyFormedBase<VerifyFormed> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface func) {
      func.getFunctionBody().walk([&](Operation *op) {
        if (!isa_and_nonnull<qt::QtDialect>(op->getDialect()) || isFormed(op))
          return;
        op->emitOpError() << "is a " << (isPointwise(op) ? "pointwise op left over" : "tensor op left over")
                          << " in scope '" << scopeOf(op) << "': expected compounds, linear ops and views";
        signalPassFailure();
      });
    });
  }
};

} // namespace
} // namespace qcc
