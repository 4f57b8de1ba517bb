// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Passes.h"
#include "dialects/qt/Entries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYMODEL
#include "compiler/Passes.h.inc"

namespace {

struct VerifyModel : impl::VerifyModelBase<VerifyModel> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

  LogicalResult verify() {
    ModuleOp module = getOperation();
    func::FuncOp model;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (qt::entryKind(function) != qt::EntryKind::Model)
        return function.emitOpError("expected only the entry function <model> in the phase model");
      if (model)
        return function.emitOpError("expected one model, got a second beside @") << model.getSymName();
      model = function;
    }
    if (!model)
      return module.emitError("expected a function with the attribute #qt.entry<model>, got none");
    return success(succeeded(verifyArguments(model)) && succeeded(verifyExtents(model)));
  }

  /// Ids, labels and one segments value come in.
  LogicalResult verifyArguments(func::FuncOp model) {
    for (qt::ArgumentRole role : {qt::ArgumentRole::Ids, qt::ArgumentRole::Labels, qt::ArgumentRole::Segments})
      if (!qt::findArgument(model, role))
        return model.emitOpError("expected an argument of the role ")
               << qt::stringifyArgumentRole(role) << ", got none";
    auto segments = llvm::count_if(model.getArgumentTypes(), llvm::IsaPred<qt::SegmentsType>);
    if (segments != 1 || !qt::isGeneric(model))
      return model.emitOpError("expected one !qt.segments without a bucket, got ") << segments << " segments arguments";
    return success();
  }

  /// The only dynamic extent is that of the tokens: the first of a value's, except in scores of tokens against tokens.
  LogicalResult verifyExtents(func::FuncOp model) {
    WalkResult result = model.walk([](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getNumDynamicDims() > 2)
          return op->emitOpError("expected at most two extents that count tokens, got ") << type,
                 WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
} // namespace qcc
