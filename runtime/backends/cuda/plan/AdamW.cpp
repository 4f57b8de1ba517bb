// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/AdamW.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {

constexpr uint32_t kThreads = device::kAdamWThreads;

#define QRT_AT(member, place) static_assert(offsetof(Hyperparameters, member) == device::place * sizeof(float))
QRT_AT(learningRate, kLearningRate);
QRT_AT(beta1, kBeta1);
QRT_AT(beta2, kBeta2);
QRT_AT(eps, kEps);
QRT_AT(weightDecay, kWeightDecay);
QRT_AT(clip, kClip);
#undef QRT_AT

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
  for (size_t i = 1; i < members.size(); i += 2)
    if (members[i].i >= int64_t{1} << 32)
      return error(StatusCode::Unsupported, "{}: a member of {} elements: expected less than 2^32",
                   kernelInfo(call.kernel).name, members[i].i);
  std::string function = instance(
      "adamW", {gradient.shape.dtype, weight.shape.dtype, expAvg.shape.dtype, expAvgSq.shape.dtype}, {master ? 1 : 0});
  bool noisy = false;
  for (const Tensor *tensor : {master ? &master : &weight, &expAvg, &expAvgSq})
    noisy = noisy || tensor->shape.dtype == DType::BF16;
  int64_t width = noisy ? device::kAdamWNoisyWidth : device::kAdamWWidth;
  // The members of most packs fit into one launch.
  while (!members.empty()) {
    params.begin = params.end;
    // Below 2^33 elements.
    for (int i = 0; i < device::kAdamWMembers && !members.empty() && params.end - params.begin < int64_t{1} << 32;
         ++i, members = members.subspan(2)) {
      params.end += members[1].i;
      params.member[i] = {members[0].i, params.end};
    }
    // As many blocks as run at once or, so that they end together, several times as many of some length.
    constexpr int64_t kPiecesOfThread = 32;
    int64_t pieces = (params.end + width - 1) / width - params.begin / width;
    int64_t blocks = std::max(int64_t{call.device.multiprocessors} * device::kAdamWBlocks,
                              pieces / (int64_t{kThreads} * kPiecesOfThread));
    plan.launch("AdamW.cuh", function, {std::min(ceilDiv(pieces, kThreads), static_cast<uint32_t>(blocks))}, {kThreads},
                0, params);
  }
  return Status();
}

} // namespace qrt::cuda
