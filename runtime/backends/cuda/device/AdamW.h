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

/// A member of a pack: its elements end before `end`, counted in the pack.
struct AdamWMember {
  i64 key, end;
};
/// Members of one launch.
constexpr int kAdamWMembers = 64;

/// The elements [begin, end) of tensors without gaps, 16-byte aligned; they are those of the members, each of less than
/// 2^32.
struct AdamWParams {
  Ptr gradient, norm, counters, hyper, seed, weight, expAvg, expAvgSq, master;
  i64 begin, end;
  int decays;
  AdamWMember member[kAdamWMembers];
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ADAMW_H
