// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/CopyRows.h"

#include "runtime/backends/cuda/plan/Plans.h"

#include <fmt/format.h>

namespace qrt::cuda {
namespace {

/// Two tensors of one shape, in bytes, with as few dimensions as they allow: neighbouring dimensions that lie without
/// gaps in both are one. The last dimension counts bytes and has no gaps.
struct CommonRows {
  int rank = 0;
  int64_t dims[5], sourceStrides[5], targetStrides[5];

  CommonRows(const TensorShape &source, const TensorShape &target) {
    int64_t size = byteSize(target.dtype);
    for (int axis = 0; axis < target.rank; ++axis)
      if (target.dims[axis] != 1)
        add(target.dims[axis], source.strides[axis] * size, target.strides[axis] * size);
    add(size, 1, 1);
  }

  /// The largest unit of at most 16 bytes that divides every place and length.
  int64_t unit(DevicePtr source, DevicePtr target) const {
    auto bits = source | target | static_cast<DevicePtr>(dims[rank - 1]) | 16;
    for (int i = 0; i < rank - 1; ++i)
      bits |= static_cast<DevicePtr>(sourceStrides[i]) | static_cast<DevicePtr>(targetStrides[i]);
    return static_cast<int64_t>(bits & -bits);
  }

private:
  void add(int64_t dim, int64_t sourceStride, int64_t targetStride) {
    if (rank > 0 && sourceStrides[rank - 1] == dim * sourceStride && targetStrides[rank - 1] == dim * targetStride) {
      dims[rank - 1] *= dim;
      sourceStrides[rank - 1] = sourceStride;
      targetStrides[rank - 1] = targetStride;
      return;
    }
    dims[rank] = dim;
    sourceStrides[rank] = sourceStride;
    targetStrides[rank++] = targetStride;
  }
};

std::string_view unitType(int64_t bytes) {
  switch (bytes) {
  case 16:
    return "uint4";
  case 8:
    return "uint2";
  case 4:
    return "unsigned";
  case 2:
    return "unsigned short";
  default:
    return "unsigned char";
  }
}

/// What goes through two tensors needs to know, in units of `unit` bytes, which divides every place and length.
StatusOr<device::CopyRowsParams> rowsParams(const CommonRows &rows, int64_t unit, DevicePtr source, DevicePtr target) {
  // Dimensions in units, aligned to the right.
  device::CopyRowsParams params{source, target, {}, {}, {}, 0};
  int64_t units = 1, dims[4] = {1, 1, 1, 1};
  int last = rows.rank - 1;
  if (rows.dims[last] == unit && rows.rank > 1)
    --last; // an element is a unit
  assert(last < 4);
  for (int axis = last, to = 3; axis >= 0; --axis, --to) {
    bool bytes = axis == rows.rank - 1;
    dims[to] = bytes ? rows.dims[axis] / unit : rows.dims[axis];
    params.sourceStrides[to] = bytes ? 1 : rows.sourceStrides[axis] / unit;
    params.targetStrides[to] = bytes ? 1 : rows.targetStrides[axis] / unit;
    units *= dims[to];
  }
  // Numbers of units are 32-bit, and divided exactly below 2^31.
  if (units + device::kCopyThreads * device::kCopyUnits >= int64_t{1} << 31)
    return error(StatusCode::Unsupported, "{} bytes in {} units of {} bytes: expected less than 2^31 units",
                 units * unit, units, unit);
  for (int axis = 1; axis < 4; ++axis)
    params.dims[axis - 1] = divisorOf(dims[axis]);
  params.units = static_cast<unsigned>(units);
  return params;
}

void launchRows(std::string_view source, std::string function, const device::CopyRowsParams &params, KernelPlan &plan) {
  plan.launch(source, std::move(function), {ceilDiv(params.units, device::kCopyThreads * device::kCopyUnits)},
              {device::kCopyThreads}, 0, params);
}

/// `source` without data: zeros.
Status planRows(const Tensor &source, const Tensor &target, KernelPlan &plan) {
  assert((!source || source.shape.dtype == target.shape.dtype) && source.shape.rank == target.shape.rank);
  if (target.shape.elements() == 0)
    return Status();
  CommonRows rows(source.shape, target.shape);
  int64_t unit = rows.unit(source.data, target.data);
  QRT_ASSIGN_OR_RETURN(device::CopyRowsParams params, rowsParams(rows, unit, source.data, target.data));
  launchRows("CopyRows.cuh", fmt::format("{}<{}>", source ? "copyRows" : "zeroRows", unitType(unit)), params, plan);
  return Status();
}

} // namespace

Status planCopy(const Tensor &source, const Tensor &target, KernelPlan &plan) { return planRows(source, target, plan); }

Status planAdd(const Call &call, KernelPlan &plan) {
  const Tensor &sum = call.args[0], &term = call.args[1];
  if (sum.shape.elements() == 0)
    return Status();
  CommonRows rows(term.shape, sum.shape);
  int64_t size = byteSize(sum.shape.dtype), unit = rows.unit(term.data, sum.data) == 16 ? 16 : size;
  QRT_ASSIGN_OR_RETURN(device::CopyRowsParams params, rowsParams(rows, unit, term.data, sum.data));
  launchRows("Add.cuh", instance("add", {sum.shape.dtype}, {unit / size}), params, plan);
  return Status();
}

Status planZero(const Tensor &target, KernelPlan &plan) {
  if (isDense(target.shape)) {
    if (int64_t bytes = target.shape.elements() * byteSize(target.shape.dtype))
      plan.fill(target.data, bytes);
    return Status();
  }
  return planRows({target.shape, 0}, target, plan);
}

DeviceLaunch kernelFill(DevicePtr data, int64_t bytes) {
  Tensor target{denseShape(DType::I32, std::array{bytes / kKernelFillUnit}), data};
  KernelPlan plan(0);
  StatusOr<device::CopyRowsParams> params =
      rowsParams(CommonRows(target.shape, target.shape), kKernelFillUnit, 0, data);
  assert(params.ok() && params->units > 0);
  launchRows("CopyRows.cuh", fmt::format("zeroRows<{}>", unitType(kKernelFillUnit)), *params, plan);
  return std::get<DeviceLaunch>(plan.works().front());
}

} // namespace qrt::cuda
