// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_CROSSENTROPY_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_CROSSENTROPY_H

#include "Types.h"

namespace qrt::device {

constexpr int kCrossEntropyThreads = 512;
/// Of crossEntropyCluster: blocks of a cluster, vectors of 8 logits that a thread holds at most, rows that a cluster
/// takes one after another, rows that are in shared memory or on their way to it at most.
constexpr int kCrossEntropyBlocks = 8;
constexpr int kCrossEntropyVectors = 8;
constexpr int kCrossEntropyRows = 16;
constexpr int kCrossEntropyStages = 3;

/// logits and dlogits [rows, cols], rows `stride` and `dStride` apart; dlogits may be logits themselves, or absent.
/// labels i32 [rows], losses f32 [rows], dloss f32 [].
struct CrossEntropyParams {
  Ptr logits, dlogits, labels, losses, dloss;
  i64 stride, dStride;
  int rows, cols;
  /// Of crossEntropyCluster: columns of one block, a multiple of 8, and how many rows shared memory has room for.
  int slice, stages;
};

/// loss f32 [] = sum of losses f32 [rows].
struct SumLossesParams {
  Ptr losses, loss;
  int rows;
};

/// to [rows, cols] of bf16, rows `stride` apart, = (+=) from f32, without gaps.
struct RoundSumsParams {
  Ptr from, to;
  i64 stride;
  int rows, cols, accumulate;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_CROSSENTROPY_H
