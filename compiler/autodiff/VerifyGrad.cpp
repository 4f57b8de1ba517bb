// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Passes.h"
#include "compiler/autodiff/TrainedSymbols.h"
#include "dialects/qt/Entries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_VERIFYGRAD
#include "compiler/Passes.h.inc"

namespace {

/// Where a value comes from, for messages: "@w" (read), "result 0 of qt.adamw", "argument 3 of the function".
std::string describeSource(Value value) {
  if (auto read = value.getDefiningOp<qt::ReadOp>())
    return ("@" + read.getSymbol()).str();
  if (Operation *op = value.getDefiningOp())
    return ("result " + Twine(cast<OpResult>(value).getResultNumber()) + " of " + op->getName().getStringRef()).str();
  return ("argument " + Twine(cast<BlockArgument>(value).getArgNumber()) + " of the function").str();
}

/// The exit contract of `grad`: every trained parameter has exactly one gradient, and what is updated is what the kind
/// of entry function says.
class GradVerifier {
public:
  explicit GradVerifier(ModuleOp module) : module_(module), symbols_(module), packs_(packsOfMembers(module)) {
    trained_ = trainedSymbols(module, symbols_);
  }

  LogicalResult run() {
    for (auto state : module_.getOps<qt::StateOp>())
      if (state.getKind() == qt::StateKind::Gradient)
        if (auto [known, isNew] = gradients_.try_emplace(state.getParameterAttr().getAttr(), state); !isNew)
          return state.emitOpError("expected one gradient of @") << *state.getParameter() << ", got a second";
    llvm::SmallDenseSet<int> kinds;
    for (auto function : module_.getOps<func::FuncOp>()) {
      std::optional<qt::EntryKind> kind = qt::entryKind(function);
      if (!kind)
        continue;
      kinds.insert(static_cast<int>(*kind));
      if (failed(verifyStateEffects(function, packs_)) || failed(verifyEntry(function, *kind)))
        return failure();
    }
    for (qt::EntryKind kind :
         {qt::EntryKind::Step, qt::EntryKind::Accumulate, qt::EntryKind::Apply, qt::EntryKind::Eval})
      if (!kinds.contains(static_cast<int>(kind)))
        return module_.emitError("expected an entry function of kind ") << qt::stringifyEntryKind(kind) << ", got none";
    return success();
  }

private:
  LogicalResult verifyEntry(func::FuncOp function, qt::EntryKind kind) {
    DenseMap<StringAttr, qt::UpdateOp> updates;
    for (auto update : function.getOps<qt::UpdateOp>())
      updates[update.getSymbolAttr().getAttr()] = update;
    bool optimizes = kind == qt::EntryKind::Step || kind == qt::EntryKind::Apply;
    bool accumulates = kind == qt::EntryKind::Accumulate || kind == qt::EntryKind::Apply;
    if (kind == qt::EntryKind::Model)
      return function.emitOpError("expected the model to have become entry functions");

    llvm::DenseSet<StringAttr> allowed;
    for (Operation *symbol : trained_) {
      StringAttr name = SymbolTable::getSymbolName(symbol);
      if (optimizes) {
        allowed.insert(name);
        qt::UpdateOp update = updates.lookup(name);
        if (!update)
          return function.emitOpError("expected one gradient of every trained parameter, but @")
                 << name.getValue() << " is not updated";
        auto step = update.getValue().getDefiningOp<qt::AdamWOp>();
        if (!step || step.getNewWeight() != update.getValue())
          return update.emitOpError("expected the new weight of a qt.adamw for @")
                 << name.getValue() << ", got " << describeSource(update.getValue());
        auto weight = step.getWeight().getDefiningOp<qt::ReadOp>();
        if (!weight || weight.getSymbolAttr().getAttr() != name)
          return step.emitOpError("expected to update the weight that was read from @")
                 << name.getValue() << ", got " << describeSource(step.getWeight());
      }
      if (accumulates) {
        qt::StateOp state = gradients_.lookup(name);
        if (!state)
          return symbol->emitOpError("expected a state of kind gradient for every trained parameter, got none");
        allowed.insert(state.getSymNameAttr());
        if (!updates.contains(state.getSymNameAttr()))
          return function.emitOpError("expected one gradient of every trained parameter, but @")
                 << state.getSymName() << " is not updated";
      }
    }
    for (auto update : function.getOps<qt::UpdateOp>()) {
      auto state = symbols_.lookup<qt::StateOp>(update.getSymbol());
      bool optimizerState = optimizes && state && state.getKind() != qt::StateKind::Gradient;
      if (!optimizerState && !allowed.contains(update.getSymbolAttr().getAttr()))
        return update.emitOpError("expected no update of @")
               << update.getSymbol() << " in an entry function of kind " << qt::stringifyEntryKind(kind);
    }
    return success();
  }

  ModuleOp module_;
  SymbolTable symbols_;
  DenseMap<StringAttr, qt::ParameterPackOp> packs_;
  DenseMap<StringAttr, qt::StateOp> gradients_;
  SmallVector<Operation *> trained_;
};

struct VerifyGrad : impl::VerifyGradBase<VerifyGrad> {
  void runOnOperation() override {
    if (failed(GradVerifier(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace qcc
