// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of every kernel of the catalog (one file a kernel, listed in KernelPlan.cpp), and what they share.
#ifndef RUNTIME_BACKENDS_CUDA_PLAN_PLANS_H
#define RUNTIME_BACKENDS_CUDA_PLAN_PLANS_H

#include "runtime/backends/cuda/device/Types.h"
#include "runtime/backends/cuda/plan/KernelPlan.h"

#include <algorithm>
#include <initializer_list>

namespace qrt::cuda {

#define QRT_KERNEL(Name, text) Status plan##Name(const Call &call, KernelPlan &plan);
#include "runtime/kernels/catalog.def"

/// Argument `arg` as the segment table of the bucket.
device::Segments segmentsOf(const Call &call, int arg);

/// An argument [T, heads, width], or [T, heads] as of width 1.
inline device::HeadTensor headsOf(const Tensor &tensor) { return {tensor.data, tensor.stride(0), tensor.stride(1)}; }

/// "name<bf16, float>".
std::string instance(std::string_view name, std::initializer_list<DType> types);
/// "name<bf16, 128, 4>".
std::string instance(std::string_view name, std::initializer_list<DType> types, std::initializer_list<int64_t> numbers);

/// Of what planKernel has checked: extents of a bucket and of tensors.
inline int int32(int64_t value) {
  assert(value >= 0 && value <= INT32_MAX);
  return static_cast<int>(value);
}
/// The extent of a grid: what is more than a GPU takes stays more (KernelPlan::launch refuses it).
inline uint32_t gridExtent(int64_t blocks) { return static_cast<uint32_t>(std::clamp<int64_t>(blocks, 0, UINT32_MAX)); }
inline uint32_t ceilDiv(int64_t a, int64_t b) { return gridExtent((a + b - 1) / b); }
/// Rows along a grid's y, which holds 65,535; the kernels stride.
inline uint32_t gridRows(int64_t rows) { return static_cast<uint32_t>(std::min<int64_t>(rows, 65535)); }

/// Exact for dividends below 2^31 (Granlund, Montgomery: Division by invariant integers using multiplication).
device::Divisor divisorOf(int64_t value);

/// Dynamic shared memory of a block that has pieces of `width` elements on their way (device/PieceStages.cuh).
inline uint32_t pieceStageBytes(int64_t width, int64_t threads, int64_t slots, int64_t stages) {
  return width == 1 ? 0 : static_cast<uint32_t>(threads * slots * stages * 16);
}
/// The same for rows of `pieces` pieces (device/RowStages.cuh).
inline uint32_t rowStageBytes(int64_t width, int64_t pieces, int64_t tensors, int64_t stages) {
  return pieceStageBytes(width, pieces, tensors, stages);
}

/// What sums of columns become: a tensor without gaps, f32 or bf16, from `count` lines of f32 that begin at `lines`,
/// `stride` elements apart.
struct ColumnSum {
  Tensor result;
  bool accumulate;
  DevicePtr lines;
  int64_t stride, count;
};
/// The second launch of gradients of weights: each of up to four results becomes (or is added) the sum of its
/// elements' columns, in an order that follows from `count` and the result's size.
void planColumnSums(std::initializer_list<ColumnSum> sums, KernelPlan &plan);

/// Whether every row (all but the last dimension) starts on 16 bytes and is a whole number of them.
bool hasVectors(const Tensor &tensor);
/// An error naming the kernel and the argument unless hasVectors(). Absent tensors pass.
Status requireVectors(const Call &call, const Tensor &tensor);
/// An error naming the kernel and the argument unless it starts on 16 bytes. Absent tensors pass.
Status requireAligned(const Call &call, const Tensor &tensor);
/// Elements of a piece of a row (device/Pieces.cuh): 16 bytes of `dtype` where every tensor has vectors, else 1, which
/// is for small models: an error naming the argument where its rows are longer than 1,024 elements. `tensors` are
/// arguments of the call; absent ones do not count.
StatusOr<int64_t> pieceWidth(const Call &call, DType dtype, std::initializer_list<const Tensor *> tensors);
/// An error naming the kernel, the argument and its extent.
Status unsupported(const Call &call, int arg, int axis, std::string_view expected);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_PLAN_PLANS_H
