// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/GatedDeltaRule.h"

#include "runtime/backends/cuda/plan/Plans.h"
#include "runtime/base/SegmentTable.h"

#include <fmt/format.h>

namespace qrt::cuda {
namespace {

// As in device/GatedDeltaRule.cuh.
constexpr uint32_t kThreads = 256;
constexpr int64_t kPitch = kChunkTokens + 1, kSlice = 32;
constexpr int64_t kPrepareFloats = (device::kDeltaGates + 2 * kPitch) * kChunkTokens;
constexpr std::string_view kSource = "GatedDeltaRule.cuh";

constexpr int64_t scanFloats(int64_t dk) {
  return dk * kSlice + 2 * kChunkTokens * (kSlice + 1) + device::kDeltaGates * kChunkTokens;
}
constexpr int64_t gradFloats(int64_t dk) {
  return 4 * kChunkTokens * kPitch + kChunkTokens * (dk + 1) + (device::kDeltaGates + 3) * kChunkTokens + kThreads / 32;
}
constexpr uint32_t floatBytes(int64_t floats) { return static_cast<uint32_t>(floats * 4); }

/// [T, heads, width] or [T, heads].
device::DeltaRows rowsOf(const Tensor &tensor) {
  if (!tensor)
    return {};
  return {tensor.data, tensor.stride(0), tensor.shape.rank == 3 ? tensor.stride(1) : 1};
}

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
                                      rowsOf(call_.args[kQ]),
                                      rowsOf(call_.args[kK]),
                                      rowsOf(call_.args[kG]),
                                      rowsOf(call_.args[kBeta]),
                                      rowsOf(inverseIn),
                                      rowsOf(inverseOut)};
    launch(instance("gatedDeltaPrepare", {type_, call_.args[kBeta].shape.dtype}), chunkGrid(), kPrepareFloats, params);
  }

  void scan(const Tensor &out) {
    device::DeltaScanParams params{
        shape_, workspace_, rowsOf(call_.args[kQ]), rowsOf(call_.args[kK]), rowsOf(call_.args[kV]), rowsOf(out)};
    launch(instance("gatedDeltaScan", {type_}), documentGrid(), scanFloats(dk_), params);
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
    device::DeltaRows q = rowsOf(call_.args[kQ]), k = rowsOf(call_.args[kK]);
    launch(instance("gatedDeltaScanBack", {type_}), documentGrid(), scanFloats(dk_),
           device::DeltaScanBackParams{shape_, workspace_, q, k, rowsOf(dOut), rowsOf(dV)});
    workspace_.dQ = floats(rows * dk_);
    workspace_.dK = floats(rows * dk_);
    launch(instance("gatedDeltaGrad", {type_, dBeta.shape.dtype}), chunkGrid(), gradFloats(dk_),
           device::DeltaGradParams{shape_, workspace_, q, k, rowsOf(dOut), rowsOf(dG), rowsOf(dBeta)});
    launch(instance("gatedDeltaReduce", {type_}), {static_cast<uint32_t>(std::min<int64_t>(tokens_, 4096))}, 0,
           device::DeltaReduceParams{shape_, workspace_, rowsOf(dQ), rowsOf(dK)});
  }

private:
  DevicePtr floats(int64_t count) { return plan_.workspace(count * 4); }
  Dim3 chunkGrid() const { return {static_cast<uint32_t>(chunks_), static_cast<uint32_t>(valueHeads_)}; }
  Dim3 documentGrid() const {
    return {static_cast<uint32_t>(call_.bucket.documents), static_cast<uint32_t>(valueHeads_), ceilDiv(dv_, kSlice)};
  }
  template <typename Params> void launch(std::string function, Dim3 grid, int64_t floats, const Params &params) {
    plan_.launch(kSource, std::move(function), grid, {kThreads}, floatBytes(floats), params);
  }

  const Call &call_;
  KernelPlan &plan_;
  int64_t chunks_, tokens_, keyHeads_, valueHeads_, dk_, dv_;
  DType type_;
  device::DeltaShape shape_;
  device::DeltaWorkspace workspace_ = {};
};

} // namespace

Status planGatedDeltaRule(const Call &call, KernelPlan &plan) {
  enum Arg { kOut = 6, kInverse };
  Planner planner(call, plan);
  QRT_RETURN_IF_ERROR(planner.checkWidths());
  planner.prepare(Tensor(), call.args[kInverse]);
  planner.scan(call.args[kOut]);
  return Status();
}

Status planGatedDeltaRuleGrad(const Call &call, KernelPlan &plan) {
  enum Arg { kInverse = 6, kDOut, kDQ, kDK, kDV, kDG, kDBeta };
  Planner planner(call, plan);
  QRT_RETURN_IF_ERROR(planner.checkWidths());
  planner.prepare(call.args[kInverse], Tensor());
  planner.gradient(call.args[kDOut], call.args[kDQ], call.args[kDK], call.args[kDV], call.args[kDG], call.args[kDBeta]);
  return Status();
}

} // namespace qrt::cuda
