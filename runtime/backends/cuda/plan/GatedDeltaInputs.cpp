// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/GatedDeltaInputs.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {
namespace {

constexpr uint32_t kThreads = 32 * device::kDeltaInputWarps;

/// The arguments that forward and backward begin with; q and v are any tensors of their shapes.
device::DeltaInputs inputsOf(const Call &call, const Tensor &q, const Tensor &v) {
  const Tensor &weight = call.args[4], &aLog = call.args[5], &dtBias = call.args[6];
  return {segmentsOf(call, 0),
          headsOf(call.args[1]),
          headsOf(call.args[2]),
          headsOf(call.args[3]),
          weight.data,
          aLog.data,
          dtBias.data,
          weight.stride(0),
          int32(byteSize(aLog.shape.dtype)),
          int32(byteSize(dtBias.shape.dtype)),
          int32(q.dim(0)),
          int32(q.dim(1)),
          int32(v.dim(1)),
          int32(q.dim(2)),
          int32(v.dim(2)),
          int32(weight.dim(2)),
          static_cast<float>(call.params[0].f)};
}

int heads(const device::DeltaInputs &in) { return 2 * in.keyHeads + in.valueHeads; }
int channels(const device::DeltaInputs &in) { return 2 * in.keyHeads * in.dk + in.valueHeads * in.dv; }

/// Whether the functions for wide heads take these widths and tensors, `heads` being those that have heads of channels.
/// All of the published sizes have them; others take the general ones.
bool isWide(const Call &call, const device::DeltaInputs &in, std::initializer_list<const Tensor *> heads) {
  const Tensor &weight = call.args[4];
  bool wide = call.args[1].shape.dtype == DType::BF16 && in.dk == device::kHeadWidth && in.dv == device::kHeadWidth &&
              in.taps == 4 && isDense(weight.shape) && weight.data % 8 == 0;
  for (const Tensor *tensor : heads)
    wide = wide && hasVectors(*tensor);
  return wide;
}

/// [T, heads, 128], or [T, C] as heads of 128 channels.
TensorMapSpec headMap(const Tensor &tensor, size_t offset) {
  bool flat = tensor.shape.rank == 2;
  TensorMapSpec map;
  map.paramOffset = static_cast<uint32_t>(offset);
  map.base = tensor.data;
  map.rank = 3;
  map.dims = {device::kHeadWidth, static_cast<uint64_t>(flat ? tensor.dim(1) / device::kHeadWidth : tensor.dim(1)),
              static_cast<uint64_t>(tensor.dim(0))};
  // The stride of a dimension of 1 says nothing, but must still be a possible one.
  constexpr uint64_t kHeadBytes = device::kHeadWidth * 2;
  auto bytes = [&](int axis) {
    return tensor.dim(axis) > 1 ? static_cast<uint64_t>(tensor.stride(axis)) * 2 : kHeadBytes;
  };
  map.strides = {flat ? kHeadBytes : bytes(1), bytes(0)};
  map.box = {device::kHeadWidth, 1, device::kHeadGroup};
  map.swizzled = false;
  return map;
}

} // namespace

Status planGatedDeltaInputs(const Call &call, KernelPlan &plan) {
  const Tensor &qkv = call.args[1], &q = call.args[7], &k = call.args[8], &v = call.args[9];
  using Params = device::GatedDeltaInputsParams;
  Params params{
      {}, inputsOf(call, q, v), headsOf(q), headsOf(k), headsOf(v), headsOf(call.args[10]), headsOf(call.args[11])};
  uint32_t headBlocks = ceilDiv(heads(params.in), device::kDeltaInputWarps);
  uint32_t tokenBlocks = ceilDiv(params.in.tokens, device::kDeltaInputTokens);
  if (isWide(call, params.in, {&qkv, &q, &k, &v})) {
    plan.launch("GatedDeltaInputs.cuh", "gatedDeltaInputsWide", {headBlocks + 1, tokenBlocks}, {kThreads},
                device::kDeltaInputBytes, params)
        .map(headMap(qkv, offsetof(Params, qkvMap)));
    return Status();
  }
  DType md = qkv.shape.dtype;
  plan.launch("GatedDeltaInputs.cuh", instance("gatedDeltaInputs", {md}), {headBlocks, gridRows(params.in.tokens)},
              {kThreads}, 0, params);
  plan.launch("GatedDeltaInputs.cuh", instance("gatedDeltaGates", {md}), {tokenBlocks}, {kThreads}, 0, params);
  return Status();
}

