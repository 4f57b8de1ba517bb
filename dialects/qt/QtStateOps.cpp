// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of parameters, states and the optimizer.
#include "dialects/qt/TypeChecks.h"

using namespace mlir;

namespace qt {

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

LogicalResult ParameterOp::verify() {
  if (!cast<RankedTensorType>(getType()).hasStaticShape())
    return emitOpError("expected a type of known shape, got ") << getType();
  if (getNames().empty())
    return emitOpError("expected at least one name in checkpoints, got none");
  double a = getInit().getA().convertToDouble(), b = getInit().getB().convertToDouble();
  if (!std::isfinite(a) || !std::isfinite(b))
    return emitOpError("expected an initial value with finite numbers, got ") << getInit();
  if (getInit().getKind() == InitKind::Normal && b < 0)
    return emitOpError("expected a standard deviation of at least 0, got ") << printNumber(b);
  if (getInit().getKind() == InitKind::LogUniform && !(0 < a && a < b))
    return emitOpError("expected bounds 0 < a < b of a log-uniform value, got ")
           << printNumber(a) << " and " << printNumber(b);
  return success();
}

/// The type of the buffer that a symbol names, null if it names none.
static Type bufferType(Operation *symbol) {
  if (auto parameter = dyn_cast_or_null<ParameterOp>(symbol))
    return parameter.getType();
  if (auto pack = dyn_cast_or_null<ParameterPackOp>(symbol))
    return pack.getType();
  if (auto state = dyn_cast_or_null<StateOp>(symbol))
    return state.getType();
  return {};
}

LogicalResult ParameterPackOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() == 0 || !type.hasStaticShape())
    return emitOpError("expected a type of known shape with rows to stack, got ") << type;
  if (getMembers().empty())
    return emitOpError("expected at least one member");
  int64_t rows = 0;
  ParameterOp first;
  SmallPtrSet<Operation *, 8> seen;
  for (Attribute name : getMembers()) {
    auto member = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, cast<FlatSymbolRefAttr>(name));
    if (!member)
      return emitOpError("expected members that are parameters, got ") << name;
    if (!seen.insert(member).second)
      return emitOpError("expected each member once, got ") << name << " twice";
    auto memberType = cast<RankedTensorType>(member.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (memberType.getRank() > 0)
      shape[0] = memberType.getDimSize(0);
    if (memberType != RankedTensorType::get(shape, type.getElementType()))
      return emitOpError("expected members that stack to ") << type << ", got " << name << " of type " << memberType;
    if (!first)
      first = member;
    if (member.getFrozen() != first.getFrozen())
      return emitOpError("expected members that are all frozen or all trained, got ")
             << first.getSymNameAttr() << (first.getFrozen() ? " frozen" : " trained") << " and " << name
             << (member.getFrozen() ? " frozen" : " trained");
    rows += shape[0];
  }
  if (rows != type.getDimSize(0))
    return emitOpError("expected members of together ") << type.getDimSize(0) << " rows, got " << rows;
  return success();
}

LogicalResult StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getType());
  if (getKind() == StateKind::Counters) {
    if (getParameter())
      return emitOpError("expected counters that belong to no parameter, got ") << getParameterAttr();
    auto counters = RankedTensorType::get(2, IntegerType::get(getContext(), 64));
    if (type != counters)
      return emitOpError("expected counters of type ") << counters << ", got " << type;
    return success();
  }
  if (!getParameter())
    return emitOpError("expected the parameter or pack that the state belongs to, got none");
  Operation *owner = symbols.lookupNearestSymbolFrom(*this, getParameterAttr());
  if (!isa_and_nonnull<ParameterOp, ParameterPackOp>(owner))
    return emitOpError("expected a state of a parameter or pack, got ") << getParameterAttr();
  auto ownerType = cast<RankedTensorType>(bufferType(owner));
  if (type.getShape() != ownerType.getShape() || !isa<FloatType>(type.getElementType()))
    return emitOpError("expected a floating-point state of the shape of ")
           << getParameterAttr() << ", " << ownerType << ", got " << type;
  return success();
}

/// Checks that `symbol` names a buffer of type `type`.
static LogicalResult verifyBufferUse(Operation *op, FlatSymbolRefAttr symbol, Type type,
                                     SymbolTableCollection &symbols) {
  Type expected = bufferType(symbols.lookupNearestSymbolFrom(op, symbol));
  if (!expected)
    return op->emitOpError("expected a parameter, pack or state, got ") << symbol;
  if (type != expected)
    return op->emitOpError("expected the type of ") << symbol << ", " << expected << ", got " << type;
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyBufferUse(*this, getSymbolAttr(), getValue().getType(), symbols);
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyBufferUse(*this, getSymbolAttr(), getValue().getType(), symbols);
}

//===----------------------------------------------------------------------===//
// Optimizer
//===----------------------------------------------------------------------===//

static LogicalResult expectCounters(Operation *op, StringRef name, Value value) {
  return expectType(op, name, value, 2, IntegerType::get(op->getContext(), 64));
}

LogicalResult OptimizerStepOp::verify() {
  if (failed(expectCounters(*this, "counters", getCounters())))
    return failure();
  return expectCounters(*this, "updated", getUpdated());
}

LogicalResult AdamWOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getWeight());
  Type element = elementTypeOf(getWeight()), wide = accumulatorType(element);
  if (failed(expectWeight(*this, "gradient", getGradient(), shape, element)) ||
      failed(expectCounters(*this, "counters", getCounters())) ||
      failed(expectType(*this, "hyper", getHyper(), sizeof(qrt::Hyperparameters) / sizeof(float),
                        Float32Type::get(getContext()))) ||
      failed(expectType(*this, "seed", getSeed(), {}, IntegerType::get(getContext(), 64))) ||
      failed(expectWeight(*this, "exp_avg", getExpAvg(), shape, element)) ||
      failed(expectType(*this, "exp_avg_sq", getExpAvgSq(), getExpAvg().getType())) ||
      failed(expectType(*this, "master", getMaster(), shape, wide)))
    return failure();
  if (getMaster() && element == wide)
    return emitOpError("expected a master only of a weight that is stored in fewer bits, got one of a weight of ")
           << element;
  if (failed(expectType(*this, "new_weight", getNewWeight(), getWeight().getType())) ||
      failed(expectType(*this, "new_exp_avg", getNewExpAvg(), getExpAvg().getType())) ||
      failed(expectType(*this, "new_exp_avg_sq", getNewExpAvgSq(), getExpAvgSq().getType())))
    return failure();
  if (static_cast<bool>(getMaster()) != static_cast<bool>(getNewMaster()))
    return emitOpError("expected a new master where there is a master, and only there");
  if (failed(expectType(*this, "new_master", getNewMaster(), shape, wide)))
    return failure();

  ArrayRef<int64_t> members = getMembers();
  if (members.empty() || members.size() % 2 != 0)
    return emitOpError("expected (key, elements) pairs of one or more members, got ") << members.size() << " numbers";
  int64_t elements = 0;
  for (size_t i = 0; i < members.size(); i += 2) {
    if (members[i] < 0 || members[i + 1] < 1)
      return emitOpError("expected members with a key of 63 bits and at least one element, got (")
             << members[i] << ", " << members[i + 1] << ")";
    elements += members[i + 1];
  }
  if (elements != tensorType(getWeight()).getNumElements())
    return emitOpError("expected members of together ")
           << tensorType(getWeight()).getNumElements() << " elements, got " << elements;
  return success();
}

} // namespace qt
