// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/form/Compound.h"

using namespace mlir;

namespace qcc {

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
  if (qt::tensorType(value).getElementType() == element)
    return value;
  SmallVector<Operation *> readers = readersOf(value);
  if (readers.size() != 1)
    return {};
  auto cast = dyn_cast<qt::CastOp>(readers.front());
  return cast && qt::tensorType(cast.getResult()).getElementType() == element ? cast.getResult() : Value();
}

Value otherFactor(qt::MulOp mul, Value factor) {
  Value lhs = withoutCasts(mul.getLhs()), rhs = withoutCasts(mul.getRhs());
  factor = withoutCasts(factor);
  return lhs == factor ? rhs : rhs == factor ? lhs : Value();
}

} // namespace qcc
