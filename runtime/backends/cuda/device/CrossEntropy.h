// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_CROSSENTROPY_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_CROSSENTROPY_H

#include "Types.h"

namespace qrt::device {

constexpr int kCrossEntropyThreads = 512;
/// Of crossEntropyCluster: blocks of a cluster, vectors of 8 logits that a thread holds at most, rows that a cluster
/// takes one after another, rows that are in shared memory or on their way to it.
constexpr int kCrossEntropyBlocks = 8;
constexpr int kCrossEntropyVectors = 8;
constexpr int kCrossEntropyRows = 16;
constexpr int kCrossEntropyStages = 3;
/// Shared memory that a row takes in a block for each vector that a thread holds.
constexpr int kCrossEntropyVectorBytes = 16 * kCrossEntropyThreads;

/// logits and dlogits [rows, cols], rows `stride` and `dStride` apart; dlogits may be logits themselves, or absent.
/// labels i32 [rows], losses f32 [rows], dloss f32 [].
struct CrossEntropyParams {
  Ptr logits, dlogits, labels, losses, dloss;
  i64 stride, dStride;
  int rows, cols;
  /// Of crossEntropyCluster: columns of one block, a multiple of 8.
  int slice;
};

/// loss f32 [] = sum of losses f32 [rows].
struct SumLossesParams {
  Ptr losses, loss;
  int rows;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_CROSSENTROPY_H