Status planGatedDeltaInputsGrad(const Call &call, KernelPlan &plan) {
  enum { kQkv = 1, kConvWeight = 4, kDQ = 7, kDK, kDV, kDG, kDBeta, kDQkv, kDB, kDA, kDConvWeight, kDALog, kDDtBias };
  const Tensor &qkv = call.args[kQkv], &dq = call.args[kDQ], &dk = call.args[kDK], &dv = call.args[kDV],
               &dbeta = call.args[kDBeta], &dqkv = call.args[kDQkv];
  for (int arg : {kDConvWeight, kDALog, kDDtBias})
    if (!isDense(call.args[static_cast<size_t>(arg)].shape))
      return unsupported(call, arg, 0, "of a tensor without gaps");
  const Tensor &weight = call.args[kConvWeight];
  if (weight.dim(0) * weight.dim(2) > INT32_MAX)
    return unsupported(call, kConvWeight, 0, "less than 2^31 divided by dimension 2");
  using Params = device::GatedDeltaInputsGradParams;
  Params params{};
  params.in = inputsOf(call, dq, dv);
  params.dq = headsOf(dq), params.dk = headsOf(dk), params.dv = headsOf(dv);
  params.dg = headsOf(call.args[kDG]), params.dbeta = headsOf(dbeta);
  params.dqkv = headsOf(dqkv), params.db = headsOf(call.args[kDB]), params.da = headsOf(call.args[kDA]);
  params.dbetaBytes = int32(byteSize(dbeta.shape.dtype));
  const device::DeltaInputs &in = params.in;
  int64_t weights = int64_t{channels(in)} * in.taps;
  bool wide = isWide(call, in, {&qkv, &dq, &dk, &dv, &dqkv});
  int64_t parts = ceilDiv(in.tokens, device::kDeltaInputGradTokens), gateParts = parts, headBlocks = 0;
  if (wide) {
    // Blocks of most of the tokens, as many as run at once beside those of the gates, then short ones for those that
    // end early. With the three tokens on either side that it also reads, a warp has whole groups.
    constexpr int64_t kShortTokens = 8 * device::kHeadGroup - 6, kLongPercent = 75;
    headBlocks = ceilDiv(heads(in), device::kDeltaInputWarps);
    gateParts = ceilDiv(in.tokens, device::kDeltaInputGateTokens);
    int64_t atOnce = 132 * device::kDeltaInputGradBlocksOfOne - gateParts;
    int64_t longParts = std::clamp<int64_t>(atOnce / headBlocks, 1, ceilDiv(in.tokens, kShortTokens));
    int64_t longGroups = ceilDiv(in.tokens * kLongPercent / 100 / longParts + 6, device::kHeadGroup);
    int64_t longTokens = std::max<int64_t>(longGroups * device::kHeadGroup - 6, kShortTokens);
    parts = longParts + ceilDiv(std::max<int64_t>(in.tokens - longParts * longTokens, 0), kShortTokens);
    params.gateBlocks = int32(gateParts);
    params.longParts = int32(longParts);
    params.longTokens = int32(longTokens);
    params.shortTokens = int32(kShortTokens);
  }
  params.lines = plan.workspace(parts * weights * 4);
  params.gateLines = plan.workspace(gateParts * 2 * in.valueHeads * 4);
  if (wide) {
    plan.launch("GatedDeltaInputsGrad.cuh", "gatedDeltaInputsGradWide",
                {static_cast<uint32_t>(gateParts + parts * headBlocks)}, {kThreads}, device::kDeltaInputGradBytes,
                params)
        .map(headMap(qkv, offsetof(Params, qkvMap)))
        .map(headMap(dq, offsetof(Params, cotangentMaps[0])))
        .map(headMap(dk, offsetof(Params, cotangentMaps[1])))
        .map(headMap(dv, offsetof(Params, cotangentMaps[2])));
  } else {
    DType md = qkv.shape.dtype;
    params.du = plan.workspace(int64_t{channels(in)} * in.tokens * 4);
    auto launch = [&](std::string_view function, Dim3 grid) {
      plan.launch("GatedDeltaInputsGrad.cuh", instance(function, {md}), grid, {kThreads}, 0, params);
    };
    uint32_t rows = gridRows(in.tokens);
    launch("gatedDeltaInputsGradActivation", {ceilDiv(heads(in), device::kDeltaInputWarps), rows});
    launch("gatedDeltaInputsGradConvolution", {ceilDiv(channels(in), kThreads), rows});
    launch("gatedDeltaInputsGradWeight", {ceilDiv(weights, kThreads), static_cast<uint32_t>(parts)});
    launch("gatedDeltaGatesGrad", {static_cast<uint32_t>(gateParts)});
  }
  int64_t gateLine = 2 * in.valueHeads;
  planColumnSums({{call.args[kDConvWeight], call.accumulates(kDConvWeight), params.lines, weights, parts},
                  {call.args[kDALog], call.accumulates(kDALog), params.gateLines, gateLine, gateParts},
                  {call.args[kDDtBias], call.accumulates(kDDtBias),
                   params.gateLines + static_cast<DevicePtr>(in.valueHeads) * 4, gateLine, gateParts}},
                 plan);
  return Status();
}

} // namespace qrt::cuda
