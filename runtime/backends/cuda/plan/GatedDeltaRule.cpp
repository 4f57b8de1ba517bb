// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/GatedDelta128.h"
#include "runtime/backends/cuda/plan/Plans.h"
#include "runtime/base/SegmentTable.h"

#include <fmt/format.h>

namespace qrt::cuda {
namespace {

constexpr std::string_view kSource = "GatedDeltaRule.cuh";
static_assert(device::kDeltaChunk == kChunkTokens);
// delta128Order() takes a document's last tile for its last chunk.
static_assert(kChunkTokens == kTileTokens);

/// A call of the rule or of its gradient. The first six arguments of both are the same.
class Planner {
public:
  enum Arg { kDocs, kQ, kK, kV, kG, kBeta };

  Planner(const Call &call, KernelPlan &plan)
      : call_(call), plan_(plan), chunks_(SegmentLayout{call.bucket}.maxChunks()), tokens_(call.bucket.tokens),
        keyHeads_(call.args[kQ].dim(1)), valueHeads_(call.args[kV].dim(1)), dk_(call.args[kQ].dim(2)),
        dv_(call.args[kV].dim(2)), type_(call.args[kQ].shape.dtype), shape_{segmentsOf(call, kDocs),
                                                                            int32(keyHeads_),
                                                                            int32(valueHeads_),
                                                                            int32(dk_),
                                                                            int32(dv_),
                                                                            static_cast<float>(call.params[0].f)} {}

  Status checkWidths() const {
    for (int arg : {kQ, kV})
      if (call_.args[static_cast<size_t>(arg)].dim(2) > 256)
        return unsupported(call_, arg, 2, "256 or less");
    if (valueHeads_ > 65535)
      return unsupported(call_, kV, 1, "65535 or less");
    return Status();
  }

  void prepare(const Tensor &inverseIn, const Tensor &inverseOut) {
    int64_t matrices = chunks_ * valueHeads_ * kChunkTokens;
    workspace_.gates = floats(matrices * device::kDeltaGates);
    workspace_.inverse = floats(matrices * kChunkTokens);
    workspace_.scores = floats(matrices * kChunkTokens);
    device::DeltaPrepareParams params{shape_,
                                      workspace_,
                                      headsOf(call_.args[kQ]),
                                      headsOf(call_.args[kK]),
                                      headsOf(call_.args[kG]),
                                      headsOf(call_.args[kBeta]),
                                      headsOf(inverseIn),
                                      headsOf(inverseOut)};
    launch(instance("gatedDeltaPrepare", {type_, call_.args[kBeta].shape.dtype}), chunkGrid(),
           device::kDeltaPrepareFloats, params);
  }

  void scan(const Tensor &out) {
    device::DeltaScanParams params{
        shape_, workspace_, headsOf(call_.args[kQ]), headsOf(call_.args[kK]), headsOf(call_.args[kV]), headsOf(out)};
    launch(instance("gatedDeltaScan", {type_}), documentGrid(), device::deltaScanFloats(int32(dk_)), params);
  }

