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

/// Whether rows start on 8 bytes: what a lane of the functions for wide heads takes of one.
bool hasHalfVectors(std::initializer_list<const Tensor *> tensors) {
  for (const Tensor *tensor : tensors) {
    const TensorShape &shape = tensor->shape;
    if (tensor->data % 8 != 0)
      return false;
    for (int axis = 0; axis + 1 < shape.rank; ++axis)
      if (shape.dims[axis] > 1 && shape.strides[axis] % 4 != 0)
        return false;
  }
  return true;
}

/// Whether the functions for wide heads take these widths. All of the published sizes have them; others take the
/// general ones.
bool isWide(const Call &call, const device::DeltaInputs &in, std::initializer_list<const Tensor *> tensors) {
  return call.args[1].shape.dtype == DType::BF16 && in.dk == 128 && in.dv == 128 && in.taps == 4 &&
         hasHalfVectors(tensors);
}

} // namespace

Status planGatedDeltaInputs(const Call &call, KernelPlan &plan) {
  const Tensor &qkv = call.args[1], &weight = call.args[4], &q = call.args[7], &k = call.args[8], &v = call.args[9];
  device::GatedDeltaInputsParams params{
      inputsOf(call, q, v), headsOf(q), headsOf(k), headsOf(v), headsOf(call.args[10]), headsOf(call.args[11])};
  uint32_t headBlocks = ceilDiv(heads(params.in), device::kDeltaInputWarps);
  uint32_t tokenBlocks = ceilDiv(params.in.tokens, device::kDeltaInputTokens);
  if (isWide(call, params.in, {&qkv, &weight, &q, &k, &v})) {
    plan.launch("GatedDeltaInputs.cuh", "gatedDeltaInputsWide", {headBlocks + 1, tokenBlocks}, {kThreads}, 0, params);
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
  device::GatedDeltaInputsGradParams params{inputsOf(call, dq, dv),
                                            headsOf(dq),
                                            headsOf(dk),
                                            headsOf(dv),
                                            headsOf(call.args[kDG]),
                                            headsOf(dbeta),
                                            headsOf(dqkv),
                                            headsOf(call.args[kDB]),
                                            headsOf(call.args[kDA]),
                                            0,
                                            0,
                                            0,
                                            int32(byteSize(dbeta.shape.dtype))};
  const device::DeltaInputs &in = params.in;
  int64_t weights = int64_t{channels(in)} * in.taps, line = weights + 2 * in.valueHeads;
  uint32_t blocks = ceilDiv(in.tokens, device::kDeltaInputGradTokens), gateBlocks = ceilDiv(in.valueHeads, 32);
  // Lines start on 16 bytes.
  params.line = (line + 3) / 4 * 4;
  params.lines = plan.workspace(params.line * blocks * 4);
  if (isWide(call, in, {&qkv, &call.args[kConvWeight], &dq, &dk, &dv, &dqkv})) {
    plan.launch("GatedDeltaInputsGrad.cuh", "gatedDeltaInputsGradWide",
                {static_cast<uint32_t>(heads(in)) + gateBlocks, blocks}, {kThreads}, 0, params);
  } else {
    DType md = qkv.shape.dtype;
    params.du = plan.workspace(int64_t{channels(in)} * in.tokens * 4);
    auto launch = [&](std::string_view function, Dim3 grid) {
      plan.launch("GatedDeltaInputsGrad.cuh", instance(function, {md}), grid, {kThreads}, 0, params);
    };
    uint32_t rows = gridRows(in.tokens);
    launch("gatedDeltaInputsGradActivation", {ceilDiv(heads(in), device::kDeltaInputWarps), rows});
    launch("gatedDeltaInputsGradConvolution", {ceilDiv(channels(in), kThreads), rows});
    launch("gatedDeltaInputsGradWeight", {ceilDiv(weights, kThreads), blocks});
    launch("gatedDeltaGatesGrad", {gateBlocks, blocks});
  }
  planColumnSums(params.lines, params.line, blocks,
                 {{call.args[kDConvWeight], call.accumulates(kDConvWeight)},
                  {call.args[kDALog], call.accumulates(kDALog)},
                  {call.args[kDDtBias], call.accumulates(kDDtBias)}},
                 plan);
  return Status();
}

} // namespace qrt::cuda
