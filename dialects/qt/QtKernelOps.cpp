// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How ops meet the kernel catalog: arguments in its order, costs by its formulas.
#include "dialects/qt/Qt.h"
#include "runtime/base/SegmentTable.h"

using namespace mlir;

namespace qt {

qrt::DType elementDType(Type type) {
  if (type.isF32())
    return qrt::DType::F32;
  if (type.isBF16())
    return qrt::DType::BF16;
  if (type.isF64())
    return qrt::DType::F64;
  if (type.isInteger(32))
    return qrt::DType::I32;
  assert(type.isInteger(64) && "not an element type of the qt dialect");
  return qrt::DType::I64;
}

static int64_t segmentTableBytes(SegmentsType type) {
  qrt::BucketShape bucket{type.getTokens(), type.getDocuments(), type.getLongest(), type.getTrained()};
  return qrt::SegmentLayout{bucket}.size() * static_cast<int64_t>(sizeof(int32_t));
}

int64_t tensorBytes(Type type) {
  if (auto segments = dyn_cast<SegmentsType>(type))
    return segmentTableBytes(segments);
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * qrt::byteSize(elementDType(tensor.getElementType()));
}

double operandAndResultBytes(Operation *op) {
  double bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes += static_cast<double>(tensorBytes(type));
  for (Type type : op->getResultTypes())
    bytes += static_cast<double>(tensorBytes(type));
  return bytes;
}

namespace {
/// Hands out the values of one side of an op (operands or results) group by group, in the order of its definition.
class ValueGroups {
public:
  /// `segments` is the op's operandSegmentSizes or resultSegmentSizes, null if it has none: then `optional` of the
  /// optional groups are there, the first ones.
  ValueGroups(ValueRange values, DenseI32ArrayAttr segments, size_t optional)
      : values_(values), segments_(segments), optional_(optional) {}

  /// The next group's value; null if the group is empty.
  Value next(bool optional) {
    bool present = segments_ ? segments_[group_++] > 0 : !optional || optional_ > 0;
    optional_ -= !segments_ && optional && present;
    return present ? values_[position_++] : Value();
  }
  /// All that is left but the last `reserved`.
  ValueRange rest(size_t reserved) { return values_.slice(position_, values_.size() - position_ - reserved); }

private:
  ValueRange values_;
  DenseI32ArrayAttr segments_;
  size_t optional_;
  size_t group_ = 0, position_ = 0;
};
} // namespace

SmallVector<KernelArgument> kernelArguments(KernelBackedOpInterface op) {
  using qrt::ArgEffect;
  const qrt::KernelInfo &info = qrt::kernelInfo(op.getKernel());
  size_t requiredOperands = 0, requiredResults = 0;
  for (const qrt::ArgInfo &arg : info.args) {
    if (isOptional(arg.effect) || arg.effect == ArgEffect::ReadVariadic)
      continue;
    requiredOperands += qrt::isRead(arg.effect) || arg.effect == ArgEffect::InOut;
    requiredResults += !qrt::isRead(arg.effect);
  }
  OperandRange into = op.getAccumulated();
  ValueGroups operands(op->getOperands(), op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes"),
                       op->getNumOperands() - into.size() - requiredOperands);
  ValueGroups results(op->getResults(), op->getAttrOfType<DenseI32ArrayAttr>("resultSegmentSizes"),
                      op->getNumResults() - requiredResults);

  SmallVector<KernelArgument> arguments;
  size_t accumulated = 0;
  for (const qrt::ArgInfo &arg : info.args) {
    switch (arg.effect) {
    case ArgEffect::Read:
    case ArgEffect::ReadOptional:
    case ArgEffect::ReadUpdated:
      arguments.push_back(
          {operands.next(isOptional(arg.effect)), Value(), ArgEffect::Read, arg.effect == ArgEffect::ReadUpdated});
      break;
    case ArgEffect::ReadVariadic:
      for (Value value : operands.rest(into.size()))
        arguments.push_back({value, Value(), ArgEffect::Read});
      break;
    case ArgEffect::Write:
    case ArgEffect::WriteOptional:
      arguments.push_back({Value(), results.next(isOptional(arg.effect)), ArgEffect::Write});
      break;
    case ArgEffect::InOut:
    case ArgEffect::InOutOptional: {
      Value read = operands.next(isOptional(arg.effect));
      Value write = results.next(isOptional(arg.effect));
      arguments.push_back({read, write, ArgEffect::InOut});
      break;
    }
    case ArgEffect::Accumulate:
    case ArgEffect::AccumulateOptional: {
      Value write = results.next(isOptional(arg.effect));
      if (write && !into.empty())
        arguments.push_back({into[accumulated++], write, ArgEffect::InOut});
      else
        arguments.push_back({Value(), write, ArgEffect::Write});
      break;
    }
    }
  }
  return arguments;
}

/// The shape of a dense tensor or segment table, as the runtime describes it.
static std::optional<qrt::TensorShape> shapeOf(Value value) {
  if (!value)
    return std::nullopt;
  if (auto segments = dyn_cast<SegmentsType>(value.getType()))
    return qrt::denseShape(qrt::DType::I32,
                           std::array{segmentTableBytes(segments) / static_cast<int64_t>(sizeof(int32_t))});
  auto type = cast<RankedTensorType>(value.getType());
  return qrt::denseShape(elementDType(type.getElementType()), type.getShape());
}

double kernelFlops(Operation *op) {
  auto kernelOp = cast<KernelBackedOpInterface>(op);
  SmallVector<std::optional<qrt::TensorShape>> shapes;
  for (const KernelArgument &argument : kernelArguments(kernelOp))
    shapes.push_back(shapeOf(argument.read ? argument.read : argument.write));
  qrt::BucketShape bucket;
  for (Type type : op->getOperandTypes())
    if (auto segments = dyn_cast<SegmentsType>(type))
      bucket = {segments.getTokens(), segments.getDocuments(), segments.getLongest(), segments.getTrained()};
  SmallVector<qrt::ParamValue> params;
  kernelOp.getKernelParams(params);
  std::optional<qrt::Expression> expression = kernelOp.getExpression();
  return qrt::kernelFlops(kernelOp.getKernel(), shapes, params, bucket, expression ? &*expression : nullptr);
}

} // namespace qt
