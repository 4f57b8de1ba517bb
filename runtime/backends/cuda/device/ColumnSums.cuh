// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of lines of f32, column by column: the second half of a weight's gradient, whose first half leaves one line a
// block. Warp w of a block takes the lines w, w + 32, ...; the warps' sums are added in order.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH

#include "ColumnSums.h"
#include "Common.cuh"

namespace qrt::device {

__global__ void __launch_bounds__(kColumnSumThreads) columnSums(const __grid_constant__ ColumnSumsParams p) {
  constexpr int kWarps = kColumnSumThreads / 32;
  __shared__ float shared[kWarps][kColumnSumColumns];
  int index = 0, block = blockIdx.x;
  while (index + 1 < p.results && block >= p.result[index + 1].firstBlock)
    ++index;
  const ColumnSumResult &result = p.result[index];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int col = (block - result.firstBlock) * kColumnSumColumns + lane;
  float sum = 0;
  if (col < result.cols) {
    const float *lines = as<const float>(result.lines) + col;
    // Eight loads in flight; the additions keep the order of the lines.
    int line = warp;
    for (; line + 7 * kWarps < result.count; line += 8 * kWarps) {
      float values[8];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        values[i] = lines[(line + i * kWarps) * result.stride];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum += values[i];
    }
#pragma unroll 4
    for (; line < result.count; line += kWarps)
      sum += lines[line * result.stride];
  }
  shared[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || col >= result.cols)
    return;
  bf16 *narrow = result.bytes == 2 ? as<bf16>(result.data) + col : nullptr;
  float *wide = as<float>(result.data) + col;
  float total = !result.accumulate ? 0.0f : narrow ? toFloat(*narrow) : *wide;
#pragma unroll
  for (int w = 0; w < kWarps; ++w)
    total += shared[w][lane];
  if (narrow)
    *narrow = fromFloat<bf16>(total);
  else
    *wide = total;
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH
