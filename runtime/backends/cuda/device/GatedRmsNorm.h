// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H

#include "Types.h"

namespace qrt::device {

constexpr int kGatedNormThreads = 256;
/// Heads that a group of lanes has in flight, forward and backward.
constexpr int kGatedNormRows = 4, kGatedNormGradStages = 4;

/// The heads of all tokens are `rows` = tokens * heads rows, token by token. rstd [tokens, heads] may be absent, its
/// neighbours are one element apart.
struct GatedRmsNormParams {
  HeadTensor x, z, y;
  Ptr weight, rstd;
  i64 rstdToken;
  Divisor heads;
  int rows, width;
  float inverseWidth, eps;
};

/// Block b of B takes the rows [b * rows / B, (b + 1) * rows / B) and leaves line b of `lines`, [B, width] of f32.
struct GatedRmsNormGradParams {
  HeadTensor x, z, dy, dx, dz;
  Ptr weight, rstd, lines;
  i64 rstdToken;
  Divisor heads;
  int rows, width;
  float inverseWidth, eps;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H
