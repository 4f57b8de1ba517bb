// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_RMSNORM_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_RMSNORM_H

#include "Types.h"

namespace qrt::device {

/// Rows that a block has in hand: one it works on and those on their way.
constexpr int kNormStages = 3;
/// Threads of a multiprocessor, forward and backward.
constexpr int kRmsNormThreads = 960, kRmsNormGradThreads = 640;

/// [rows, cols] each but weight [cols] and rstd [rows], which may be absent; strides between rows in elements. Block b
/// of B takes the rows [b * rows / B, (b + 1) * rows / B). delta and sum only where there is an addition.
struct RmsNormParams {
  Ptr x, delta, weight, sum, y, rstd;
  i64 xStride, deltaStride, sumStride, yStride;
  int rows, cols;
  float inverseCols, eps;
};

/// `lines`: [blocks, cols] of f32, what each block's rows add to the weight's gradient.
struct RmsNormGradParams {
  Ptr x, weight, rstd, dsum, dy, dx, lines;
  i64 xStride, dsumStride, dyStride, dxStride;
  int rows, cols;
  float inverseCols, eps;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_RMSNORM_H