  void gradient(const Tensor &dOut, const Tensor &dQ, const Tensor &dK, const Tensor &dV, const Tensor &dG,
                const Tensor &dBeta) {
    int64_t rows = tokens_ * valueHeads_;
    workspace_.states = floats(chunks_ * valueHeads_ * dk_ * dv_);
    workspace_.values = floats(rows * dv_);
    workspace_.residuals = floats(rows * dv_);
    scan(Tensor());
    workspace_.stateGradients = floats(chunks_ * valueHeads_ * dk_ * dv_);
    workspace_.dX = floats(rows * dv_);
    device::HeadTensor q = headsOf(call_.args[kQ]), k = headsOf(call_.args[kK]);
    launch(instance("gatedDeltaScanBack", {type_}), documentGrid(), device::deltaScanFloats(int32(dk_)),
           device::DeltaScanBackParams{shape_, workspace_, q, k, headsOf(dOut), headsOf(dV)});
    workspace_.dQ = floats(rows * dk_);
    workspace_.dK = floats(rows * dk_);
    launch(instance("gatedDeltaGrad", {type_, dBeta.shape.dtype}), chunkGrid(), device::deltaGradFloats(int32(dk_)),
           device::DeltaGradParams{shape_, workspace_, q, k, headsOf(dOut), headsOf(dG), headsOf(dBeta)});
    launch(instance("gatedDeltaReduce", {type_}), {static_cast<uint32_t>(std::min<int64_t>(tokens_, 4096))}, 0,
           device::DeltaReduceParams{shape_, workspace_, headsOf(dQ), headsOf(dK)});
  }

private:
  DevicePtr floats(int64_t count) { return plan_.workspace(count * 4); }
  Dim3 chunkGrid() const { return {gridExtent(chunks_), gridExtent(valueHeads_)}; }
  Dim3 documentGrid() const {
    return {gridExtent(call_.bucket.documents), gridExtent(valueHeads_), ceilDiv(dv_, device::kDeltaSlice)};
  }
  template <typename Params> void launch(std::string function, Dim3 grid, int64_t floats, const Params &params) {
    plan_.launch(kSource, std::move(function), grid, {device::kDeltaThreads}, static_cast<uint32_t>(floats * 4),
                 params);
  }

  const Call &call_;
  KernelPlan &plan_;
  int64_t chunks_, tokens_, keyHeads_, valueHeads_, dk_, dv_;
  DType type_;
  device::DeltaShape shape_;
  device::DeltaWorkspace workspace_ = {};
};

/// bf16 heads of 128 and 128: see device/GatedDelta128.cuh.
class Planner128 {
public:
  enum Arg { kDocs, kQ, kK, kV, kG, kBeta };

  static bool takes(const Call &call) {
    return call.args[kQ].shape.dtype == DType::BF16 && call.args[kQ].dim(2) == 128 && call.args[kV].dim(2) == 128;
  }

  Planner128(const Call &call, KernelPlan &plan)
      : call_(call), plan_(plan), chunks_(SegmentLayout{call.bucket}.maxChunks()), keyHeads_(call.args[kQ].dim(1)),
        valueHeads_(call.args[kV].dim(1)), halves_(call.bucket.documents > 2 ? 2 : 1),
        shape_{segmentsOf(call, kDocs),
               int32(keyHeads_),
               int32(valueHeads_),
               128,
               128,
               static_cast<float>(call.params[0].f)} {}

  Status check() const {
    for (const Tensor &tensor : call_.args)
      if (tensor.shape.rank == 3 && tensor.dim(2) == 128)
        QRT_RETURN_IF_ERROR(requireVectors(call_, tensor));
    for (int arg : {kQ, kV})
      if (call_.args[static_cast<size_t>(arg)].dim(1) > 65535)
        return unsupported(call_, arg, 1, "65535 or less");
    return Status();
  }

  /// `outputs`: where rows past the documents are to be zero.
  void prepare(const Tensor &inverse, std::span<const Tensor> outputs) {
    workspace_.order = plan_.workspace(call_.bucket.documents * 16);
    workspace_.chunks = plan_.workspace(chunks_ * valueHeads_ * device::kDelta128ChunkBytes);
    device::Delta128PrepareParams params{};
    params.shape = shape_;
    params.workspace = workspace_;
    params.g = headsOf(call_.args[kG]);
    params.beta = headsOf(call_.args[kBeta]);
    params.inverse = headsOf(inverse);
    for (const Tensor &output : outputs)
      if (output)
        params.tails[params.tailCount++] = {headsOf(output), int32(output.dim(1)),
                                            output.shape.rank == 3 ? int32(output.dim(2)) : 1,
                                            static_cast<int>(byteSize(output.shape.dtype)), 0};
    assert(params.tailCount <= device::kDeltaTails);
    params.heads = int32(valueHeads_ / keyHeads_);
    plan_
        .launch("GatedDelta128Prepare.cuh", instance("gatedDelta128Prepare", {call_.args[kBeta].shape.dtype}),
                chunkGrid(2), {device::kDelta128PrepareThreads}, device::kDelta128PrepareBytes, params)
        .map(headMap(call_.args[kQ], offsetof(device::Delta128PrepareParams, q)))
        .map(headMap(call_.args[kK], offsetof(device::Delta128PrepareParams, k)));
  }

