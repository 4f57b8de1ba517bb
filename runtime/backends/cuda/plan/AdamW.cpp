// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/AdamW.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {

constexpr uint32_t kThreads = 256; // kAdamWThreads
/// Blocks that a multiprocessor holds at once: kAdamWBlocks.
constexpr uint32_t kBlocks = 2;

Status planOptimizerStep(const Call &call, KernelPlan &plan) {
  device::OptimizerStepParams params{call.args[0].data, call.args[1].data};
  plan.launch("AdamW.cuh", "optimizerStep", {1}, {1}, 0, params);
  return Status();
}

Status planAdamW(const Call &call, KernelPlan &plan) {
  const Tensor &gradient = call.args[0], &weight = call.args[5], &expAvg = call.args[6], &expAvgSq = call.args[7],
               &master = call.args[8];
  for (const Tensor *tensor : {&gradient, &weight, &expAvg, &expAvgSq, &master})
    QRT_RETURN_IF_ERROR(requireAligned(call, *tensor));
  device::AdamWParams params{};
  params.gradient = gradient.data;
  params.norm = call.args[1].data;
  params.counters = call.args[2].data;
  params.hyper = call.args[3].data;
  params.seed = call.args[4].data;
  params.weight = weight.data;
  params.expAvg = expAvg.data;
  params.expAvgSq = expAvgSq.data;
  params.master = master.data;
  params.decays = int32(call.params[0].i);
  std::span<const ParamValue> members = call.params.subspan(1);
  std::string function = instance(
      "adamW", {gradient.shape.dtype, weight.shape.dtype, expAvg.shape.dtype, expAvgSq.shape.dtype}, {master ? 1 : 0});
  // The members of most packs fit into one launch.
  while (!members.empty()) {
    params.begin = params.end;
    for (int i = 0; i < device::kAdamWMembers && !members.empty(); ++i, members = members.subspan(2)) {
      params.end += members[1].i;
      params.member[i] = {members[0].i, params.end};
    }
    int64_t vectors = (params.end + 7) / 8 - params.begin / 8;
    uint32_t most = static_cast<uint32_t>(call.device.multiprocessors) * kBlocks;
    plan.launch("AdamW.cuh", function, {std::min(ceilDiv(vectors, kThreads), most)}, {kThreads}, 0, params);
  }
  return Status();
}

} // namespace qrt::cuda
