// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of lines of f32, column by column: the second half of a weight's gradient, whose first half leaves one line a
// block. The lines are dealt to slices of a block in turn; the slices' sums are added in order.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH

#include "ColumnSums.h"
#include "Common.cuh"

namespace qrt::device {

/// kColumns columns of a result by a block of which `block` such blocks come before: kWidth (1 or 4) of them a lane.
template <int kColumns, int kWidth>
__device__ __forceinline__ void sumColumns(const ColumnSumResult &result, int block, float *shared) {
  constexpr int kSlices = kColumnSumThreads * kWidth / kColumns, kAtOnce = kWidth == 4 ? 10 : 20;
  int place = threadIdx.x % (kColumns / kWidth) * kWidth, slice = threadIdx.x / (kColumns / kWidth);
  int first = block * kColumns;
  float sums[kWidth] = {};
  if (first + place < result.cols) {
    const float *lines = as<const float>(result.lines) + first + place;
    // All of these loads in flight; the additions keep the order of the lines.
#pragma unroll 1
    for (int at = slice; at < result.count; at += kAtOnce * kSlices) {
      float values[kAtOnce][kWidth];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const float *from = lines + min(at + i * kSlices, result.count - 1) * result.stride;
        if constexpr (kWidth == 4)
          loadVector(from, values[i]);
        else
          values[i][0] = *from;
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
#pragma unroll
        for (int c = 0; c < kWidth; ++c)
          sums[c] += at + i * kSlices < result.count ? values[i][c] : 0.0f;
    }
  }
#pragma unroll
  for (int c = 0; c < kWidth; ++c)
    shared[slice * kColumns + place + c] = sums[c];
  __syncthreads();
  int col = first + static_cast<int>(threadIdx.x);
  if (threadIdx.x >= kColumns || col >= result.cols)
    return;
  bf16 *narrow = result.bytes == 2 ? as<bf16>(result.data) + col : nullptr;
  float *wide = as<float>(result.data) + col;
  float total = !result.accumulate ? 0.0f : narrow ? toFloat(*narrow) : *wide;
#pragma unroll
  for (int s = 0; s < kSlices; ++s)
    total += shared[s * kColumns + threadIdx.x];
  if (narrow)
    *narrow = fromFloat<bf16>(total);
  else
    *wide = total;
}

__global__ void __launch_bounds__(kColumnSumThreads, kColumnSumBlocksOfOne)
    columnSums(const __grid_constant__ ColumnSumsParams p) {
  awaitEarlierGrids();
  // Floats of one: four a thread.
  __align__(16) __shared__ float shared[kColumnSumThreads * 4];
  int index = 0, block = blockIdx.x;
  while (index + 1 < p.results && block >= p.result[index + 1].firstBlock)
    ++index;
  const ColumnSumResult &result = p.result[index];
  block -= result.firstBlock;
  if (result.many)
    sumColumns<kColumnSumMany, 4>(result, block, shared);
  else
    sumColumns<kColumnSumFew, 1>(result, block, shared);
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_CUH