  void scan(const Tensor &out) {
    if (!out) {
      workspace_.states = plan_.workspace(chunks_ * valueHeads_ * device::kDelta128StateBytes);
      workspace_.values = plan_.workspace(chunks_ * valueHeads_ * device::kDelta128ValueBytes);
    }
    device::Delta128ScanParams params{};
    params.shape = shape_;
    params.workspace = workspace_;
    params.out = headsOf(out);
    bool makesOut = static_cast<bool>(out);
    plan_
        .launch("GatedDelta128Scan.cuh", instance("gatedDelta128Scan", {}, {halves_, makesOut}), scanGrid(),
                {scanThreads()}, static_cast<uint32_t>(device::delta128ScanBytes(int32(halves_), makesOut)), params)
        .map(headMap(call_.args[kQ], offsetof(device::Delta128ScanParams, q)))
        .map(headMap(call_.args[kK], offsetof(device::Delta128ScanParams, k)))
        .map(headMap(call_.args[kV], offsetof(device::Delta128ScanParams, v)));
  }

  void scanBack(const Tensor &dOut, const Tensor &dV) {
    workspace_.stateGradients = plan_.workspace(chunks_ * valueHeads_ * device::kDelta128StateBytes);
    device::Delta128ScanBackParams params{};
    params.shape = shape_;
    params.workspace = workspace_;
    params.dV = headsOf(dV);
    plan_
        .launch("GatedDelta128ScanBack.cuh", instance("gatedDelta128ScanBack", {}, {halves_}), scanGrid(),
                {scanThreads()}, static_cast<uint32_t>(device::delta128ScanBackBytes(int32(halves_))), params)
        .map(headMap(call_.args[kQ], offsetof(device::Delta128ScanBackParams, q)))
        .map(headMap(call_.args[kK], offsetof(device::Delta128ScanBackParams, k)))
        .map(headMap(dOut, offsetof(device::Delta128ScanBackParams, dOut)));
  }

