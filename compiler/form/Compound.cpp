// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/form/Compound.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace qcc {
namespace {

remark::RemarkOpts optionsFor(Operation *op, StringRef compound) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(compound).category("form").function(func ? func.getName() : "");
}

} // namespace

void reportFormed(Operation *compound) {
  remark::passed(compound->getLoc(), optionsFor(compound, compound->getName().getStringRef()))
      << remark::metric("Scope", scopeOf(compound));
}

void reportMissed(Operation *anchor, StringRef compound, StringRef why) {
  remark::missed(anchor->getLoc(), optionsFor(anchor, compound))
      << remark::metric("Scope", scopeOf(anchor)) << remark::reason("{0}", why.str());
}

FailureOr<OpBuilder> placeFor(ArrayRef<Value> operands, ArrayRef<Value> replaced, Why &why) {
  Value first = replaced.front();
  Block *block = first.getParentBlock();
  Operation *last = nullptr;
  SmallVector<Operation *> reads;
  for (Value operand : operands) {
    if (!operand)
      continue;
    Operation *op = operand.getDefiningOp();
    if (!op)
      continue;
    if (op->getBlock() != block) {
      why = "expected all of it in one block";
      return failure();
    }
    if (isa<qt::ReadOp>(op))
      reads.push_back(op);
    else if (!last || last->isBeforeInBlock(op))
      last = op;
  }
  Operation *place = last ? last->getNextNode() : &block->front();

  SmallVector<Operation *> watches;
  for (Value value : replaced)
    for (Operation *user : value.getUsers()) {
      if (user->getBlock() != block || (user->isBeforeInBlock(place) && !isa<qt::WatchOp>(user))) {
        why = "expected nothing to read " + describe(value) + " before all of its operands are known; got " +
              user->getName().getStringRef().str();
        return failure();
      }
      if (isa<qt::WatchOp>(user) && user->isBeforeInBlock(place))
        watches.push_back(user);
    }
  for (Operation *read : reads)
    if (!read->isBeforeInBlock(place) && read != place)
      read->moveBefore(place);
  if (llvm::is_contained(reads, place))
    place = place->getNextNode();
  OpBuilder builder(place);
  for (Operation *watch : watches)
    watch->moveBefore(place);
  if (!watches.empty())
    builder.setInsertionPoint(watches.front());
  return builder;
}

Value roundedTo(Type element, Value value) {
  if (tensorTypeOf(value).getElementType() == element)
    return value;
  SmallVector<Operation *> readers = readersOf(value);
  if (readers.size() != 1)
    return {};
  auto cast = dyn_cast<qt::CastOp>(readers.front());
  return cast && tensorTypeOf(cast.getResult()).getElementType() == element ? cast.getResult() : Value();
}

Value otherFactor(qt::MulOp mul, Value factor) {
  Value lhs = withoutCasts(mul.getLhs()), rhs = withoutCasts(mul.getRhs());
  factor = withoutCasts(factor);
  return lhs == factor ? rhs : rhs == factor ? lhs : Value();
}

} // namespace qcc
