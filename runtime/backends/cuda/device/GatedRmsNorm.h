// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H

#include "Types.h"

namespace qrt::device {

constexpr int kGatedNormThreads = 256;
/// Heads that a group of lanes has in flight.
constexpr int kGatedNormRows = 4, kGatedNormGradRows = 2;

/// The heads of all tokens are `rows` = tokens * heads rows, token by token. rstd [tokens, heads] may be absent, its
/// neighbours are one element apart.
struct GatedRmsNormParams {
  HeadTensor x, z, y;
  Ptr weight, rstd;
  i64 rstdToken;
  Divisor heads;
  int rows, width;
  float eps;
};

/// Block b takes the rows [b * rowsPerBlock, (b + 1) * rowsPerBlock) and leaves line b of `lines`, [blocks, width] of
/// f32.
struct GatedRmsNormGradParams {
  HeadTensor x, z, dy, dx, dz;
  Ptr weight, rstd, lines;
  i64 rstdToken;
  Divisor heads;
  int rows, width, rowsPerBlock;
  float eps;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H
