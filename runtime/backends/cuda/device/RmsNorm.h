// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_RMSNORM_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_RMSNORM_H

#include "Types.h"

namespace qrt::device {

/// [rows, cols] each but weight [cols] and rstd [rows], which may be absent; strides between rows in elements. Block b
/// takes the rows [b * rowsPerBlock, (b + 1) * rowsPerBlock). delta and sum only where there is an addition.
struct RmsNormParams {
  Ptr x, delta, weight, sum, y, rstd;
  i64 xStride, deltaStride, sumStride, yStride;
  int rows, cols, rowsPerBlock;
  float eps;
};

/// `lines`: [blocks, cols] of f32, what each block's rows add to the weight's gradient.
struct RmsNormGradParams {
  Ptr x, weight, rstd, dsum, dy, dx, lines;
  i64 xStride, dsumStride, dyStride, dxStride;
  int rows, cols, rowsPerBlock;
  float eps;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_RMSNORM_H
