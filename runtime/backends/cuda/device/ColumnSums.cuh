// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of lines of f32, column by column: the second half of a weight's gradient, whose first half leaves one line a
// block. Warp w of a block takes the lines w, w + 32, ...; the warps' sums are added in order.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH

#include "ColumnSums.h"
#include "Common.cuh"

namespace qrt::device {

template <typename T>
__global__ void __launch_bounds__(kColumnSumThreads) columnSums(const __grid_constant__ ColumnSumsParams p) {
  constexpr int kWarps = kColumnSumThreads / 32;
  __shared__ float shared[kWarps][kColumnSumColumns];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, col = blockIdx.x * kColumnSumColumns + lane;
  float sum = 0;
  if (col < p.cols) {
    const float *lines = as<const float>(p.lines) + blockIdx.y * p.cols + col;
    // Eight loads in flight; the additions keep the order of the lines.
    int line = warp;
    for (; line + 7 * kWarps < p.count; line += 8 * kWarps) {
      float values[8];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        values[i] = lines[(line + i * kWarps) * p.stride];
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum += values[i];
    }
#pragma unroll 4
    for (; line < p.count; line += kWarps)
      sum += lines[line * p.stride];
  }
  shared[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && col < p.cols) {
    T *result = as<T>(p.results[blockIdx.y]) + col;
    float total = p.accumulate[blockIdx.y] ? toFloat(*result) : 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w)
      total += shared[w][lane];
    *result = fromFloat<T>(total);
  }
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH
