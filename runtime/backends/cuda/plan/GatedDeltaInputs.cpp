// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/GatedDeltaInputs.h"

#include "runtime/backends/cuda/plan/Plans.h"

#include <array>

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

/// Deals the tokens of the gradient of wide heads to blocks. The first have most of the tokens, as many blocks as run
/// at once; shorter ones follow for multiprocessors that are done early, the shortest last. With the three tokens on
/// either side that it also reads, a warp has whole groups. Returns the lines that a head of queries or keys gets, and
/// those of a head of values.
std::array<int64_t, 2> dealTokens(device::GatedDeltaInputsGradParams &params) {
  constexpr int64_t kBlocks = kMultiprocessorsOfSums * device::kDeltaInputGradBlocksOfOne;
  constexpr int64_t kGroup = device::kHeadGroup, kShortTokens = 8 * kGroup - 6, kShortestTokens = 4 * kGroup - 6;
  // Of the tokens of queries and keys, and of values, that the longest blocks have, and that are left to the shortest.
  // Measured on one H200, where shares 10 % lower take 1 to 2 % longer.
  constexpr int64_t kLongPercent[2] = {75, 85}, kShortestPercent = 8;
  const device::DeltaInputs &in = params.in;
  struct Heads {
    int first, count;
    int64_t longParts = 0, dealt = 0, lines = 0;
  } keys{0, 2 * in.keyHeads}, values{2 * in.keyHeads, in.valueHeads};
  // A head of queries or keys takes about 4/3 of the time of one of values; to the nearest.
  int64_t weight = 4 * keys.count + 3 * values.count;
  keys.longParts = std::max<int64_t>((4 * kBlocks + weight / 2) / weight, 1);
  values.longParts = std::max<int64_t>((kBlocks - keys.longParts * keys.count) / values.count, 1);

  int64_t blocks = 0;
  // `tokens` for each warp of `parts` blocks a head.
  auto deal = [&](Heads &heads, int64_t tokens, int64_t parts) {
    if (parts <= 0)
      return;
    params.ranges[params.rangeCount++] = {int32(blocks),      heads.first,   heads.count,
                                          int32(heads.dealt), int32(tokens), int32(heads.lines)};
    blocks += parts * heads.count;
    heads.lines += parts;
    heads.dealt = std::min<int64_t>(heads.dealt + parts * device::kDeltaInputWarps * tokens, in.tokens);
  };
  for (Heads *heads : {&keys, &values}) {
    int64_t ofWarp = in.tokens * kLongPercent[heads == &values] / (100 * heads->longParts * device::kDeltaInputWarps);
    int64_t tokens = std::max((ofWarp + 6 + kGroup / 2) / kGroup * kGroup - 6, kShortTokens);
    deal(*heads, tokens, std::min(heads->longParts, in.tokens / (tokens * device::kDeltaInputWarps)));
  }
  for (Heads *heads : {&keys, &values})
    deal(*heads, kShortTokens,
         (in.tokens * (100 - kShortestPercent) / 100 - heads->dealt) / (kShortTokens * device::kDeltaInputWarps));
  for (Heads *heads : {&keys, &values})
    deal(*heads, kShortestTokens, ceilDiv(in.tokens - heads->dealt, kShortestTokens * device::kDeltaInputWarps));
  params.headBlocks = int32(blocks);
  return {keys.lines, values.lines};
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
  int64_t parts = ceilDiv(in.tokens, device::kDeltaInputGradTokens), gateParts = parts;
  std::array<int64_t, 2> lines = {parts, parts};
  if (wide) {
    lines = dealTokens(params);
    gateParts = ceilDiv(in.tokens, device::kDeltaInputGateTokens);
  }
  params.lines = plan.workspace(std::max(lines[0], lines[1]) * weights * 4);
  params.gateLines = plan.workspace(gateParts * 2 * in.valueHeads * 4);
  if (wide) {
    plan.launch("GatedDeltaInputsGrad.cuh", "gatedDeltaInputsGradWide", {gridExtent(params.headBlocks + gateParts)},
                {kThreads}, device::kDeltaInputGradBytes, params)
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
    launch("gatedDeltaInputsGradWeight", {ceilDiv(weights, kThreads), gridExtent(parts)});
    launch("gatedDeltaGatesGrad", {gridExtent(gateParts)});
  }
  int64_t gateLine = 2 * in.valueHeads, keyChannels = 2 * int64_t{in.keyHeads} * in.dk;
  // The gradient of some channels' taps.
  auto sumOf = [&](int64_t channel, int64_t count, int64_t lineCount) {
    Tensor dweight = call.args[kDConvWeight];
    dweight.shape.dims[0] = count;
    dweight.data += static_cast<DevicePtr>(channel * in.taps * byteSize(dweight.shape.dtype));
    return ColumnSum{dweight, call.accumulates(kDConvWeight),
                     params.lines + static_cast<DevicePtr>(channel * in.taps * 4), weights, lineCount};
  };
  planColumnSums({sumOf(0, keyChannels, lines[0]),
                  sumOf(keyChannels, channels(in) - keyChannels, lines[1]),
                  {call.args[kDALog], call.accumulates(kDALog), params.gateLines, gateLine, gateParts},
                  {call.args[kDDtBias], call.accumulates(kDDtBias),
                   params.gateLines + static_cast<DevicePtr>(in.valueHeads) * 4, gateLine, gateParts}},
                 plan);
  return Status();
}

} // namespace qrt::cuda
