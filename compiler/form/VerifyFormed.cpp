// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Kernels.h"
#include "compiler/Passes.h"
#include "compiler/Scope.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYFORMED
#include "compiler/Passes.h.inc"

namespace {

/// Of what no compound took, clusters take pointwise ops and operands that are repeated for them.
bool isFormed(Operation *op) {
  if (isa<qt::BroadcastOp>(op))
    return llvm::all_of(op->getUsers(), isPointwise);
  return op->hasTrait<qt::Pointwise>() ? isPointwise(op) : isComputed(op) || needsNoKernel(op);
}

struct VerifyFormed : impl::VerifyFormedBase<VerifyFormed> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface func) {
      func.getFunctionBody().walk([&](Operation *op) {
        if (!isa_and_nonnull<qt::QtDialect>(op->getDialect()) || isFormed(op))
          return;
        op->emitOpError()
            << "is left over in scope '" << scopeOf(op)
            << "': expected compounds, linear ops, views and pointwise ops that a cluster can take (of f32 or bf16)";
        signalPassFailure();
      });
    });
  }
};

} // namespace
} // namespace qcc
