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
// Expressions as properties
//===----------------------------------------------------------------------===//

/// The number of steps, four numbers for each (operation, a, b, the bits of the constant), then the results.
static SmallVector<int64_t> numbersOf(const qrt::Expression &expression) {
  SmallVector<int64_t> numbers{static_cast<int64_t>(expression.steps.size())};
  for (const qrt::ExpressionStep &step : expression.steps)
    numbers.append({static_cast<int64_t>(step.op), step.a, step.b, llvm::bit_cast<int64_t>(step.constant)});
  numbers.append(expression.results.begin(), expression.results.end());
  return numbers;
}

/// What the numbers mean; whether that is an expression, the verifier of the op asks.
static LogicalResult expressionOf(ArrayRef<int64_t> numbers, qrt::Expression &expression,
                                  function_ref<InFlightDiagnostic()> emitError) {
  int64_t steps = numbers.empty() ? -1 : numbers.front();
  bool fits = steps >= 0 && steps <= qrt::kMaxExpressionSteps && steps * 4 < static_cast<int64_t>(numbers.size());
  if (!fits) {
    if (emitError)
      emitError() << "expected the numbers of an expression, got " << numbers.size();
    return failure();
  }
  // All but the constants' bits are operations and numbers of values, which are fewer.
  for (auto [i, number] : llvm::enumerate(numbers)) {
    bool isConstant = i > 0 && i % 4 == 0 && static_cast<int64_t>(i) <= steps * 4;
    if (isConstant || llvm::isUInt<8>(number))
      continue;
    if (emitError)
      emitError() << "expected the numbers of an expression, got " << number << " among them";
    return failure();
  }
  expression = {};
  for (ArrayRef<int64_t> step = numbers.drop_front(); steps > 0; --steps, step = step.drop_front(4))
    expression.steps.push_back({static_cast<qrt::ExpressionOp>(step[0]), static_cast<uint16_t>(step[1]),
                                static_cast<uint16_t>(step[2]), llvm::bit_cast<double>(step[3])});
  for (int64_t result : numbers.drop_front(1 + 4 * numbers.front()))
    expression.results.push_back(static_cast<uint16_t>(result));
  return success();
}

Attribute expressionToAttr(MLIRContext *context, const qrt::Expression &expression) {
  return DenseI64ArrayAttr::get(context, numbersOf(expression));
}

LogicalResult expressionFromAttr(qrt::Expression &expression, Attribute attr,
                                 function_ref<InFlightDiagnostic()> emitError) {
  auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attr);
  return expressionOf(numbers ? numbers.asArrayRef() : ArrayRef<int64_t>(), expression, emitError);
}

void writeExpression(DialectBytecodeWriter &writer, const qrt::Expression &expression) {
  writer.writeSignedVarInts(ArrayRef<int64_t>(numbersOf(expression)));
}

LogicalResult readExpression(DialectBytecodeReader &reader, qrt::Expression &expression) {
  SmallVector<int64_t> numbers;
  if (failed(reader.readSignedVarInts(numbers)))
    return failure();
  return expressionOf(numbers, expression, [&] { return reader.emitError(); });
}

llvm::hash_code hashExpression(const qrt::Expression &expression) {
  return llvm::hash_combine_range(numbersOf(expression));
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
                     ArrayRef<Effect> effects, ArrayRef<qrt::ParamValue> params,
                     std::optional<qrt::Expression> expression, Value workspace) {
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
  properties.expression = expression.value_or(qrt::Expression());
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
