// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Report.h"

#include "compiler/ExplainText.h"
#include "compiler/Scope.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace qcc {
namespace {

using OpSet = llvm::SmallPtrSet<Operation *, 32>;

remark::RemarkOpts optionsFor(Operation *op, StringRef compound, StringRef category) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(compound).category(category).function(func ? func.getName() : "");
}

/// Adds the ops of `block` that `value` needs, those in `known` and what only these need aside.
void addNeeded(Value value, Block *block, const OpSet &known, OpSet &needed) {
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == block && !known.contains(op) && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
}

/// Adds the readers of `value` that nothing reads any more, and theirs.
void addDeadReaders(Value value, OpSet &ops) {
  for (Operation *user : value.getUsers())
    if (isOpTriviallyDead(user) && ops.insert(user).second)
      for (Value result : user->getResults())
        addDeadReaders(result, ops);
}

ArrayAttr namesOfReplaced(Operation *compound, ArrayRef<Value> replaced) {
  Block *block = compound->getBlock();
  OpSet known, merged;
  known.insert(compound);
  for (Value operand : compound->getOperands())
    addNeeded(operand, block, {}, known);
  for (Value value : replaced) {
    addNeeded(value, block, known, merged);
    addDeadReaders(value, merged);
  }
  SmallVector<Operation *> sorted(merged.begin(), merged.end());
  llvm::sort(sorted, [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); });
  SmallVector<StringRef> names;
  for (Operation *op : sorted)
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (!isa<qt::ReadOp, qt::WatchOp, qt::YieldOp>(inner))
        names.push_back(inner->getName().getStringRef());
    });
  return Builder(compound->getContext()).getStrArrayAttr(names);
}

} // namespace

void reportFormed(Operation *compound, ArrayRef<Value> replaced, StringRef category, ArrayRef<StringRef> members) {
  MLIRContext *context = compound->getContext();
  if (!context->getRemarkEngine())
    return;
  // Text for people, the attribute for readers of remarks.
  auto array = [](StringRef key, ArrayAttr value) {
    auto texts = value.getAsValueRange<StringAttr>();
    remark::detail::Remark::Arg arg(key, llvm::join(texts, ", "));
    arg.attr = value;
    return arg;
  };
  remark::detail::InFlightRemark remark =
      remark::passed(compound->getLoc(), optionsFor(compound, compound->getName().getStringRef(), category));
  remark << remark::metric(kScopeArgument, scopeOf(compound))
         << array(kMadeOfArgument, namesOfReplaced(compound, replaced));
  if (!members.empty())
    remark << array(kPackArgument, Builder(context).getStrArrayAttr(members));
}

void reportAdded(Operation *op, StringRef why) {
  remark::passed(op->getLoc(), optionsFor(op, op->getName().getStringRef(), kFormRemarks))
      << remark::metric(kScopeArgument, scopeOf(op)) << remark::reason("{0}", why.str());
}

void reportMissed(Operation *anchor, StringRef compound, StringRef why) {
  NamedAttrList missed(anchor->getAttrOfType<DictionaryAttr>(qt::kMissedAttr));
  missed.set(withoutDialect(compound), StringAttr::get(anchor->getContext(), why));
  anchor->setAttr(qt::kMissedAttr, missed.getDictionary(anchor->getContext()));
  remark::missed(anchor->getLoc(), optionsFor(anchor, compound, kFormRemarks))
      << remark::metric(kScopeArgument, scopeOf(anchor)) << remark::reason("{0}", why.str());
}

} // namespace qcc
