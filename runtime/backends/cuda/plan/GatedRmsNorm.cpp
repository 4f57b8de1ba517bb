// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/GatedRmsNorm.h"

#include "runtime/backends/cuda/plan/Plans.h"

#include <bit>
#include <numeric>

namespace qrt::cuda {
namespace {

/// Which lanes hold a head: `lanes` lanes, `pieces` pieces of `width` elements each; `full`: they are the head exactly.
struct HeadShape {
  int64_t width, lanes, pieces;
  bool full;
};

StatusOr<HeadShape> headShape(const Call &call, std::initializer_list<const Tensor *> tensors) {
  constexpr int64_t kMostPieces = 4;
  const Tensor &x = call.args[0];
  if (x.dim(0) * x.dim(1) >= int64_t{1} << 30)
    return unsupported(call, 0, 0, "less than 2^30 divided by dimension 1");
  QRT_ASSIGN_OR_RETURN(int64_t width, pieceWidth(call, x.shape.dtype, tensors));
  int64_t pieces = ceilDiv(x.dim(2), width);
  if (pieces > 32 * kMostPieces)
    return unsupported(call, 0, 2, "at most 128 vectors of 16 bytes, or 128 elements where it is not made of vectors");
  if (width == 1) // one shape for all small models
    return HeadShape{1, 32, kMostPieces, false};
  int64_t lanes = pieces == 16 ? 16 : 32, perLane = std::max<int64_t>(1, ceilDiv(pieces, lanes));
  return HeadShape{width, lanes, perLane, lanes * perLane == pieces};
}

} // namespace

Status planGatedRmsNorm(const Call &call, KernelPlan &plan) {
  const Tensor &x = call.args[0], &z = call.args[1], &weight = call.args[2], &y = call.args[3], &rstd = call.args[4];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&x, &z, &weight, &y}));
  int64_t rows = x.dim(0) * x.dim(1), cols = x.dim(2);
  device::GatedRmsNormParams params{headsOf(x),
                                    headsOf(z),
                                    headsOf(y),
                                    weight.data,
                                    rstd.data,
                                    rstd.stride(0),
                                    divisorOf(x.dim(1)),
                                    int32(rows),
                                    int32(cols),
                                    1 / static_cast<float>(cols),
                                    static_cast<float>(call.params[0].f)};
  plan.launch("GatedRmsNorm.cuh",
              instance("gatedRmsNorm", {x.shape.dtype, weight.shape.dtype},
                       {shape.width, shape.lanes, shape.pieces, shape.full}),
              {ceilDiv(rows, device::kGatedNormThreads / shape.lanes * device::kGatedNormRows)},
              {device::kGatedNormThreads}, 0, params);
  return Status();
}

Status planGatedRmsNormGrad(const Call &call, KernelPlan &plan) {
  const Tensor &x = call.args[0], &z = call.args[1], &weight = call.args[2], &rstd = call.args[3], &dy = call.args[4];
  const Tensor &dx = call.args[5], &dz = call.args[6], &dweight = call.args[7];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&x, &z, &weight, &dy, &dx, &dz}));
  int64_t heads = x.dim(1), rows = x.dim(0) * heads, cols = x.dim(2);
  // Powers of two, as lanes are.
  int64_t elements = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(shape.pieces * shape.width)));
  int64_t threads = device::kGatedNormGradThreads / ceilDiv(elements, device::kGatedNormGradElements);
  int64_t groups = threads / shape.lanes;
  // All blocks together take whole tokens a step, so that a group of lanes keeps its head: their number is a multiple
  // of this, but where one step is enough.
  int64_t multiple = heads / std::gcd(heads, groups);
  int64_t mostBlocks = std::max<int64_t>(kMultiprocessorsOfSums / multiple, 1) * multiple;
  int64_t blocks = std::min<int64_t>(ceilDiv(rows, groups), mostBlocks);
  DevicePtr lines = plan.workspace(blocks * cols * 4);
  device::GatedRmsNormGradParams params{headsOf(x),
                                        headsOf(z),
                                        headsOf(dy),
                                        headsOf(dx),
                                        headsOf(dz),
                                        weight.data,
                                        rstd.data,
                                        lines,
                                        rstd.stride(0),
                                        divisorOf(heads),
                                        int32(rows),
                                        int32(cols),
                                        int32(ceilDiv(rows, blocks * groups)),
                                        int32(blocks * groups / heads),
                                        1 / static_cast<float>(cols),
                                        static_cast<float>(call.params[0].f)};
  plan.launch("GatedRmsNorm.cuh",
              instance("gatedRmsNormGrad", {x.shape.dtype, weight.shape.dtype},
                       {shape.width, shape.lanes, shape.pieces, shape.full, rstd ? 1 : 0, threads}),
              {static_cast<uint32_t>(blocks)}, {static_cast<uint32_t>(threads)},
              pieceStageBytes(shape.width, threads, 3 * shape.pieces, device::kGatedNormGradStages), params);
  planColumnSums({{dweight, call.accumulates(7), lines, cols, blocks}}, plan);
  return Status();
}

} // namespace qrt::cuda
