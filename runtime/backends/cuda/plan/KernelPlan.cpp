// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/plan/KernelPlan.h"

#include "runtime/backends/cuda/plan/Plans.h"
#include "runtime/base/SegmentTable.h"
#include "runtime/kernels/Signature.h"

#include <fmt/format.h>

namespace qrt::cuda {

DevicePtr KernelPlan::workspace(int64_t bytes) {
  // More than any GPU has, and far from where sums overflow.
  constexpr int64_t kMost = int64_t{1} << 48;
  if (bytes < 0 || bytes > kMost || workspaceBytes_ > kMost)
    status_ = error(StatusCode::Unsupported, "needs {} bytes of workspace beside {}", bytes, workspaceBytes_);
  else if (bytes > 0 && workspace_ % 256 != 0)
    status_ = error(StatusCode::InvalidData, "the workspace must start on 256 bytes");
  if (!status_.ok())
    return workspace_;
  DevicePtr begin = workspace_ + static_cast<DevicePtr>(workspaceBytes_);
  workspaceBytes_ += (bytes + 255) / 256 * 256;
  return begin;
}

void KernelPlan::checkGrid(Dim3 grid) {
  constexpr uint32_t kMostX = INT32_MAX, kMost = 65535;
  if (grid.x < 1 || grid.x > kMostX || grid.y < 1 || grid.y > kMost || grid.z < 1 || grid.z > kMost)
    status_ =
        error(StatusCode::Unsupported, "needs a grid of {} x {} x {} blocks, but a GPU takes at most {} x {} x {}",
              grid.x, grid.y, grid.z, kMostX, kMost, kMost);
}

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

/// Device code counts tokens, rows and the elements of a row in 32 bits.
static Status checkExtents(const Call &call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    const TensorShape &shape = call.args[i].shape;
    if (!call.args[i])
      continue;
    int64_t row = 1;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
      int64_t extent = axis > 0 ? row : 1;
      if (shape.dims[axis] > INT32_MAX || shape.dims[axis] * extent > INT32_MAX)
        return error(StatusCode::Unsupported, "{}: argument {} of {}: expected rows, and elements of a row, below 2^31",
                     kernelInfo(call.kernel).name, nameOf(call, static_cast<int>(i)), printShape(shape));
      row *= shape.dims[axis];
    }
  }
  // The gradient of attention begins each document on a multiple of 64 rows (device/Attention.h).
  int64_t rows = call.bucket.tokens + 64 * (call.bucket.documents + 1);
  if (int64_t size = SegmentLayout{call.bucket}.size(); std::max(size, rows) > INT32_MAX)
    return error(StatusCode::Unsupported,
                 "{}: a bucket of {} tokens and {} documents: expected its table, of {} numbers, "
                 "and {} rows of statistics below 2^31",
                 kernelInfo(call.kernel).name, call.bucket.tokens, call.bucket.documents, size, rows);
  return Status();
}

static Status planOf(const Call &call, KernelPlan &plan) {
  switch (call.kernel) {
#define QRT_KERNEL(Name, text)                                                                                         \
  case Kernel::Name:                                                                                                   \
    return plan##Name(call, plan);
#include "runtime/kernels/catalog.def"
  }
  assert(false && "not a kernel of the catalog");
  return Status();
}

Status planKernel(const Call &call, KernelPlan &plan) {
  QRT_RETURN_IF_ERROR(checkExtents(call));
  QRT_RETURN_IF_ERROR(planOf(call, plan));
  return Status(plan.status()).withContext(std::string(kernelInfo(call.kernel).name));
}

} // namespace qrt::cuda
