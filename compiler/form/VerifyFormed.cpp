// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Kernels.h"
#include "compiler/Passes.h"
#include "compiler/Scope.h"
#include "compiler/autodiff/TrainedSymbols.h"

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

/// An operand that the op repeats and that needs a gradient: a sum over what it is repeated along, which no kernel
/// computes. Null if it has none.
Value repeatedTrained(Operation *op, const DenseSet<Value> &trained) {
  if (!isa<qt::BroadcastOp>(op) && !isPointwise(op))
    return Value();
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  for (Value operand : op->getOperands())
    if (trained.contains(operand) && shapeOf(operand) != shapeOf(op->getResult(0)))
      return operand;
  return Value();
}

struct VerifyFormed : impl::VerifyFormedBase<VerifyFormed> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    getOperation().walk([&](FunctionOpInterface func) {
      DenseSet<Value> trained = trainedValues(func.getFunctionBody(), symbols);
      func.getFunctionBody().walk([&](Operation *op) {
        if (isa_and_nonnull<qt::QtDialect>(op->getDialect()) && failed(verify(op, trained)))
          signalPassFailure();
      });
    });
  }

private:
  static LogicalResult verify(Operation *op, const DenseSet<Value> &trained) {
    if (!isFormed(op))
      return op->emitOpError()
             << "is left over" << inScope(op)
             << ": expected compounds, linear ops, views and pointwise ops that a cluster can take (of f32 or bf16)";
    Value repeated = repeatedTrained(op, trained);
    if (!repeated)
      return success();
    InFlightDiagnostic error = op->emitOpError()
                               << "is left over" << inScope(op) << " and repeats an operand of " << repeated.getType()
                               << " that depends on a trained parameter: expected a compound that takes the op, or "
                                  "frozen parameters, for no kernel sums the operand's gradient";
    if (auto read = repeated.getDefiningOp<qt::ReadOp>())
      error.attachNote(read.getLoc()) << "@" << read.getSymbol() << " is read here";
    return error;
  }
};

} // namespace
} // namespace qcc
