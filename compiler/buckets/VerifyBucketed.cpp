// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Passes.h"
#include "compiler/autodiff/TrainedSymbols.h"
#include "dialects/qt/Entries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYBUCKETED
#include "compiler/Passes.h.inc"

namespace {

struct VerifyBucketed : impl::VerifyBucketedBase<VerifyBucketed> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

  LogicalResult verify() {
    ModuleOp module = getOperation();
    auto packs = packsOfMembers(module);
    llvm::MapVector<Type, llvm::SmallDenseSet<int>> kindsOfBucket;
    for (auto function : module.getOps<func::FuncOp>()) {
      std::optional<qt::EntryKind> kind = qt::entryKind(function);
      if (!kind || qt::isGeneric(function))
        continue;
      if (failed(verifyStatic(function)) || failed(verifyStateEffects(function, packs)))
        return failure();
      if (BlockArgument docs = qt::findArgument(function, qt::ArgumentRole::Segments))
        kindsOfBucket[docs.getType()].insert(static_cast<int>(*kind));
      else if (*kind != qt::EntryKind::Apply)
        return function.emitOpError("expected an argument of the role segments, got none");
    }
    if (kindsOfBucket.empty())
      return module.emitError("expected entry functions of at least one bucket, got none");
    for (auto &[bucket, kinds] : kindsOfBucket)
      for (qt::EntryKind kind : {qt::EntryKind::Step, qt::EntryKind::Accumulate, qt::EntryKind::Eval})
        if (!kinds.contains(static_cast<int>(kind)))
          return module.emitError("expected an entry function of kind ")
                 << qt::stringifyEntryKind(kind) << " for the bucket " << bucket << ", got none";
    return success();
  }

  static LogicalResult verifyStatic(func::FuncOp function) {
    auto isStatic = [](Type type) {
      if (auto segments = dyn_cast<qt::SegmentsType>(type))
        return segments.isStatic();
      auto shaped = dyn_cast<ShapedType>(type);
      return !shaped || shaped.hasStaticShape();
    };
    for (BlockArgument argument : function.getArguments())
      if (!isStatic(argument.getType()))
        return function.emitOpError("expected static shapes, got argument ")
               << argument.getArgNumber() << " of type " << argument.getType();
    WalkResult result = function.walk([&](Operation *op) {
      for (OpResult value : op->getResults())
        if (!isStatic(value.getType())) {
          op->emitOpError("expected static shapes, got result ")
              << value.getResultNumber() << " of type " << value.getType();
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
} // namespace qcc
