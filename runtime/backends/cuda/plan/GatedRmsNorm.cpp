// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/GatedRmsNorm.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {
namespace {

constexpr int64_t kThreads = device::kGatedNormThreads;

/// Which lanes hold a head: `lanes` lanes, `pieces` pieces of `width` elements each.
struct HeadShape {
  int64_t width, lanes, pieces;
};

StatusOr<HeadShape> headShape(const Call &call, std::initializer_list<const Tensor *> tensors) {
  constexpr int64_t kMostPieces = 4;
  const Tensor &x = call.args[0];
  if (x.dim(0) * x.dim(1) >= int64_t{1} << 31)
    return unsupported(call, 0, 0, "less than 2^31 divided by dimension 1");
  HeadShape shape;
  QRT_ASSIGN_OR_RETURN(shape.width, pieceWidth(call, x.shape.dtype, tensors));
  int64_t pieces = ceilDiv(x.dim(2), shape.width);
  if (pieces > 32 * kMostPieces)
    return unsupported(call, 0, 2, "at most 128 vectors of 16 bytes, or 128 elements where it is not made of vectors");
  shape.lanes = shape.width > 1 && pieces == 16 ? 16 : 32;
  // One shape for all small models that are not made of vectors.
  shape.pieces = shape.width == 1 ? kMostPieces : std::max<int64_t>(1, ceilDiv(pieces, shape.lanes));
  return shape;
}

} // namespace

Status planGatedRmsNorm(const Call &call, KernelPlan &plan) {
  const Tensor &x = call.args[0], &z = call.args[1], &weight = call.args[2], &y = call.args[3], &rstd = call.args[4];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&x, &z, &weight, &y}));
  int64_t rows = x.dim(0) * x.dim(1);
  device::GatedRmsNormParams params{
      headsOf(x),     headsOf(z),          headsOf(y),  weight.data,     rstd.data,
      rstd.stride(0), divisorOf(x.dim(1)), int32(rows), int32(x.dim(2)), static_cast<float>(call.params[0].f)};
  plan.launch("GatedRmsNorm.cuh",
              instance("gatedRmsNorm", {x.shape.dtype, weight.shape.dtype}, {shape.width, shape.lanes, shape.pieces}),
              {ceilDiv(rows, kThreads / shape.lanes * device::kGatedNormRows)}, {kThreads}, 0, params);
  return Status();
}

Status planGatedRmsNormGrad(const Call &call, KernelPlan &plan) {
  const Tensor &x = call.args[0], &z = call.args[1], &weight = call.args[2], &rstd = call.args[3], &dy = call.args[4];
  const Tensor &dx = call.args[5], &dz = call.args[6], &dweight = call.args[7];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&x, &z, &weight, &dy, &dx, &dz}));
  int64_t rows = x.dim(0) * x.dim(1), cols = x.dim(2);
  // Three blocks for each of 132 multiprocessors, on every device: sums must not depend on it.
  constexpr int64_t kMostBlocks = 132 * 3;
  int64_t rowsPerBlock =
      std::max<int64_t>(ceilDiv(rows, kMostBlocks), kThreads / shape.lanes * device::kGatedNormGradRows);
  int64_t blocks = ceilDiv(rows, rowsPerBlock);
  DevicePtr lines = plan.workspace(blocks * cols * 4);
  device::GatedRmsNormGradParams params{headsOf(x),          headsOf(z),
                                        headsOf(dy),         headsOf(dx),
                                        headsOf(dz),         weight.data,
                                        rstd.data,           lines,
                                        rstd.stride(0),      divisorOf(x.dim(1)),
                                        int32(rows),         int32(cols),
                                        int32(rowsPerBlock), static_cast<float>(call.params[0].f)};
  plan.launch("GatedRmsNorm.cuh",
              instance("gatedRmsNormGrad", {x.shape.dtype, weight.shape.dtype},
                       {shape.width, shape.lanes, shape.pieces, rstd ? 1 : 0}),
              {static_cast<uint32_t>(blocks)}, {kThreads}, 0, params);
  planColumnSums(lines, cols, blocks, {{dweight, call.accumulates(7)}}, plan);
  return Status();
}

} // namespace qrt::cuda
