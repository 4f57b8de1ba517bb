// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/RmsNorm.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {
namespace {

/// How a block holds a row: `pieces` pieces of `width` elements a thread.
struct RowShape {
  int64_t width, threads, pieces;
};

/// `x`: argument 0, the rows; `tensors`: everything of its width.
StatusOr<RowShape> rowShape(const Call &call, std::initializer_list<const Tensor *> tensors) {
  constexpr int64_t kMostPieces = 5, kMostThreads = 1024;
  const Tensor &x = call.args[0];
  RowShape shape;
  QRT_ASSIGN_OR_RETURN(shape.width, pieceWidth(call, x.shape.dtype, tensors));
  int64_t pieces = ceilDiv(x.dim(1), shape.width);
  if (pieces > kMostPieces * kMostThreads)
    return unsupported(call, 0, 1, "at most 5120 vectors of 16 bytes");
  if (shape.width == 1) { // one shape for all small models
    shape.threads = 256, shape.pieces = 4;
    return shape;
  }
  shape.threads = std::max<int64_t>(1, ceilDiv(pieces, kMostPieces * 32)) * 32;
  shape.pieces = std::max<int64_t>(1, ceilDiv(pieces, shape.threads));
  return shape;
}

Status planNorm(const Call &call, const Tensor &delta, const Tensor &weight, const Tensor &sum, const Tensor &y,
                const Tensor &rstd, KernelPlan &plan) {
  const Tensor &x = call.args[0];
  QRT_ASSIGN_OR_RETURN(RowShape shape, rowShape(call, {&x, &delta, &weight, &sum, &y}));
  int64_t rows = x.dim(0);
  // Several rows a block, so that the weight is read less often, where there are rows for many blocks.
  int64_t rowsPerBlock = rows * shape.threads >= 2048 * 128 ? 4 : 1;
  device::RmsNormParams params{x.data,
                               delta.data,
                               weight.data,
                               sum.data,
                               y.data,
                               rstd.data,
                               x.stride(0),
                               delta.stride(0),
                               sum.stride(0),
                               y.stride(0),
                               int32(rows),
                               int32(x.dim(1)),
                               int32(rowsPerBlock),
                               static_cast<float>(call.params[0].f)};
  plan.launch("RmsNorm.cuh",
              instance("rmsNorm", {x.shape.dtype, weight.shape.dtype},
                       {shape.width, shape.threads, shape.pieces, delta ? 1 : 0}),
              {ceilDiv(rows, rowsPerBlock)}, {static_cast<uint32_t>(shape.threads)}, 0, params);
  return Status();
}

Status planNormGrad(const Call &call, const Tensor &dsum, const Tensor &dy, const Tensor &dx, const Tensor &dweight,
                    bool accumulate, KernelPlan &plan) {
  const Tensor &x = call.args[0], &weight = call.args[1], &rstd = call.args[2];
  QRT_ASSIGN_OR_RETURN(RowShape shape, rowShape(call, {&x, &weight, &dsum, &dy, &dx}));
  int64_t rows = x.dim(0), cols = x.dim(1);
  // As many blocks as 132 multiprocessors hold at once, on every device: sums must not depend on it.
  int64_t mostBlocks = std::max<int64_t>(132 * 384 / shape.threads, 132);
  int64_t rowsPerBlock = std::max<int64_t>(ceilDiv(rows, mostBlocks), 4);
  int64_t blocks = ceilDiv(rows, rowsPerBlock);
  DevicePtr lines = plan.workspace(blocks * cols * 4);
  device::RmsNormGradParams params{
      x.data,       weight.data, rstd.data,   dsum.data,           dy.data,
      dx.data,      lines,       x.stride(0), dsum.stride(0),      dy.stride(0),
      dx.stride(0), int32(rows), int32(cols), int32(rowsPerBlock), static_cast<float>(call.params[0].f)};
  plan.launch("RmsNorm.cuh",
              instance("rmsNormGrad", {x.shape.dtype, weight.shape.dtype},
                       {shape.width, shape.threads, shape.pieces, dsum ? 1 : 0, rstd ? 1 : 0}),
              {static_cast<uint32_t>(blocks)}, {static_cast<uint32_t>(shape.threads)}, 0, params);
  planColumnSums(lines, cols, blocks, {{dweight, accumulate}}, plan);
  return Status();
}

} // namespace

Status planRmsNorm(const Call &call, KernelPlan &plan) {
  return planNorm(call, Tensor(), call.args[1], Tensor(), call.args[2], call.args[3], plan);
}

Status planAddRmsNorm(const Call &call, KernelPlan &plan) {
  return planNorm(call, call.args[1], call.args[2], call.args[3], call.args[4], call.args[5], plan);
}

Status planRmsNormGrad(const Call &call, KernelPlan &plan) {
  return planNormGrad(call, Tensor(), call.args[3], call.args[4], call.args[5], call.accumulates(5), plan);
}

Status planAddRmsNormGrad(const Call &call, KernelPlan &plan) {
  return planNormGrad(call, call.args[3], call.args[4], call.args[5], call.args[6], call.accumulates(6), plan);
}

} // namespace qrt::cuda
