// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/RmsNorm.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {
namespace {

/// How a block holds a row: `pieces` pieces of `width` elements a thread; `full`: they are the row exactly.
struct RowShape {
  int64_t width, threads, pieces;
  bool full;
};

/// `x`: argument 0, the rows; `tensors`: everything of its width.
StatusOr<RowShape> rowShape(const Call &call, std::initializer_list<const Tensor *> tensors) {
  // Three tensors of rows on their way fit in shared memory.
  constexpr int64_t kMostPieces = 2, kMostThreads = 768;
  const Tensor &x = call.args[0];
  QRT_ASSIGN_OR_RETURN(int64_t width, pieceWidth(call, x.shape.dtype, tensors));
  if (width == 1) // one shape for all small models
    return RowShape{1, 256, 4, false};
  int64_t pieces = x.dim(1) / width;
  if (pieces > kMostPieces * kMostThreads)
    return unsupported(call, 0, 1, "at most 1536 vectors of 16 bytes");
  int64_t threads = std::max<int64_t>(1, ceilDiv(pieces, kMostPieces * 32)) * 32;
  int64_t perThread = std::max<int64_t>(1, ceilDiv(pieces, threads));
  return RowShape{width, threads, perThread, threads * perThread == pieces};
}

Status planNorm(const Call &call, const Tensor &delta, const Tensor &weight, const Tensor &sum, const Tensor &y,
                const Tensor &rstd, KernelPlan &plan) {
  const Tensor &x = call.args[0];
  QRT_ASSIGN_OR_RETURN(RowShape shape, rowShape(call, {&x, &delta, &weight, &sum, &y}));
  int64_t rows = x.dim(0);
  int64_t cols = x.dim(1);
  // As many blocks as the device holds at once.
  int64_t blocks = call.device.multiprocessors * std::max<int64_t>(device::kRmsNormThreads / shape.threads, 1);
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
                               int32(cols),
                               1 / static_cast<float>(cols),
                               static_cast<float>(call.params[0].f)};
  plan.launch("RmsNorm.cuh",
              instance("rmsNorm", {x.shape.dtype, weight.shape.dtype},
                       {shape.width, shape.threads, shape.pieces, shape.full, delta ? 1 : 0}),
              {static_cast<uint32_t>(std::min(rows, blocks))}, {static_cast<uint32_t>(shape.threads)},
              rowStageBytes(shape.width, shape.threads * shape.pieces, delta ? 2 : 1, device::kNormStages), params);
  return Status();
}

Status planNormGrad(const Call &call, const Tensor &dsum, const Tensor &dy, const Tensor &dx, const Tensor &dweight,
                    bool accumulate, KernelPlan &plan) {
  const Tensor &x = call.args[0], &weight = call.args[1], &rstd = call.args[2];
  QRT_ASSIGN_OR_RETURN(RowShape shape, rowShape(call, {&x, &weight, &dsum, &dy, &dx}));
  int64_t rows = x.dim(0), cols = x.dim(1);
  int64_t mostBlocks = kMultiprocessorsOfSums * std::max<int64_t>(device::kRmsNormGradThreads / shape.threads, 1);
  int64_t blocks = std::min<int64_t>(ceilDiv(rows, 4), mostBlocks);
  DevicePtr lines = plan.workspace(blocks * cols * 4);
  device::RmsNormGradParams params{x.data,
                                   weight.data,
                                   rstd.data,
                                   dsum.data,
                                   dy.data,
                                   dx.data,
                                   lines,
                                   x.stride(0),
                                   dsum.stride(0),
                                   dy.stride(0),
                                   dx.stride(0),
                                   int32(rows),
                                   int32(cols),
                                   1 / static_cast<float>(cols),
                                   static_cast<float>(call.params[0].f)};
  plan.launch("RmsNorm.cuh",
              instance("rmsNormGrad", {x.shape.dtype, weight.shape.dtype},
                       {shape.width, shape.threads, shape.pieces, shape.full, dsum ? 1 : 0, rstd ? 1 : 0}),
              {static_cast<uint32_t>(blocks)}, {static_cast<uint32_t>(shape.threads)},
              rowStageBytes(shape.width, shape.threads * shape.pieces, dsum ? 3 : 2, device::kNormStages), params);
  planColumnSums({{dweight, accumulate, lines, cols, blocks}}, plan);
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
