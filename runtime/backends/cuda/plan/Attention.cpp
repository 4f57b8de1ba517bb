// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/Attention.h"

#include "runtime/backends/cuda/plan/Plans.h"
#include "runtime/base/SegmentTable.h"

#include <numbers>

namespace qrt::cuda {
namespace {

constexpr uint32_t kThreads = device::kAttentionThreads, kBlock = device::kAttentionBlock;
constexpr int64_t kTile = device::kAttentionTile;
static_assert(kTile == kTileTokens);

/// The compiled width that takes heads of this one.
int64_t compiledWidth(int64_t width) { return width <= 64 ? 64 : width <= 128 ? 128 : 256; }

/// Blocks for `heads` heads of every tile that the bucket can have, and one more for the tail.
Dim3 tileGrid(const device::Segments &docs, int64_t heads) {
  return {gridExtent((docs.maxTiles + int64_t{1}) * heads)};
}

/// A block a multiprocessor, for a tile and two query heads of a key head at a time (PairItem).
Dim3 itemGrid(const device::Segments &docs, int64_t keyHeads, int ratio, int multiprocessors) {
  int64_t items = docs.maxTiles * keyHeads * ((ratio + 1) / 2);
  return {static_cast<uint32_t>(std::clamp<int64_t>(items, 1, multiprocessors))};
}

/// Keys of a tile of the fast forward pass.
constexpr int forwardKeys(int64_t width) { return width == 256 ? 80 : 128; }

/// use(width) of one of the compiled widths, as a constant.
template <typename Use> auto forWidth(int64_t width, Use use) {
  return width == 64    ? use(std::integral_constant<int, 64>())
         : width == 128 ? use(std::integral_constant<int, 128>())
                        : use(std::integral_constant<int, 256>());
}

/// Whether the kernels on tensor cores take it. They read and write whole vectors.
bool isFast(const Call &call, int arg) {
  const Tensor &q = call.args[static_cast<size_t>(arg)];
  int64_t width = q.dim(2);
  return q.shape.dtype == DType::BF16 && (width == 64 || width == 128 || width == 256) && call.params[0].f > 0;
}

Status requireVectors(const Call &call, std::initializer_list<int> args) {
  for (int arg : args)
    QRT_RETURN_IF_ERROR(requireVectors(call, call.args[static_cast<size_t>(arg)]));
  return Status();
}

/// Boxes of 64 columns of one head and of `rows` tokens.
TensorMapSpec boxesOf(const device::HeadTensor &x, int64_t tokens, int64_t heads, int64_t width, int64_t rows,
                      size_t paramOffset) {
  TensorMapSpec map;
  map.paramOffset = static_cast<uint32_t>(paramOffset);
  map.base = x.data;
  map.rank = 3;
  map.dims = {static_cast<uint64_t>(width), static_cast<uint64_t>(heads), static_cast<uint64_t>(tokens)};
  map.strides = {static_cast<uint64_t>(x.head) * 2, static_cast<uint64_t>(x.row) * 2};
  map.box = {64, 1, static_cast<uint32_t>(rows)};
  return map;
}

Status checkWidth(const Call &call, int arg) {
  return call.args[static_cast<size_t>(arg)].dim(2) <= 256 ? Status() : unsupported(call, arg, 2, "at most 256");
}

void launchForward(KernelPlan &plan, int multiprocessors, const device::AttentionParams &p, DType dtype, bool fast) {
  if (!fast) {
    int64_t width = compiledWidth(p.width);
    int floats = forWidth(width, [](auto width) { return device::attentionSharedFloats<width>(); });
    plan.launch("Attention.cuh", instance("attention", {dtype}, {width}), tileGrid(p.docs, p.heads), {kThreads},
                static_cast<uint32_t>(floats * 4), p);
    return;
  }
  using Params = device::AttentionForwardParams;
  int64_t keys = forwardKeys(p.width), keyHeads = p.heads / p.ratio, tokens = p.docs.tokens;
  Params params{{},     {}, {}, {}, p.docs, p.y, p.o, p.lse, static_cast<int>(keyHeads), p.ratio, p.gate.data != 0,
                p.scale};
  auto shared = forWidth(p.width, [](auto width) { return device::ForwardShared<width, forwardKeys(width)>::kBytes; });
  DeviceLaunch &launch = plan.launch("AttentionForward.cuh", instance("attentionForward", {}, {p.width, keys}),
                                     itemGrid(p.docs, keyHeads, p.ratio, multiprocessors), {kBlock},
                                     static_cast<uint32_t>(shared), params);
  launch.map(boxesOf(p.q, tokens, p.heads, p.width, kTile, offsetof(Params, q)))
      .map(boxesOf(p.k, tokens, keyHeads, p.width, keys, offsetof(Params, k)))
      .map(boxesOf(p.v, tokens, keyHeads, p.width, keys, offsetof(Params, v)));
  if (p.gate.data)
    launch.map(boxesOf(p.gate, tokens, p.heads, p.width, kTile, offsetof(Params, gate)));
}

/// The second and third pass on tensor cores.
void launchBackward(KernelPlan &plan, int multiprocessors, const device::AttentionGradParams &p) {
  using Params = device::AttentionBackwardParams;
  int keyHeads = p.heads / p.ratio;
  Params params{{},           {},
                {},           {},
                p.docs,       p.dq,
                p.dk,         p.dv,
                p.statistics, p.statisticsRows,
                keyHeads,     p.ratio,
                p.scale,      p.scale * std::numbers::log2e_v<float>};
  int64_t tokens = p.docs.tokens;
  auto launch = [&](std::string_view function, Dim3 grid, int shared) {
    plan.launch("AttentionBackward.cuh", instance(function, {}, {p.width}), grid, {kBlock},
                static_cast<uint32_t>(shared), params)
        .map(boxesOf(p.q, tokens, p.heads, p.width, kTile, offsetof(Params, q)))
        .map(boxesOf(p.k, tokens, keyHeads, p.width, kTile, offsetof(Params, k)))
        .map(boxesOf(p.v, tokens, keyHeads, p.width, kTile, offsetof(Params, v)))
        .map(boxesOf(p.dO, tokens, p.heads, p.width, kTile, offsetof(Params, dO)));
  };
  launch("attentionBackwardKeys", tileGrid(p.docs, keyHeads),
         forWidth(p.width, [](auto width) { return device::BackwardKeysShared<width>::kBytes; }));
  launch("attentionBackwardQueries", itemGrid(p.docs, keyHeads, p.ratio, multiprocessors),
         forWidth(p.width, [](auto width) { return device::BackwardQueriesShared<width>::kBytes; }));
}

} // namespace

Status planAttention(const Call &call, KernelPlan &plan) {
  enum { kDocs, kQ, kK, kV, kGate, kY, kLse, kO };
  const Tensor &q = call.args[kQ];
  QRT_RETURN_IF_ERROR(checkWidth(call, kQ));
  device::AttentionParams params{segmentsOf(call, kDocs),   headsOf(q),
                                 headsOf(call.args[kK]),    headsOf(call.args[kV]),
                                 headsOf(call.args[kGate]), headsOf(call.args[kY]),
                                 headsOf(call.args[kO]),    headsOf(call.args[kLse]),
                                 int32(q.dim(1)),           int32(q.dim(1) / call.args[kK].dim(1)),
                                 int32(q.dim(2)),           static_cast<float>(call.params[0].f)};
  bool fast = isFast(call, kQ);
  if (fast)
    QRT_RETURN_IF_ERROR(requireVectors(call, {kQ, kK, kV, kGate, kY, kO}));
  launchForward(plan, call.device.multiprocessors, params, q.shape.dtype, fast);
  return Status();
}

Status planAttentionGrad(const Call &call, KernelPlan &plan) {
  enum { kDocs, kQ, kK, kV, kGate, kLse, kO, kDY, kDQ, kDK, kDV, kDGate };
  const Tensor &q = call.args[kQ];
  DType dtype = q.shape.dtype;
  QRT_RETURN_IF_ERROR(checkWidth(call, kQ));
  bool fast = isFast(call, kQ);
  if (fast)
    QRT_RETURN_IF_ERROR(requireVectors(call, {kQ, kK, kV, kGate, kO, kDY, kDQ, kDK, kDV, kDGate}));
  device::Segments docs = segmentsOf(call, kDocs);
  int heads = int32(q.dim(1)), ratio = int32(q.dim(1) / call.args[kK].dim(1)), width = int32(q.dim(2));
  auto scale = static_cast<float>(call.params[0].f);
  auto temporary = [&](DType type, int64_t inner) {
    DevicePtr data = plan.workspace(q.dim(0) * heads * inner * byteSize(type));
    return device::HeadTensor{data, heads * inner, inner};
  };

  device::HeadTensor lse = headsOf(call.args[kLse]), o = headsOf(call.args[kO]);
  if (!call.args[kLse] || !call.args[kO]) {
    lse = temporary(DType::F32, 1);
    o = temporary(dtype, width);
    launchForward(
        plan, call.device.multiprocessors,
        {docs, headsOf(q), headsOf(call.args[kK]), headsOf(call.args[kV]), {}, o, {}, lse, heads, ratio, width, scale},
        dtype, fast);
  }

  int rows = device::statisticsRows(docs);
  DevicePtr statistics = plan.workspace(int64_t{heads} * rows * static_cast<int64_t>(sizeof(device::QueryStatistics)));
  device::HeadTensor gate = headsOf(call.args[kGate]), dy = headsOf(call.args[kDY]);
  device::HeadTensor dO = call.args[kGate] ? temporary(dtype, width) : dy;
  device::AttentionGradRowsParams rowsParams{docs,       gate, lse,   o,    dy, dO, headsOf(call.args[kDGate]),
                                             statistics, rows, heads, width};
  device::AttentionGradParams params{docs,
                                     headsOf(q),
                                     headsOf(call.args[kK]),
                                     headsOf(call.args[kV]),
                                     dO,
                                     headsOf(call.args[kDQ]),
                                     headsOf(call.args[kDK]),
                                     headsOf(call.args[kDV]),
                                     statistics,
                                     rows,
                                     heads,
                                     ratio,
                                     width,
                                     scale};
  if (fast) {
    plan.launch("AttentionBackward.cuh", instance("attentionBackwardRows", {}, {width}),
                {ceilDiv(q.dim(0) * heads * (width / 8), kThreads)}, {kThreads}, 0, rowsParams);
    launchBackward(plan, call.device.multiprocessors, params);
    return Status();
  }
  plan.launch("Attention.cuh", instance("attentionGradRows", {dtype}), {ceilDiv(q.dim(0) * heads, kThreads / 32)},
              {kThreads}, 0, rowsParams);

  int64_t compiled = compiledWidth(width);
  int floats = forWidth(compiled, [](auto width) { return device::attentionGradSharedFloats<width>(); });
  auto shared = static_cast<uint32_t>(floats * 4);
  plan.launch("Attention.cuh", instance("attentionGradKeys", {dtype}, {compiled}), tileGrid(docs, heads / ratio),
              {kThreads}, shared, params);
  plan.launch("Attention.cuh", instance("attentionGradQueries", {dtype}, {compiled}), tileGrid(docs, heads), {kThreads},
              shared, params);
  return Status();
}

} // namespace qrt::cuda
