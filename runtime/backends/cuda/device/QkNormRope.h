// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_QKNORMROPE_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_QKNORMROPE_H

#include "Types.h"

namespace qrt::device {

/// Warps of a block, forward and backward.
constexpr int kQkNormRopeWarps = 4, kQkNormRopeGradWarps = 8;
/// Heads that a warp has in flight.
constexpr int kQkNormRopeHeads = 4, kQkNormRopeGradHeads = 4;
/// Most pairs (i, i + half) that rotate.
constexpr int kMostRotaryPairs = 128;

/// One of q and k: [tokens, heads, width] each but weight [width] and rstd [tokens, heads], whose neighbours are one
/// element apart. Forward: `in` to `out` and, where present, rstd. Backward: the cotangent `out` to that of `in`,
/// `din`; an absent rstd is computed again.
struct QkHeads {
  HeadTensor in, out, din;
  Ptr weight, rstd;
  i64 rstdToken;
  /// Heads, and items of one token: kQkNormRopeGradHeads heads at a time.
  int heads, items;
};

/// Backward, warp w of all takes the items [w * itemsPerWarp, (w + 1) * itemsPerWarp); a token's items are those of q,
/// then those of k. `lines` [blocks, 2 * width] of f32 takes what each block's items add to the weights' gradients, q's
/// beside k's.
struct QkNormRopeParams {
  Segments docs;
  QkHeads q, k;
  Ptr lines;
  int width, half;
  int itemsPerWarp;
  float eps;
  /// Full turns of pair i a token.
  double turns[kMostRotaryPairs];
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_QKNORMROPE_H
