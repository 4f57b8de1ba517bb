// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/plan/KernelPlan.h"

#include "runtime/backends/cuda/plan/Plans.h"
#include "runtime/base/SegmentTable.h"
#include "runtime/kernels/Signature.h"

#include <fmt/format.h>

namespace qrt::cuda {

std::string_view deviceType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "float";
  case DType::BF16:
    return "bf16";
  case DType::I32:
    return "int";
  default:
    assert(false && "no device function has a parameter of this type");
    return "";
  }
}

std::string instance(std::string_view name, std::initializer_list<DType> types) { return instance(name, types, {}); }

std::string instance(std::string_view name, std::initializer_list<DType> types,
                     std::initializer_list<int64_t> numbers) {
  std::string text(name), separator = "<";
  auto add = [&](std::string_view argument) {
    text.append(separator).append(argument);
    separator = ", ";
  };
  for (DType type : types)
    add(deviceType(type));
  for (int64_t number : numbers)
    add(fmt::to_string(number));
  return separator == "<" ? text : text + ">";
}

device::Segments segmentsOf(const Call &call, int arg) {
  SegmentLayout layout{call.bucket};
  return {call.args[static_cast<size_t>(arg)].data,
          int32(call.bucket.tokens),
          int32(call.bucket.documents),
          int32(layout.maxChunks()),
          int32(layout.maxTiles()),
          int32(call.bucket.trained),
          int32(layout.documentOffsets()),
          int32(layout.tokenDocument()),
          int32(layout.chunkStart()),
          int32(layout.tileStart()),
          int32(layout.trainedRows())};
}

bool hasVectors(const Tensor &tensor) {
  int64_t size = byteSize(tensor.shape.dtype);
  if (tensor.data % 16)
    return false;
  for (int axis = 0; axis < tensor.shape.rank; ++axis) {
    bool last = axis == tensor.shape.rank - 1;
    if ((last ? tensor.dim(axis) : tensor.dim(axis) > 1 ? tensor.stride(axis) : 0) * size % 16)
      return false;
  }
  return true;
}

static std::string_view nameOf(const Call &call, int arg) {
  return kernelInfo(call.kernel).arg(static_cast<size_t>(arg)).name;
}

Status requireVectors(const Call &call, const Tensor &tensor) {
  if (!tensor || hasVectors(tensor))
    return Status();
  return error(StatusCode::Unsupported,
               "{}: argument {} of {}: rows must start on 16 bytes and be a multiple of them long",
               kernelInfo(call.kernel).name, nameOf(call, static_cast<int>(&tensor - call.args.data())),
               printShape(tensor.shape));
}

Status requireAligned(const Call &call, const Tensor &tensor) {
  if (tensor.data % 16 == 0)
    return Status();
  return error(StatusCode::Unsupported, "{}: argument {} of {}: must start on 16 bytes", kernelInfo(call.kernel).name,
               nameOf(call, static_cast<int>(&tensor - call.args.data())), printShape(tensor.shape));
}

StatusOr<int64_t> pieceWidth(const Call &call, DType dtype, std::initializer_list<const Tensor *> tensors) {
  constexpr int64_t kMostSingles = 1024;
  int64_t width = 16 / byteSize(dtype);
  for (const Tensor *tensor : tensors) {
    if (!*tensor || hasVectors(*tensor))
      continue;
    if (tensor->dim(tensor->shape.rank - 1) > kMostSingles)
      return requireVectors(call, *tensor);
    width = 1;
  }
  return width;
}

device::Divisor divisorOf(int64_t value) {
  assert(value >= 1 && value < int64_t{1} << 31);
  unsigned shift = 0;
  while (int64_t{1} << shift < value)
    ++shift;
  uint64_t multiplier =
      (uint64_t{1} << 32) * ((uint64_t{1} << shift) - static_cast<uint64_t>(value)) / static_cast<uint64_t>(value) + 1;
  return {static_cast<unsigned>(value), static_cast<unsigned>(multiplier), shift};
}

Status unsupported(const Call &call, int arg, int axis, std::string_view expected) {
  const TensorShape &shape = call.args[static_cast<size_t>(arg)].shape;
  return error(StatusCode::Unsupported, "{}: argument {} of {}: expected dimension {} to be {}",
               kernelInfo(call.kernel).name, nameOf(call, arg), printShape(shape), axis, expected);
}

Status planKernel(const Call &call, KernelPlan &plan) {
  switch (call.kernel) {
  case Kernel::Attention:
    return planAttention(call, plan);
  case Kernel::AttentionGrad:
    return planAttentionGrad(call, plan);
  case Kernel::Embedding:
    return planEmbedding(call, plan);
  case Kernel::EmbeddingGrad:
    return planEmbeddingGrad(call, plan);
  case Kernel::RmsNorm:
    return planRmsNorm(call, plan);
  case Kernel::RmsNormGrad:
    return planRmsNormGrad(call, plan);
  case Kernel::AddRmsNorm:
    return planAddRmsNorm(call, plan);
  case Kernel::AddRmsNormGrad:
    return planAddRmsNormGrad(call, plan);
  case Kernel::GatedRmsNorm:
    return planGatedRmsNorm(call, plan);
  case Kernel::GatedRmsNormGrad:
    return planGatedRmsNormGrad(call, plan);
  case Kernel::QkNormRope:
    return planQkNormRope(call, plan);
  case Kernel::QkNormRopeGrad:
    return planQkNormRopeGrad(call, plan);
  case Kernel::Add:
    return planAdd(call, plan);
  case Kernel::Swiglu:
    return planSwiglu(call, plan);
  case Kernel::SwigluGrad:
    return planSwigluGrad(call, plan);
  case Kernel::GatedDeltaInputs:
    return planGatedDeltaInputs(call, plan);
  case Kernel::GatedDeltaInputsGrad:
    return planGatedDeltaInputsGrad(call, plan);
  case Kernel::LinearCrossEntropy:
    return planLinearCrossEntropy(call, plan);
  case Kernel::LinearCrossEntropyGrad:
    return planLinearCrossEntropyGrad(call, plan);
  case Kernel::GlobalNorm:
    return planGlobalNorm(call, plan);
  case Kernel::OptimizerStep:
    return planOptimizerStep(call, plan);
  case Kernel::AdamW:
    return planAdamW(call, plan);
  case Kernel::GatedDeltaRule:
    return planGatedDeltaRule(call, plan);
  case Kernel::GatedDeltaRuleGrad:
    return planGatedDeltaRuleGrad(call, plan);
  case Kernel::GatherRows:
    return planGatherRows(call, plan);
  case Kernel::ScatterRows:
    return planScatterRows(call, plan);
  default:
    return error(StatusCode::Unsupported, "{}: no device function", kernelInfo(call.kernel).name);
  }
}

} // namespace qrt::cuda
