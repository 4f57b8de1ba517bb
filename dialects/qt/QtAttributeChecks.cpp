// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the attributes that the dialect puts on functions, their arguments and results, and on modules and ops.
#include "dialects/qt/TypeChecks.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace qt {

LogicalResult QtDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kScopeAttr && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError("expected ") << name << " to be a string, got " << attribute.getValue();
  if (name == kRecomputedAttr && !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("expected ") << name << " to be a unit attribute, got " << attribute.getValue();
  if (name == kPhaseAttr && !isa<PhaseAttr>(attribute.getValue()))
    return op->emitOpError("expected ") << name << " to be a #qt.phase, got " << attribute.getValue();
  if (name == kMemoryAttr) {
    auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!bytes || !bytes.getType().isSignlessInteger(64) || bytes.getInt() <= 0)
      return op->emitOpError("expected ") << name << " to be a positive i64, got " << attribute.getValue();
  }
  if (name == kOtherTensorsAttr) {
    auto prefixes = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!prefixes || !llvm::all_of(prefixes, [](Attribute prefix) {
          auto text = dyn_cast<StringAttr>(prefix);
          return text && !text.empty();
        }))
      return op->emitOpError("expected ")
             << name << " to be an array of strings that are not empty, got " << attribute.getValue();
  }
  if (name == kEntryAttr) {
    if (!isa<EntryKindAttr>(attribute.getValue()))
      return op->emitOpError("expected ") << name << " to be a #qt.entry, got " << attribute.getValue();
    if (!isa<FunctionOpInterface>(op))
      return op->emitOpError("expected ") << name << " on a function only";
  }
  return success();
}

/// Whether `type` is a tensor of this element type and rank.
static bool isTensor(Type type, int64_t rank, function_ref<bool(Type)> element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == rank && element(tensor.getElementType());
}
static bool isF32OrF64(Type type) { return type.isF32() || type.isF64(); }

LogicalResult QtDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  if (attribute.getName() != kArgumentAttr)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto role = dyn_cast<ArgumentRoleAttr>(attribute.getValue());
  if (!function || !role)
    return op->emitOpError("expected ") << kArgumentAttr << " to be a #qt.argument on a function's argument, got "
                                        << attribute.getValue();
  Type type = function.getArgumentTypes()[index];
  bool ok = false;
  StringRef expected;
  switch (role.getValue()) {
  case ArgumentRole::Ids:
  case ArgumentRole::Labels:
  case ArgumentRole::EmbeddingOrder:
    expected = "an i32 vector";
    ok = isTensor(type, 1, [](Type element) { return element.isInteger(32); });
    break;
  case ArgumentRole::Segments:
    expected = "!qt.segments";
    ok = isa<SegmentsType>(type);
    break;
  case ArgumentRole::InverseTokens:
    expected = "an f32 or f64 scalar tensor";
    ok = isTensor(type, 0, isF32OrF64);
    break;
  case ArgumentRole::Hyper:
    expected = "tensor<8xf32>";
    ok = type == RankedTensorType::get(8, Float32Type::get(op->getContext()));
    break;
  case ArgumentRole::Seed:
    expected = "an i64 scalar tensor";
    ok = isTensor(type, 0, [](Type element) { return element.isInteger(64); });
    break;
  }
  if (!ok)
    return op->emitOpError("expected argument ")
           << index << ", " << stringifyArgumentRole(role.getValue()) << ", to be " << expected << ", got " << type;
  for (unsigned other = 0; other < index; ++other)
    if (function.getArgAttr(other, kArgumentAttr) == role)
      return op->emitOpError("expected one argument of the role ")
             << stringifyArgumentRole(role.getValue()) << ", got arguments " << other << " and " << index;
  return success();
}

LogicalResult QtDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  if (attribute.getName() != kResultAttr)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto role = dyn_cast<ResultRoleAttr>(attribute.getValue());
  if (!function || !role)
    return op->emitOpError("expected ") << kResultAttr << " to be a #qt.result on a function's result, got "
                                        << attribute.getValue();
  Type type = function.getResultTypes()[index];
  bool vector = role.getValue() == ResultRole::RowLoss;
  if (!isTensor(type, vector ? 1 : 0, isF32OrF64))
    return op->emitOpError("expected result ")
           << index << ", " << stringifyResultRole(role.getValue()) << ", to be an f32 or f64 "
           << (vector ? "vector" : "scalar tensor") << ", got " << type;
  return success();
}

} // namespace qt
