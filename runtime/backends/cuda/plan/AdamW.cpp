// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/AdamW.h"

#include "runtime/backends/cuda/plan/Plans.h"

#include <algorithm>
#include <iterator>

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

namespace {

enum Arg { kGradient, kNorm, kCounters, kHyper, kSeed, kWeight, kExpAvg, kExpAvgSq, kMaster };

/// Collects members and launches what one launch takes.
class Updates {
public:
  /// `call`: whose types and scalars all calls have.
  Updates(const Call &call, KernelPlan &plan) : call_(call), plan_(plan) {
    params_.norm = call.args[kNorm].data;
    params_.counters = call.args[kCounters].data;
    params_.hyper = call.args[kHyper].data;
    params_.seed = call.args[kSeed].data;
    const Tensor &master = call.args[kMaster];
    bool noisy = false;
    for (const Tensor *tensor : {master ? &master : &call.args[kWeight], &call.args[kExpAvg], &call.args[kExpAvgSq]})
      noisy = noisy || tensor->shape.dtype == DType::BF16;
    width_ = noisy ? device::kAdamWNoisyWidth : device::kAdamWWidth;
  }

  /// Elements [begin, begin + elements) of the tensors of `call`.
  void add(const Call &call, int64_t key, int64_t begin, int64_t elements) {
    int64_t pieces = (elements + width_ - 1) / width_;
    // Piece numbers, and one stride of a grid beyond the last, are below 2^32.
    constexpr int64_t kMostPieces = int64_t{1} << 31;
    if (count_ == device::kAdamWMembers || (count_ > 0 && params_.pieces + pieces > kMostPieces))
      launch();
    bool aligned = true;
    auto at = [&](Arg arg) -> DevicePtr {
      const Tensor &tensor = call.args[arg];
      if (!tensor)
        return 0;
      DevicePtr data = tensor.data + static_cast<DevicePtr>(begin * byteSize(tensor.shape.dtype));
      aligned = aligned && data % 16 == 0;
      return data;
    };
    device::AdamWMember &member = params_.member[count_++];
    member = {at(kGradient), at(kWeight), at(kExpAvg), at(kExpAvgSq), at(kMaster), key, 0, 0, 0, 0};
    member.elements = static_cast<unsigned>(elements);
    params_.pieces += static_cast<unsigned>(pieces);
    member.endPiece = params_.pieces;
    member.decays = call.params[0].i != 0;
    member.aligned = aligned;
  }

  void launch() {
    if (params_.pieces > 0) {
      auto type = [&](Arg arg) { return call_.args[arg].shape.dtype; };
      // As many blocks as run at once or, so that they end together, several times as many of some length.
      constexpr int64_t kPiecesOfThread = 32;
      int64_t pieces = params_.pieces;
      int64_t blocks = std::max(int64_t{call_.device.multiprocessors} * device::kAdamWBlocks,
                                pieces / (int64_t{kThreads} * kPiecesOfThread));
      plan_.launch("AdamW.cuh",
                   instance("adamW", {type(kGradient), type(kWeight), type(kExpAvg), type(kExpAvgSq)},
                            {call_.args[kMaster] ? 1 : 0}),
                   {std::min(ceilDiv(pieces, kThreads), static_cast<uint32_t>(blocks))}, {kThreads}, 0, params_);
    }
    count_ = 0;
    params_.pieces = 0;
  }

private:
  const Call &call_;
  KernelPlan &plan_;
  device::AdamWParams params_{};
  int count_ = 0;
  int64_t width_;
};

/// Where a tensor lies; those of adamw have no gaps.
std::pair<DevicePtr, DevicePtr> rangeOf(const Tensor &tensor) {
  return {tensor.data, tensor.data + static_cast<DevicePtr>(tensor.shape.elements() * byteSize(tensor.shape.dtype))};
}

/// Whether two calls may share a launch but for what they write.
bool haveSameScalarsAndTypes(const Call &a, const Call &b) {
  for (Arg arg : {kNorm, kCounters, kHyper, kSeed})
    if (a.args[arg].data != b.args[arg].data)
      return false;
  for (Arg arg : {kGradient, kWeight, kExpAvg, kExpAvgSq})
    if (a.args[arg].shape.dtype != b.args[arg].shape.dtype)
      return false;
  return static_cast<bool>(a.args[kMaster]) == static_cast<bool>(b.args[kMaster]);
}

constexpr Arg kWritten[] = {kWeight, kExpAvg, kExpAvgSq, kMaster};

} // namespace

void UpdateGroup::Addresses::add(const Tensor &tensor) {
  if (!tensor)
    return;
  auto [begin, end] = rangeOf(tensor);
  // Ranges that it overlaps become one with it.
  auto next = ends_.lower_bound(end);
  while (next != ends_.begin() && std::prev(next)->second > begin) {
    --next;
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_[begin] = end;
}

bool UpdateGroup::Addresses::intersects(const Tensor &tensor) const {
  if (!tensor)
    return false;
  auto [begin, end] = rangeOf(tensor);
  // Of the ranges that begin before it ends, the last ends last.
  auto next = ends_.lower_bound(end);
  return next != ends_.begin() && std::prev(next)->second > begin;
}

bool UpdateGroup::join(const Call &call) {
  auto isWritten = [&](const Tensor &tensor) { return written_.intersects(tensor); };
  auto isArgument = [&](Arg written) { return arguments_.intersects(call.args[written]); };
  if (!calls_.empty() &&
      (!haveSameScalarsAndTypes(calls_[0], call) || std::any_of(call.args.begin(), call.args.end(), isWritten) ||
       std::any_of(std::begin(kWritten), std::end(kWritten), isArgument)))
    return false;
  calls_.push_back(call);
  for (const Tensor &tensor : call.args)
    arguments_.add(tensor);
  for (Arg written : kWritten)
    written_.add(call.args[written]);
  return true;
}

Status planUpdates(std::span<const Call> calls, KernelPlan &plan) {
  Updates updates(calls[0], plan);
  for (const Call &call : calls) {
    for (Arg arg : {kGradient, kWeight, kExpAvg, kExpAvgSq, kMaster})
      QRT_RETURN_IF_ERROR(requireAligned(call, call.args[arg]));
    std::span<const ParamValue> members = call.params.subspan(1);
    for (size_t i = 1; i < members.size(); i += 2)
      if (members[i].i >= int64_t{1} << 32)
        return error(StatusCode::Unsupported, "{}: a member of {} elements: expected less than 2^32",
                     kernelInfo(call.kernel).name, members[i].i);
    int64_t begin = 0;
    for (; !members.empty(); begin += members[1].i, members = members.subspan(2))
      updates.add(call, members[0].i, begin, members[1].i);
  }
  updates.launch();
  return Status();
}

Status planAdamW(const Call &call, KernelPlan &plan) { return planUpdates({&call, 1}, plan); }

} // namespace qrt::cuda
