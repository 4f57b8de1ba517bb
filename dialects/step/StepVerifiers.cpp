// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/step/Step.h"
#include "runtime/kernels/Signature.h"

#include <map>

using namespace mlir;

namespace step {

/// What holds for every buffer: static, contiguous, aligned.
static LogicalResult verifyBuffer(Operation *op, MemRefType type, int64_t offset) {
  if (!type.hasStaticShape())
    return op->emitOpError() << "expected a static shape, got " << type;
  if (!type.getLayout().isIdentity())
    return op->emitOpError() << "expected a buffer without strides, got " << type;
  if (offset % kBufferAlignment != 0)
    return op->emitOpError() << "expected an offset that is a multiple of " << kBufferAlignment << " bytes, got "
                             << offset;
  return success();
}

static LogicalResult verifyInside(Operation *op, MemRefType type, int64_t offset, int64_t spaceBytes, Space space) {
  // No sum of two numbers from outside, which could overflow.
  int64_t bytes = bytesOf(type);
  if (bytes > spaceBytes || offset > spaceBytes - bytes)
    return op->emitOpError() << "expected to end inside the " << stringifySpace(space) << " space of " << spaceBytes
                             << " bytes, got bytes " << offset << " to " << offset << " + " << bytes;
  return success();
}

namespace {
/// Buffers of one space that must not share bytes.
class Occupied {
public:
  LogicalResult add(Operation *op, MemRefType type, int64_t offset) {
    int64_t end = offset + bytesOf(type);
    auto next = taken_.lower_bound(offset);
    Operation *other = nullptr;
    if (next != taken_.end() && next->first < end)
      other = next->second.second;
    else if (next != taken_.begin() && std::prev(next)->second.first > offset)
      other = std::prev(next)->second.second;
    if (other) {
      InFlightDiagnostic error = op->emitOpError() << "expected memory of its own, got bytes " << offset << " to "
                                                   << end << ", which another has";
      error.attachNote(other->getLoc()) << "the other";
      return error;
    }
    taken_.emplace(offset, std::pair(end, op));
    return success();
  }

private:
  std::map<int64_t, std::pair<int64_t, Operation *>> taken_; // begin -> end, op
};
} // namespace

//===----------------------------------------------------------------------===//
// The layout
//===----------------------------------------------------------------------===//

LogicalResult PlaceOp::verify() {
  if (getSpace() != Space::State && getSpace() != Space::Gradients)
    return emitOpError() << "expected the space state or gradients, got " << stringifySpace(getSpace());
  return verifyBuffer(*this, cast<MemRefType>(getType()), getOffset());
}

LogicalResult LayoutOp::verifyRegions() {
  Occupied occupied[2];
  for (Operation &op : *getBody()) {
    auto place = dyn_cast<PlaceOp>(op);
    if (!place)
      return op.emitOpError() << "expected only step.place in a layout";
    bool state = place.getSpace() == Space::State;
    auto type = cast<MemRefType>(place.getType());
    if (failed(verifyInside(place, type, place.getOffset(), state ? getStateBytes() : getGradientBytes(),
                            place.getSpace())) ||
        failed(occupied[state].add(place, type, place.getOffset())))
      return failure();
  }
  return success();
}

LogicalResult LayoutOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto module = cast<ModuleOp>((*this)->getParentOp());
  for (LayoutOp other : module.getOps<LayoutOp>())
    if (other != *this && other->isBeforeInBlock(*this))
      return emitOpError() << "expected one layout in a module, got another";
  DenseSet<StringAttr> members;
  for (auto pack : module.getOps<qt::ParameterPackOp>())
    for (Attribute member : pack.getMembers())
      members.insert(cast<FlatSymbolRefAttr>(member).getAttr());
  DenseSet<StringAttr> placed;
  for (PlaceOp place : getBody()->getOps<PlaceOp>()) {
    StringAttr name = place.getSymNameAttr();
    placed.insert(name);
    Operation *symbol = symbols.lookupSymbolIn(module, name);
    Type type;
    Space space = Space::State;
    if (auto parameter = dyn_cast_or_null<qt::ParameterOp>(symbol)) {
      type = parameter.getType();
    } else if (auto pack = dyn_cast_or_null<qt::ParameterPackOp>(symbol)) {
      type = pack.getType();
    } else if (auto state = dyn_cast_or_null<qt::StateOp>(symbol)) {
      type = state.getType();
      if (state.getKind() == qt::StateKind::Gradient)
        space = Space::Gradients;
    } else {
      return place.emitOpError() << "expected the name of a parameter, pack or state";
    }
    if (members.contains(name))
      return place.emitOpError() << "expected no place for a member of a pack: it lies in the pack";
    if (place.getType() != memoryType(type))
      return place.emitOpError() << "expected " << memoryType(type) << " for " << type << ", got " << place.getType();
    if (place.getSpace() != space)
      return place.emitOpError() << "expected the space " << stringifySpace(space) << ", got "
                                 << stringifySpace(place.getSpace());
  }
  for (Operation &op : module.getOps())
    if (isa<qt::ParameterOp, qt::ParameterPackOp, qt::StateOp>(op)) {
      StringAttr name = mlir::SymbolTable::getSymbolName(&op);
      if (!placed.contains(name) && !members.contains(name))
        return emitOpError() << "expected a place for each parameter, pack and state, got none for @"
                             << name.getValue();
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Entries and their buffers
//===----------------------------------------------------------------------===//

LogicalResult EntryOp::verify() {
  if (getKind() == qt::EntryKind::Model)
    return emitOpError() << "expected the kind step, accumulate, apply or eval, got model";
  ArrayRef<int64_t> bucket = getBucket();
  size_t extents = getKind() == qt::EntryKind::Apply ? 0 : 4;
  if (bucket.size() != extents)
    return emitOpError() << "expected a bucket of " << extents << " extents for an entry of kind "
                         << qt::stringifyEntryKind(getKind()) << ", got " << bucket.size();
  for (int64_t extent : bucket)
    if (extent < 1)
      return emitOpError() << "expected a bucket of positive extents, got " << extent;
  return success();
}

LogicalResult EntryOp::verifyRegions() {
  DenseMap<qt::ArgumentRole, Operation *> arguments;
  DenseMap<qt::ResultRole, Operation *> results;
  Occupied io;
  bool begun = false;
  for (Operation &op : *getBody()) {
    if (op.getName().getDialectNamespace() != StepDialect::getDialectNamespace())
      return op.emitOpError() << "expected only ops of the step dialect in an entry";
    begun |= isa<InstructionOpInterface>(op);
    if (isa<WatchOp>(op) && !begun)
      return op.emitOpError() << "expected an instruction before it";
    if (auto argument = dyn_cast<ArgumentOp>(op)) {
      if (!arguments.try_emplace(argument.getRole(), argument).second)
        return argument.emitOpError() << "expected one argument of the role "
                                      << qt::stringifyArgumentRole(argument.getRole()) << ", got another";
    } else if (auto result = dyn_cast<ResultOp>(op)) {
      if (!results.try_emplace(result.getRole(), result).second)
        return result.emitOpError() << "expected one result of the role " << qt::stringifyResultRole(result.getRole())
                                    << ", got another";
    }
    if (isa<ArgumentOp, ResultOp>(op))
      if (failed(io.add(&op, cast<MemRefType>(op.getResult(0).getType()), cast<BufferOpInterface>(op).getByteOffset())))
        return failure();
  }
  return success();
}

LogicalResult EntryOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto layouts = cast<ModuleOp>((*this)->getParentOp()).getOps<LayoutOp>();
  LayoutOp layout = layouts.empty() ? nullptr : *layouts.begin();
  for (StateOp state : getBody()->getOps<StateOp>()) {
    PlaceOp place;
    if (layout)
      place = dyn_cast_or_null<PlaceOp>(symbols.lookupSymbolIn(layout, state.getSymbolAttr().getAttr()));
    if (!place)
      return state.emitOpError() << "expected a symbol with a place in the module's step.layout, got @"
                                 << state.getSymbol();
    if (place.getType() != state.getMemory().getType())
      return state.emitOpError() << "expected " << place.getType() << ", the type of its place, got "
                                 << state.getMemory().getType();
  }
  return success();
}

LogicalResult StateOp::verify() { return verifyBuffer(*this, getMemory().getType(), 0); }

static LogicalResult verifyIo(Operation *op, MemRefType type, int64_t offset) {
  if (failed(verifyBuffer(op, type, offset)))
    return failure();
  return verifyInside(op, type, offset, cast<EntryOp>(op->getParentOp()).getIoBytes(), Space::Io);
}
LogicalResult ArgumentOp::verify() { return verifyIo(*this, getMemory().getType(), getOffset()); }
LogicalResult ResultOp::verify() { return verifyIo(*this, getMemory().getType(), getOffset()); }

LogicalResult TransientOp::verify() {
  MemRefType type = getMemory().getType();
  if (failed(verifyBuffer(*this, type, getOffset())))
    return failure();
  return verifyInside(*this, type, getOffset(), cast<EntryOp>((*this)->getParentOp()).getTransientBytes(),
                      Space::Transient);
}

LogicalResult SliceOp::verify() {
  MemRefType buffer = getBuffer().getType(), view = getView().getType();
  if (!isa_and_nonnull<BufferOpInterface>(getBuffer().getDefiningOp()))
    return emitOpError() << "expected a view of a buffer, got a view of a view";
  if (view.getElementType() != buffer.getElementType())
    return emitOpError() << "expected elements of the buffer's type " << buffer.getElementType() << ", got "
                         << view.getElementType();
  SmallVector<int64_t> strides;
  int64_t layoutOffset;
  if (!view.hasStaticShape() || failed(view.getStridesAndOffset(strides, layoutOffset)) || layoutOffset != 0 ||
      llvm::any_of(strides, [](int64_t stride) { return stride < 0; }))
    return emitOpError() << "expected a view of static shape with strides and no offset, got " << view;
  if (view.getNumElements() == 0)
    return emitOpError() << "expected a view with elements, got " << view;
  int64_t last = getOffset(), elements = buffer.getNumElements();
  for (auto [size, stride] : llvm::zip_equal(view.getShape(), strides)) {
    int64_t room = elements - 1 - last;
    if (room < 0 || (size > 1 && stride > room / (size - 1)))
      return emitOpError() << "expected a view inside the buffer's " << elements << " elements, got " << view
                           << " at element " << getOffset();
    last += (size - 1) * stride;
  }
  if (last >= elements)
    return emitOpError() << "expected a view inside the buffer's " << elements << " elements, got " << view
                         << " at element " << getOffset();
  return success();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  StringRef name(qrt::kernelInfo(getKernel()).name);
  for (int32_t value : getArgumentEffects())
    if (!symbolizeEffect(static_cast<uint32_t>(value)))
      return emitOpError() << "kernel " << name << ": expected effects of 0 to 3, got " << value;
  size_t present = llvm::count_if(getArgumentEffects(), [](int32_t effect) { return effect != 0; });
  if (present != getArguments().size())
    return emitOpError() << "kernel " << name << ": expected an operand for each of " << present
                         << " arguments that are not none, got " << getArguments().size();
  if (Value workspace = getWorkspace(); workspace && !viewOf(workspace).buffer.getDefiningOp<TransientOp>())
    return emitOpError() << "kernel " << name << ": expected the workspace in the arena (step.transient)";
  SmallVector<std::optional<qrt::TensorShape>> shapes;
  SmallVector<qrt::ArgEffect> effects;
  for (auto [i, value] : llvm::enumerate(getCallArguments())) {
    shapes.emplace_back();
    effects.push_back(argEffect(getEffect(i)));
    if (!value)
      continue;
    auto type = cast<MemRefType>(value.getType());
    if (type.getRank() > 4)
      return emitOpError() << "kernel " << name << ": expected at most 4 dimensions, got " << type;
    if (type.getRank() > 0 && type.getShape().back() > 1 && stridesOf(type).back() != 1)
      return emitOpError() << "kernel " << name << ": expected a last dimension of stride 1, got " << type;
    shapes.back() = tensorShape(type);
  }
  SmallVector<qrt::ParamValue> params;
  for (int64_t param : getParams())
    params.push_back(qrt::ParamValue{.i = param});
  qrt::BucketShape bucket;
  if (ArrayRef<int64_t> extents = cast<EntryOp>((*this)->getParentOp()).getBucket(); extents.size() == 4)
    bucket = {extents[0], extents[1], extents[2], extents[3]};
  // The catalog says what a kernel takes; the runtime asks it the same question when it loads a program.
  qrt::Status status = qrt::checkCall(getKernel(), shapes, effects, params, bucket, getExpressionOrNull());
  if (!status.ok())
    return emitOpError() << "kernel " << name << ": " << status.message();
  return success();
}

LogicalResult GemmOp::verify() {
  MemRefType types[] = {getC().getType(), getA().getType(), getB().getType()};
  const char *names[] = {"c", "a", "b"};
  for (auto [type, name] : llvm::zip_equal(types, names)) {
    if (type.getRank() != 2)
      return emitOpError() << "expected " << name << " to be a matrix, got " << type;
    SmallVector<int64_t> strides = stridesOf(type);
    if ((type.getDimSize(1) > 1 && strides[1] != 1) || (type.getDimSize(0) > 1 && strides[0] < type.getDimSize(1)))
      return emitOpError() << "expected " << name << " to have rows without gaps that do not overlap, got " << type;
    if (!type.getElementType().isF32() && !type.getElementType().isBF16())
      return emitOpError() << "expected " << name << " to be f32 or bf16, got " << type;
  }
  Type element = getA().getType().getElementType();
  if (getB().getType().getElementType() != element)
    return emitOpError() << "expected a and b of one element type, got " << element << " and "
                         << getB().getType().getElementType();
  Type sum = getC().getType().getElementType();
  if (sum != element && !sum.isF32())
    return emitOpError() << "expected c in " << element << " or f32, got " << sum;
  if (getAccumulate() && !sum.isF32())
    return emitOpError() << "expected to add to f32, got " << sum;
  auto shape = [](MemRefType type, bool transposed) {
    ArrayRef<int64_t> dims = type.getShape();
    return transposed ? std::pair(dims[1], dims[0]) : std::pair(dims[0], dims[1]);
  };
  auto [m, k] = shape(types[1], getTransposeA());
  auto [kb, n] = shape(types[2], getTransposeB());
  auto [cm, cn] = shape(types[0], false);
  if (k != kb)
    return emitOpError() << "expected as many rows of b as columns of a (transposed as said), got [" << m << ", " << k
                         << "] x [" << kb << ", " << n << "]";
  if (cm != m || cn != n)
    return emitOpError() << "expected c to be [" << m << ", " << n << "], got [" << cm << ", " << cn << "]";
  return success();
}

LogicalResult CopyOp::verify() {
  MemRefType target = getTarget().getType(), source = getSource().getType();
  if (target.getShape() != source.getShape() || target.getElementType() != source.getElementType())
    return emitOpError() << "expected a target of the source's shape and element type, got " << target << " and "
                         << source;
  return success();
}

LogicalResult FillOp::verify() { return success(); }

LogicalResult WatchOp::verify() {
  if (getName().empty())
    return emitOpError() << "expected a name, got \"\"";
  return success();
}

} // namespace step