  void gradient(const Tensor &dOut, const Tensor &dV, const Tensor &dQ, const Tensor &dK, const Tensor &dG,
                const Tensor &dBeta) {
    device::Delta128GradParams params{};
    params.shape = shape_;
    params.workspace = workspace_;
    params.dQ = headsOf(dQ);
    params.dK = headsOf(dK);
    params.dG = headsOf(dG);
    params.dBeta = headsOf(dBeta);
    params.heads = int32(valueHeads_ / keyHeads_);
    plan_
        .launch("GatedDelta128Grad.cuh", instance("gatedDelta128Grad", {dBeta.shape.dtype}), chunkGrid(1),
                {device::kDelta128GradThreads}, device::kDelta128GradBytes, params)
        .map(headMap(call_.args[kQ], offsetof(device::Delta128GradParams, q)))
        .map(headMap(call_.args[kK], offsetof(device::Delta128GradParams, k)))
        .map(headMap(dOut, offsetof(device::Delta128GradParams, dOut)))
        .map(headMap(dV, offsetof(device::Delta128GradParams, dV)));
  }

private:
  /// Boxes of 64 tokens, one head and 64 columns.
  static TensorMapSpec headMap(const Tensor &tensor, size_t offset) {
    TensorMapSpec map;
    map.paramOffset = static_cast<uint32_t>(offset);
    map.base = tensor.data;
    map.rank = 3;
    map.dims = {128, static_cast<uint64_t>(tensor.dim(1)), static_cast<uint64_t>(tensor.dim(0))};
    // The stride of a dimension of 1 says nothing, but must still be a possible one.
    auto bytes = [&](int axis) { return static_cast<uint64_t>(tensor.dim(axis) > 1 ? tensor.stride(axis) * 2 : 256); };
    map.strides = {bytes(1), bytes(0)};
    map.box = {64, 1, 64};
    return map;
  }
  /// A block a key head and chunk, or as many as fit with `blocks` on each multiprocessor.
  Dim3 chunkGrid(int64_t blocks) const {
    int64_t perHead = std::clamp<int64_t>(blocks * call_.device.multiprocessors / keyHeads_, 1, chunks_);
    return {static_cast<uint32_t>(keyHeads_), static_cast<uint32_t>(perHead)};
  }
  /// A block a value head (or half of it) and document. Where a bucket has room for many documents, a block takes one
  /// behind the other: most of them may be empty, and a block that only finds that out takes its time too.
  Dim3 scanGrid() const {
    constexpr int64_t kBlocksAMultiprocessor = 6;
    int64_t blocks = valueHeads_ * (2 / halves_);
    int64_t documents =
        std::clamp<int64_t>(kBlocksAMultiprocessor * call_.device.multiprocessors / blocks, 1, call_.bucket.documents);
    return {static_cast<uint32_t>(blocks), static_cast<uint32_t>(documents)};
  }
  uint32_t scanThreads() const { return static_cast<uint32_t>(device::delta128ScanThreads(int32(halves_))); }

  const Call &call_;
  KernelPlan &plan_;
  int64_t chunks_, keyHeads_, valueHeads_;
  /// Halves of dv that a block of the scans takes: both where there are documents enough to fill the GPU.
  int64_t halves_;
  device::DeltaShape shape_;
  device::Delta128Workspace workspace_ = {};
};

} // namespace

Status planGatedDeltaRule(const Call &call, KernelPlan &plan) {
  enum Arg { kOut = 6, kInverse };
  if (Planner128::takes(call)) {
    Planner128 planner(call, plan);
    QRT_RETURN_IF_ERROR(planner.check());
    planner.prepare(call.args[kInverse], std::array{call.args[kOut], call.args[kInverse]});
    planner.scan(call.args[kOut]);
    return Status();
  }
  Planner planner(call, plan);
  QRT_RETURN_IF_ERROR(planner.checkWidths());
  planner.prepare(Tensor(), call.args[kInverse]);
  planner.scan(call.args[kOut]);
  return Status();
}

Status planGatedDeltaRuleGrad(const Call &call, KernelPlan &plan) {
  enum Arg { kInverse = 6, kDOut, kDQ, kDK, kDV, kDG, kDBeta };
  if (Planner128::takes(call)) {
    Planner128 planner(call, plan);
    QRT_RETURN_IF_ERROR(planner.check());
    // Making the inverse again costs less than its bytes.
    if (call.args[kInverse])
      plan.ignore(kInverse);
    planner.prepare(Tensor(), call.args.subspan(kDQ, 5));
    planner.scan(Tensor());
    planner.scanBack(call.args[kDOut], call.args[kDV]);
    planner.gradient(call.args[kDOut], call.args[kDV], call.args[kDQ], call.args[kDK], call.args[kDG],
                     call.args[kDBeta]);
    return Status();
  }
  Planner planner(call, plan);
  QRT_RETURN_IF_ERROR(planner.checkWidths());
  planner.prepare(call.args[kInverse], Tensor());
  planner.gradient(call.args[kDOut], call.args[kDQ], call.args[kDK], call.args[kDV], call.args[kDG], call.args[kDBeta]);
  return Status();
}

} // namespace qrt::cuda
