// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/autodiff/TrainedSymbols.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace qcc {

DenseMap<StringAttr, qt::ParameterPackOp> packsOfMembers(ModuleOp module) {
  DenseMap<StringAttr, qt::ParameterPackOp> packs;
  for (auto pack : module.getOps<qt::ParameterPackOp>())
    for (auto member : pack.getMembers().getAsRange<FlatSymbolRefAttr>())
      packs.try_emplace(member.getAttr(), pack);
  return packs;
}

SmallVector<qt::ParameterOp> membersOf(Operation *parameterOrPack, const SymbolTable &symbols) {
  auto pack = dyn_cast<qt::ParameterPackOp>(parameterOrPack);
  if (!pack)
    return {cast<qt::ParameterOp>(parameterOrPack)};
  return llvm::map_to_vector(pack.getMembers().getAsRange<FlatSymbolRefAttr>(), [&](FlatSymbolRefAttr member) {
    return symbols.lookup<qt::ParameterOp>(member.getAttr());
  });
}

static bool isTrained(Operation *parameterOrPack, const SymbolTable &symbols) {
  return !membersOf(parameterOrPack, symbols).front().getFrozen();
}

SmallVector<Operation *> trainedSymbols(ModuleOp module, const SymbolTable &symbols) {
  DenseMap<StringAttr, qt::ParameterPackOp> packs = packsOfMembers(module);
  SmallVector<Operation *> trained;
  for (Operation &op : *module.getBody()) {
    auto parameter = dyn_cast<qt::ParameterOp>(op);
    if (!isa<qt::ParameterPackOp>(op) && (!parameter || packs.contains(parameter.getSymNameAttr())))
      continue;
    if (isTrained(&op, symbols))
      trained.push_back(&op);
  }
  return trained;
}

static bool isTrained(qt::ReadOp read, const SymbolTable &symbols) {
  Operation *symbol = symbols.lookup(read.getSymbol());
  return isa_and_nonnull<qt::ParameterOp, qt::ParameterPackOp>(symbol) && isTrained(symbol, symbols);
}

DenseSet<Value> trainedValues(Region &body, const SymbolTable &symbols) {
  DenseSet<Value> trained;
  for (Operation &op : body.getOps()) {
    auto read = dyn_cast<qt::ReadOp>(op);
    bool depends = read ? isTrained(read, symbols)
                        : llvm::any_of(op.getOperands(), [&](Value operand) { return trained.contains(operand); });
    if (!depends)
      continue;
    for (Value result : op.getResults())
      if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
        trained.insert(result);
  }
  return trained;
}

LogicalResult verifyStateEffects(Operation *function, const DenseMap<StringAttr, qt::ParameterPackOp> &packs) {
  DenseMap<StringAttr, Operation *> updates;
  WalkResult result = function->walk([&](Operation *op) {
    auto update = dyn_cast<qt::UpdateOp>(op);
    auto read = dyn_cast<qt::ReadOp>(op);
    if (!update && !read)
      return WalkResult::advance();
    StringAttr name = (update ? update.getSymbolAttr() : read.getSymbolAttr()).getAttr();
    qt::ParameterPackOp pack = packs.lookup(name);
    Operation *&known = updates[pack ? pack.getSymNameAttr() : name];
    if (known) {
      InFlightDiagnostic diagnostic = op->emitOpError();
      if (update)
        diagnostic << "expected at most one update of @" << name.getValue() << " in a function, got a second";
      else
        diagnostic << "expected all reads of @" << name.getValue() << " before its update";
      diagnostic.attachNote(known->getLoc()) << "updated here";
      return WalkResult::interrupt();
    }
    if (update)
      known = update;
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace qcc
