// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H

#include "Types.h"

namespace qrt::device {

constexpr int kGatedNormThreads = 256;
/// Heads that a group of lanes has in flight.
constexpr int kGatedNormRows = 4;
/// Backward, one block a multiprocessor: its threads where a lane has up to so many elements of a head; fewer where it
/// has more. That leaves each of them a hundred registers, and while a stage is worked on one is on its way, 24 KB.
/// With two such blocks 48 and 16 heads of 128 took 137.7 and 47.9 us, not 134.4 and 47.8; with four stages too 139.8
/// and 49.8.
constexpr int kGatedNormGradThreads = 512, kGatedNormGradElements = 8, kGatedNormGradStages = 2;

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

/// In each of `steps` steps the groups of lanes of all blocks take neighbouring rows, one a group; from step to step a
/// group goes on by `tokens` tokens and keeps its head. Block b leaves line b of `lines`, [blocks, width] of f32.
struct GatedRmsNormGradParams {
  HeadTensor x, z, dy, dx, dz;
  Ptr weight, rstd, lines;
  i64 rstdToken;
  Divisor heads;
  int rows, width, steps, tokens;
  float inverseWidth, eps;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDRMSNORM_H
