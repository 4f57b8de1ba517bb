// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_QKNORMROPE_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_QKNORMROPE_H

#include "Types.h"

namespace qrt::device {

/// Warps of a block, backward; forward it is one.
constexpr int kQkNormRopeGradWarps = 8;
/// Heads of an item, and items that a warp has in hand: the one it works on and those on their way. More of them at
/// once made the gradient slower.
constexpr int kQkNormRopeHeads = 2, kQkNormRopeStages = 4, kQkNormRopeGradStages = 2;
/// Most pairs (i, i + half) that rotate.
constexpr int kMostRotaryPairs = 128;

/// One of q and k: [tokens, heads, width] each but weight [width] and rstd [tokens, heads], whose neighbours are one
/// element apart. Forward: `in` to `out` and, where present, rstd. Backward: the cotangent `out` to that of `in`,
/// `din`; an absent rstd is computed again.
struct QkHeads {
  HeadTensor in, out, din;
  Ptr weight, rstd;
  i64 rstdToken;
  int heads;
};

/// sides: q, k. An item is kQkNormRopeHeads heads of one token; a token has qItems items of q, then those of k, `items`
/// together. Forward block b takes token b. Backward warp w of all takes the items [w * itemsPerWarp, (w + 1) *
/// itemsPerWarp) of all tokens; `lines` [blocks, 2 * width] of f32 takes what each block's items add to the weights'
/// gradients, q's beside k's.
struct QkNormRopeParams {
  Segments docs;
  QkHeads sides[2];
  Ptr lines;
  int width, half;
  int qItems, items, itemsPerWarp;
  float inverseWidth, eps;
  /// Full turns of pair i a token.
  double turns[kMostRotaryPairs];
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_QKNORMROPE_H
