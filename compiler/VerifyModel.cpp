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
    for (Operation &op : module.getOps()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function) {
        if (!op.hasTrait<qt::InModel>())
          return failNotInModel(&op);
        continue;
      }
      std::optional<qt::EntryKind> kind = qt::entryKind(function);
      if (kind != qt::EntryKind::Model)
        return function.emitOpError("expected only the entry function <model> in the phase model, got ")
               << (kind ? "one of kind " + qt::stringifyEntryKind(*kind) : "one that is no entry function");
      if (model)
        return function.emitOpError("expected one model, got a second beside @") << model.getSymName();
      model = function;
    }
    if (!model)
      return module.emitError("expected a function with the attribute #qt.entry<model>, got none");
    return success(succeeded(verifyArguments(model)) && succeeded(verifyOps(model)));
  }

  /// Ids, labels and one segments value come in.
  static LogicalResult verifyArguments(func::FuncOp model) {
    for (qt::ArgumentRole role : {qt::ArgumentRole::Ids, qt::ArgumentRole::Labels, qt::ArgumentRole::Segments})
      if (!qt::findArgument(model, role))
        return model.emitOpError("expected an argument of the role ")
               << qt::stringifyArgumentRole(role) << ", got none";
    auto segments = llvm::filter_to_vector(model.getArgumentTypes(), llvm::IsaPred<qt::SegmentsType>);
    if (segments.size() != 1)
      return model.emitOpError("expected one argument of type !qt.segments, got ") << segments.size();
    if (!qt::isGeneric(model))
      return model.emitOpError("expected a !qt.segments without a bucket, got ") << segments.front();
    for (auto [i, type] : llvm::enumerate(model.getArgumentTypes()))
      if (!countsTokensFirst(type))
        return model.emitOpError("expected to count tokens by the first dimension alone, got argument ")
               << i << " of type " << type;
    return success();
  }

  /// The ops are of the model's language, and every dynamic extent is that of the tokens: of the first dimension, and
  /// of others only in scores of tokens against tokens, which begin as products.
  static LogicalResult verifyOps(func::FuncOp model) {
    WalkResult result = model.getBody().walk([](Operation *op) {
      if (!isa<func::ReturnOp>(op) && !op->hasTrait<qt::InModel>())
        return failNotInModel(op), WalkResult::interrupt();
      bool ofScores =
          isa<qt::ContractOp, qt::TransposeOp>(op) || !llvm::all_of(op->getOperandTypes(), countsTokensFirst);
      for (Type type : op->getResultTypes()) {
        if (!ofScores && !countsTokensFirst(type))
          return op->emitOpError("expected to count tokens by the first dimension alone, got ") << type,
                 WalkResult::interrupt();
        if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getNumDynamicDims() > 2)
          return op->emitOpError("expected at most two extents that count tokens, got ") << type,
                 WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  static bool countsTokensFirst(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.getRank() == 0 || llvm::none_of(tensor.getShape().drop_front(), ShapedType::isDynamic);
  }

  static InFlightDiagnostic failNotInModel(Operation *op) {
    return op->emitOpError(
        "is not of the language of models: expected parameters, tensor ops and model ops in the phase "
        "model");
  }
};

} // namespace
} // namespace qcc
