// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/QkNormRope.h"

#include "runtime/backends/cuda/plan/Plans.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace qrt::cuda {
namespace {

/// Pieces of a head that a lane holds, of `width` elements each.
struct HeadShape {
  int64_t width, pieces;
};

/// `tensors`: everything that has the width of a head.
StatusOr<HeadShape> headShape(const Call &call, std::initializer_list<const Tensor *> tensors) {
  const Tensor &q = call.args[1];
  int64_t half = call.params[2].i / 2;
  HeadShape shape;
  QRT_ASSIGN_OR_RETURN(shape.width, pieceWidth(call, q.shape.dtype, tensors));
  // Pairs of vectors whose lanes one bit tells apart (QkRotation).
  int64_t partner = half / shape.width;
  if (half % shape.width || !std::has_single_bit(static_cast<uint64_t>(partner)) || partner > 16)
    shape.width = 1;
  // One shape for all heads that are not made of vectors.
  shape.pieces = shape.width == 1 ? 8 : std::max<int64_t>(1, ceilDiv(q.dim(2), 32 * shape.width));
  if (q.dim(2) > shape.width * shape.pieces * 32 || (shape.width > 1 && shape.pieces > 4))
    return unsupported(call, 1, 2,
                       shape.width > 1 ? "at most 128 vectors of 16 bytes"
                                       : "at most 256 where the rotary pairs are not a power of two of vectors");
  return shape;
}

device::QkHeads qkHeads(const Tensor &in, const Tensor &out, const Tensor &din, const Tensor &weight,
                        const Tensor &rstd) {
  int64_t heads = in.dim(1);
  return {headsOf(in), headsOf(out),   headsOf(din), weight.data,
          rstd.data,   rstd.stride(0), int32(heads), int32(ceilDiv(heads, device::kQkNormRopeGradHeads))};
}

/// What forward and backward share; checks.
StatusOr<device::QkNormRopeParams> commonParams(const Call &call) {
  int64_t half = call.params[2].i / 2, tokens = call.args[1].dim(0), heads = call.args[1].dim(1) + call.args[2].dim(1);
  if (half > device::kMostRotaryPairs)
    return unsupported(call, 1, 2, "such that at most 256 dimensions rotate");
  if (tokens * heads >= int64_t{1} << 31)
    return unsupported(call, 1, 0, "less than 2^31 divided by the number of heads");
  device::QkNormRopeParams params{};
  params.docs = segmentsOf(call, 0);
  params.width = int32(call.args[1].dim(2));
  params.half = int32(half);
  params.eps = static_cast<float>(call.params[0].f);
  // The frequencies are f32 values, as the model defines them.
  for (int64_t i = 0; i < half; ++i) {
    float exponent = static_cast<float>(i) / static_cast<float>(half);
    float frequency = 1.0f / static_cast<float>(std::pow(call.params[1].f, static_cast<double>(exponent)));
    params.turns[i] = frequency / (2 * std::numbers::pi);
  }
  return params;
}

} // namespace

Status planQkNormRope(const Call &call, KernelPlan &plan) {
  const Tensor &qIn = call.args[1], &kIn = call.args[2], &qWeight = call.args[3], &kWeight = call.args[4];
  const Tensor &q = call.args[5], &k = call.args[6];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&qIn, &kIn, &qWeight, &kWeight, &q, &k}));
  if (qWeight.shape.dtype != kWeight.shape.dtype)
    return unsupported(call, 4, 0, "of the type of q_weight");
  QRT_ASSIGN_OR_RETURN(device::QkNormRopeParams params, commonParams(call));
  params.q = qkHeads(qIn, q, Tensor(), qWeight, call.args[7]);
  params.k = qkHeads(kIn, k, Tensor(), kWeight, call.args[8]);
  plan.launch("QkNormRope.cuh",
              instance("qkNormRope", {q.shape.dtype, qWeight.shape.dtype}, {shape.width, shape.pieces}),
              {ceilDiv(q.dim(0), device::kQkNormRopeWarps)}, {device::kQkNormRopeWarps * 32}, 0, params);
  return Status();
}

Status planQkNormRopeGrad(const Call &call, KernelPlan &plan) {
  const Tensor &qIn = call.args[1], &kIn = call.args[2], &qWeight = call.args[3], &kWeight = call.args[4];
  const Tensor &dq = call.args[7], &dk = call.args[8], &dqIn = call.args[9], &dkIn = call.args[10];
  QRT_ASSIGN_OR_RETURN(HeadShape shape, headShape(call, {&qIn, &kIn, &qWeight, &kWeight, &dq, &dk, &dqIn, &dkIn}));
  if (qWeight.shape.dtype != kWeight.shape.dtype)
    return unsupported(call, 4, 0, "of the type of q_weight");
  QRT_ASSIGN_OR_RETURN(device::QkNormRopeParams params, commonParams(call));
  params.q = qkHeads(qIn, dq, dqIn, qWeight, call.args[5]);
  params.k = qkHeads(kIn, dk, dkIn, kWeight, call.args[6]);
  // Two blocks for each of 132 multiprocessors, on every device: sums must not depend on it.
  constexpr int64_t kMostBlocks = 132 * 2, kWarps = device::kQkNormRopeGradWarps;
  int64_t items = qIn.dim(0) * (params.q.items + params.k.items), cols = qIn.dim(2);
  int64_t itemsPerWarp = std::max<int64_t>(ceilDiv(items, kMostBlocks * kWarps), 2);
  int64_t blocks = ceilDiv(items, itemsPerWarp * kWarps);
  params.itemsPerWarp = int32(itemsPerWarp);
  params.lines = plan.workspace(blocks * 2 * cols * 4);
  plan.launch("QkNormRope.cuh",
              instance("qkNormRopeGrad", {dq.shape.dtype, qWeight.shape.dtype}, {shape.width, shape.pieces}),
              {static_cast<uint32_t>(blocks)}, {kWarps * 32}, 0, params);
  planColumnSums(params.lines, 2 * cols, blocks,
                 {{call.args[11], call.accumulates(11)}, {call.args[12], call.accumulates(12)}}, plan);
  return Status();
}

} // namespace qrt::cuda
