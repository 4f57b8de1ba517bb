// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/GlobalNorm.h"

#include "runtime/backends/cuda/plan/Plans.h"
#include "runtime/kernels/Signature.h"

namespace qrt::cuda {
namespace {

constexpr uint32_t kThreads = device::kNormThreads, kSumThreads = device::kNormSumThreads;

struct Part {
  device::NormPart part;
  int64_t chunks;
};

/// The gradient as rows of one distance; false where it has gaps at more than one dimension.
bool partOf(const Tensor &tensor, Part &result) {
  const TensorShape &shape = tensor.shape;
  int64_t rows = 1, cols = 1, stride = 0;
  int axis = shape.rank - 1;
  // Innermost dimensions without gaps are one row, the others must be as far apart as rows of one matrix.
  for (; axis >= 0 && (shape.dims[axis] == 1 || shape.strides[axis] == cols); --axis)
    cols *= shape.dims[axis];
  for (; axis >= 0; --axis) {
    if (shape.dims[axis] == 1)
      continue;
    if (rows == 1)
      stride = shape.strides[axis];
    else if (shape.strides[axis] != stride * rows)
      return false;
    rows *= shape.dims[axis];
  }
  int64_t size = byteSize(shape.dtype);
  result.part = {tensor.data,
                 cols,
                 stride,
                 0,
                 static_cast<short>(size),
                 static_cast<short>(tensor.data % 16 == 0 && stride * size % 16 == 0)};
  result.chunks = rows * ((cols + device::kNormChunk - 1) / device::kNormChunk);
  return true;
}

} // namespace

Status planGlobalNorm(const Call &call, KernelPlan &plan) {
  std::vector<Part> parts;
  int64_t chunks = 0;
  for (size_t i = 1; i < call.args.size(); ++i) {
    if (!partOf(call.args[i], parts.emplace_back()))
      return error(StatusCode::Unsupported, "{}: argument {} of {}: expected rows of one distance",
                   kernelInfo(call.kernel).name, i, printShape(call.args[i].shape));
    chunks += parts.back().chunks;
    if (chunks > INT32_MAX)
      return error(StatusCode::Unsupported,
                   "{}: expected less than 2^31 rows or pieces of rows in all, got {} up to {}",
                   kernelInfo(call.kernel).name, chunks, printShape(call.args[i].shape));
  }
  DevicePtr sums = plan.workspace(chunks * static_cast<int64_t>(sizeof(double)));
  chunks = 0;
  for (std::span<const Part> rest = parts; !rest.empty();) {
    device::SquaredNormParams params{};
    params.sums = sums + static_cast<DevicePtr>(chunks) * sizeof(double);
    int64_t launched = 0;
    for (; !rest.empty() && params.parts < device::kNormParts; rest = rest.subspan(1)) {
      device::NormPart &part = params.part[params.parts++] = rest[0].part;
      part.firstChunk = int32(launched);
      launched += rest[0].chunks;
    }
    plan.launch("GlobalNorm.cuh", "squaredNorm", {static_cast<uint32_t>(int32(launched))}, {kThreads}, 0, params);
    chunks += launched;
  }
  device::NormOfSumsParams params{sums, call.args[0].data, int32(chunks)};
  plan.launch("GlobalNorm.cuh", "normOfSums", {1}, {kSumThreads}, 0, params);
  return Status();
}

} // namespace qrt::cuda
