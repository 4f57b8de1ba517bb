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

/// A sum of the model belongs in a compound, although the sums that autodiff makes have a kernel.
bool isFormed(Operation *op) { return !op->hasTrait<qt::Pointwise>() && (isComputed(op) || needsNoKernel(op)); }

struct VerifyFormed : impl::VerifyFormedBase<VerifyFormed> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface func) {
      func.getFunctionBody().walk([&](Operation *op) {
        if (!isa_and_nonnull<qt::QtDialect>(op->getDialect()) || isFormed(op))
          return;
        op->emitOpError() << "is a "
                          << (op->hasTrait<qt::Pointwise>() ? "pointwise op left over" : "tensor op left over")
                          << " in scope '" << scopeOf(op) << "': expected compounds, linear ops and views";
        signalPassFailure();
      });
    });
  }
};

} // namespace
} // namespace qcc
