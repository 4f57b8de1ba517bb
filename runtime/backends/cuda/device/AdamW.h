// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_ADAMW_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_ADAMW_H

#include "Types.h"

namespace qrt::device {

constexpr int kAdamWThreads = 128;
/// Blocks that a multiprocessor is to hold at once.
constexpr int kAdamWBlocks = 7;

/// Elements that a thread takes at a time where numbers are rounded by chance: those that share random words; and where
/// none are: 16 bytes of f32.
constexpr int kAdamWNoisyWidth = 8, kAdamWWidth = 4;

/// Where the hyperparameters lie, in f32 (Hyperparameters of runtime/kernels/Kernel.h).
enum AdamWHyperparameter { kLearningRate, kBeta1, kBeta2, kEps, kWeightDecay, kClip };

struct OptimizerStepParams {
  Ptr norm, counters;
};

/// A parameter that is updated: `elements` (below 2^32) neighbours of each tensor. Pieces of a launch are pieces of its
/// members, one member after the other; the last piece of a member may be a part.
struct AdamWMember {
  Ptr gradient, weight, expAvg, expAvgSq, master;
  i64 key;
  unsigned elements;
  /// Its pieces end before this one of the launch; they begin where the member before ends.
  unsigned endPiece;
  /// Whether weight decay applies; whether all of its tensors start on 16 bytes.
  short decays, aligned;
};
/// Members of one launch: the parameters stay below 4 KiB.
constexpr int kAdamWMembers = 60;

struct AdamWParams {
  Ptr norm, counters, hyper, seed;
  unsigned pieces;
  AdamWMember member[kAdamWMembers];
};
static_assert(sizeof(AdamWParams) <= 4096);

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ADAMW_H
