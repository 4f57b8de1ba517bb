// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/QkNormRope.h"

#include "runtime/backends/cuda/plan/Plans.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace qrt::cuda {
namespace {

/// Pieces of a head that a lane holds, of `width` elements each; `full`: those of a warp are the head exactly.
struct HeadShape {
  int64_t width, pieces;
  bool full;
};

/// `tensors`: everything that has the width of a head.
StatusOr<HeadShape> headShape(const Call &call, std::initializer_list<const Tensor *> tensors) {
  int64_t half = call.params[2].i / 2, head = call.args[1].dim(2);
  QRT_ASSIGN_OR_RETURN(int64_t width, pieceWidth(call, call.args[1].shape.dtype, tensors));
  // Pairs of vectors whose lanes one bit tells apart (QkRotation).
  int64_t partner = half / width;
  if (half % width || !std::has_single_bit(static_cast<uint64_t>(partner)) || partner > 16)
    width = 1;
  if (head > (width == 1 ? 256 : 512))
    return unsupported(
        call, 1, 2, width > 1 ? "at most 512" : "at most 256 where the rotary pairs are not a power of two of vectors");
  if (width == 1) // one shape for all heads that are not made of vectors
    return HeadShape{1, 8, false};
  int64_t pieces = std::max<int64_t>(1, ceilDiv(head, 32 * width));
  return HeadShape{width, pieces, pieces * 32 * width == head};
}

device::QkHeads qkHeads(const Tensor &in, const Tensor &out, const Tensor &din, const Tensor &weight,
                        const Tensor &rstd) {
  return {headsOf(in), headsOf(out), headsOf(din), weight.data, rstd.data, rstd.stride(0), int32(in.dim(1))};
}

/// What forward and backward share; checks.
StatusOr<device::QkNormRopeParams> commonParams(const Call &call) {
  int64_t half = call.params[2].i / 2, tokens = call.args[1].dim(0), heads = call.args[1].dim(1) + call.args[2].dim(1);
  if (half > device::kMostRotaryPairs)
    return unsupported(call, 1, 2, "such that at most 256 dimensions rotate");
  if (tokens * heads >= int64_t{1} << 31)
    return unsupported(call, 1, 0, "less than 2^31 divided by the number of heads");
  if (call.args[3].shape.dtype != call.args[4].shape.dtype)
    return unsupported(call, 4, 0, "of the type of q_weight");
  device::QkNormRopeParams params{};
  params.docs = segmentsOf(call, 0);
  params.width = int32(call.args[1].dim(2));
  params.half = int32(half);
  params.qItems = int32(ceilDiv(call.args[1].dim(1), device::kQkNormRopeHeads));
  params.items = params.qItems + int32(ceilDiv(call.args[2].dim(1), device::kQkNormRopeHeads));
  params.inverseWidth = 1 / static_cast<float>(params.width);
  params.eps = static_cast<float>(call.params[0].f);
  // The frequencies are f32 values, as the model defines them.
  for (int64_t i = 0; i < half; ++i) {
    float exponent = static_cast<float>(i) / static_cast<float>(half);
    float frequency = 1.0f / static_cast<float>(std::pow(call.params[1].f, static_cast<double>(exponent)));
    params.turns[i] = frequency / (2 * std::numbers::pi);
  }
  return params;
}

/// Items of a warp of the gradient. Two blocks of a multiprocessor run at once. Where a warp would have many items
/// there are twice as many blocks: multiprocessors do not keep step, and those ahead then take more. (On an H200, heads
/// of 256, 8,192 tokens: of 24 + 4 heads 96 us and not 104; of 8 + 2, too few items, 41 and not 40.)
int64_t gradItemsPerWarp(int64_t items) {
  constexpr int64_t kWarps = kMultiprocessorsOfSums * 2 * device::kQkNormRopeGradWarps, kMany = 40;
  int64_t itemsPerWarp = std::max<int64_t>(ceilDiv(items, kWarps), 2);
  return itemsPerWarp >= kMany ? ceilDiv(items, 2 * kWarps) : itemsPerWarp;
}

} // namespace

Status planQkNormRope(const Call &call, KernelPlan &plan) {
  const Tensor &qIn = call.args[1], &kIn = call.args[2], &qWeight = call.args[3], &kWeight = call.args[4];
  const Tensor &q = call.args[5], &k = call.args[6];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&qIn, &kIn, &qWeight, &kWeight, &q, &k}));
  QRT_ASSIGN_OR_RETURN(device::QkNormRopeParams params, commonParams(call));
  params.sides[0] = qkHeads(qIn, q, Tensor(), qWeight, call.args[7]);
  params.sides[1] = qkHeads(kIn, k, Tensor(), kWeight, call.args[8]);
  plan.launch("QkNormRope.cuh",
              instance("qkNormRope", {q.shape.dtype, qWeight.shape.dtype}, {shape.width, shape.pieces, shape.full}),
              {static_cast<uint32_t>(q.dim(0))}, {32},
              pieceStageBytes(shape.width, 32, device::kQkNormRopeHeads * shape.pieces, device::kQkNormRopeStages),
              params);
  return Status();
}

Status planQkNormRopeGrad(const Call &call, KernelPlan &plan) {
  const Tensor &qIn = call.args[1], &kIn = call.args[2], &qWeight = call.args[3], &kWeight = call.args[4];
  const Tensor &qRstd = call.args[5], &kRstd = call.args[6], &dq = call.args[7], &dk = call.args[8];
  const Tensor &dqIn = call.args[9], &dkIn = call.args[10];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&qIn, &kIn, &qWeight, &kWeight, &dq, &dk, &dqIn, &dkIn}));
  QRT_ASSIGN_OR_RETURN(device::QkNormRopeParams params, commonParams(call));
  params.sides[0] = qkHeads(qIn, dq, dqIn, qWeight, qRstd);
  params.sides[1] = qkHeads(kIn, dk, dkIn, kWeight, kRstd);
  constexpr int64_t kWarps = device::kQkNormRopeGradWarps;
  int64_t items = qIn.dim(0) * params.items, cols = qIn.dim(2), itemsPerWarp = gradItemsPerWarp(items);
  int64_t blocks = ceilDiv(items, itemsPerWarp * kWarps);
  params.itemsPerWarp = int32(itemsPerWarp);
  params.lines = plan.workspace(blocks * 2 * cols * 4);
  plan.launch("QkNormRope.cuh",
              instance("qkNormRopeGrad", {dq.shape.dtype, qWeight.shape.dtype},
                       {shape.width, shape.pieces, shape.full, qRstd && kRstd ? 1 : 0}),
              {static_cast<uint32_t>(blocks)}, {kWarps * 32},
              pieceStageBytes(shape.width, kWarps * 32, 2 * device::kQkNormRopeHeads * shape.pieces,
                              device::kQkNormRopeGradStages),
              params);
  planColumnSums(
      {{call.args[11], call.accumulates(11), params.lines, 2 * cols, blocks},
       {call.args[12], call.accumulates(12), params.lines + static_cast<DevicePtr>(cols) * 4, 2 * cols, blocks}},
      plan);
  return Status();
}

} // namespace qrt::cuda
