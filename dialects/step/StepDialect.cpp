// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/step/Step.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/DialectImplementation.h"

#include "dialects/step/StepDialect.cpp.inc"
#include "dialects/step/StepEnums.cpp.inc"
#include "dialects/step/StepInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/step/StepAttrs.cpp.inc"

using namespace mlir;

namespace step {

void StepDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/step/StepAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/step/StepOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

SmallVector<int64_t> stridesOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  [[maybe_unused]] LogicalResult strided = type.getStridesAndOffset(strides, offset);
  assert(succeeded(strided) && "a memref without strides passed the verifier");
  return strides;
}

int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * qrt::byteSize(qt::elementDType(type.getElementType()));
}

View viewOf(Value memory) {
  View view;
  auto type = cast<MemRefType>(memory.getType());
  view.buffer = memory;
  view.shape = type.getShape();
  view.strides = stridesOf(type);
  if (auto slice = memory.getDefiningOp<SliceOp>()) {
    view.buffer = slice.getBuffer();
    view.offset = slice.getOffset();
  }
  return view;
}

MemRefType memoryType(Type type) {
  if (isa<qt::SegmentsType>(type)) {
    int64_t elements = qt::tensorBytes(type) / static_cast<int64_t>(sizeof(int32_t));
    return MemRefType::get({elements}, IntegerType::get(type.getContext(), 32));
  }
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

qrt::TensorShape tensorShape(MemRefType type) {
  qrt::TensorShape shape;
  shape.dtype = qt::elementDType(type.getElementType());
  shape.rank = static_cast<int>(type.getRank());
  llvm::copy(type.getShape(), shape.dims);
  llvm::copy(stridesOf(type), shape.strides);
  return shape;
}

//===----------------------------------------------------------------------===//
// Kernels as properties
//===----------------------------------------------------------------------===//

Attribute kernelToAttr(MLIRContext *context, qrt::Kernel kernel) {
  return StringAttr::get(context, StringRef(qrt::kernelInfo(kernel).name));
}

LogicalResult kernelFromAttr(qrt::Kernel &kernel, Attribute attr, function_ref<InFlightDiagnostic()> emitError) {
  auto name = dyn_cast_or_null<StringAttr>(attr);
  std::optional<qrt::Kernel> found =
      name ? qrt::kernelByName({name.getValue().data(), name.getValue().size()}) : std::nullopt;
  if (!found) {
    if (emitError)
      emitError() << "expected the name of a kernel, got " << attr;
    return failure();
  }
  kernel = *found;
  return success();
}

LogicalResult readKernel(DialectBytecodeReader &reader, qrt::Kernel &kernel) {
  StringRef name;
  if (failed(reader.readString(name)))
    return failure();
  std::optional<qrt::Kernel> found = qrt::kernelByName({name.data(), name.size()});
  if (!found)
    return reader.emitError() << "expected the name of a kernel, got '" << name << "'";
  kernel = *found;
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The row of a symbol in the module's layout, or null.
static PlaceOp findPlace(StateOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  for (LayoutOp layout : module.getOps<LayoutOp>())
    if (auto place = dyn_cast_or_null<PlaceOp>(SymbolTable::lookupSymbolIn(layout, op.getSymbolAttr())))
      return place;
  return nullptr;
}

Space StateOp::getSpace() { return findPlace(*this).getSpace(); }
int64_t StateOp::getByteOffset() { return findPlace(*this).getOffset(); }
Space ArgumentOp::getSpace() { return Space::Io; }
int64_t ArgumentOp::getByteOffset() { return getOffset(); }
Space ResultOp::getSpace() { return Space::Io; }
int64_t ResultOp::getByteOffset() { return getOffset(); }
Space TransientOp::getSpace() { return Space::Transient; }
int64_t TransientOp::getByteOffset() { return getOffset(); }

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void LaunchOp::build(OpBuilder &builder, OperationState &state, qrt::Kernel kernel, ValueRange arguments,
                     ArrayRef<Effect> effects, ArrayRef<qrt::ParamValue> params, Value workspace) {
  state.addOperands(arguments);
  if (workspace)
    state.addOperands(workspace);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(arguments.size()), workspace ? 1 : 0};
  properties.kernel = kernel;
  properties.argument_effects = builder.getDenseI32ArrayAttr(
      llvm::map_to_vector(effects, [](Effect effect) { return static_cast<int32_t>(effect); }));
  properties.params =
      builder.getDenseI64ArrayAttr(llvm::map_to_vector(params, [](qrt::ParamValue value) { return value.i; }));
}

SmallVector<Value> LaunchOp::getCallArguments() {
  SmallVector<Value> values;
  auto argument = getArguments().begin();
  for (size_t i = 0; i < getArgumentEffects().size(); ++i)
    values.push_back(getEffect(i) == Effect::Absent ? Value() : *argument++);
  return values;
}

SmallVector<Access> LaunchOp::getAccesses() {
  SmallVector<Access> accesses;
  OpOperand *operand = getOperation()->getOpOperands().begin();
  ArrayRef<qrt::ArgInfo> args = qrt::kernelInfo(getKernel()).args;
  for (size_t i = 0; i < getArgumentEffects().size(); ++i)
    if (getEffect(i) != Effect::Absent)
      accesses.push_back({operand++, getEffect(i), i < args.size() && args[i].effect == qrt::ArgEffect::ReadUpdated});
  if (getWorkspace())
    accesses.push_back({operand, Effect::Write});
  return accesses;
}

SmallVector<Access> GemmOp::getAccesses() {
  return {{&getCMutable(), getAccumulate() ? Effect::InOut : Effect::Write},
          {&getAMutable(), Effect::Read},
          {&getBMutable(), Effect::Read}};
}
SmallVector<Access> CopyOp::getAccesses() {
  return {{&getTargetMutable(), Effect::Write}, {&getSourceMutable(), Effect::Read}};
}
SmallVector<Access> FillOp::getAccesses() { return {{&getTargetMutable(), Effect::Write}}; }

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void memoryEffects(InstructionOpInterface op, Effects &effects) {
  for (const Access &access : op.getAccesses()) {
    if (access.reads())
      effects.emplace_back(MemoryEffects::Read::get(), access.operand);
    if (access.writes())
      effects.emplace_back(MemoryEffects::Write::get(), access.operand);
  }
}
void LaunchOp::getEffects(Effects &effects) { memoryEffects(*this, effects); }
void GemmOp::getEffects(Effects &effects) { memoryEffects(*this, effects); }
void CopyOp::getEffects(Effects &effects) { memoryEffects(*this, effects); }
void FillOp::getEffects(Effects &effects) { memoryEffects(*this, effects); }

} // namespace step
