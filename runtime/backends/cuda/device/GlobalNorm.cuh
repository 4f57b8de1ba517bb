// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The norm of all gradients: a block sums the squares of one chunk, in f32 of a few hundred squares a thread and in f64
// beyond; where a thread's squares leave f32, it takes them again in f64. One more block adds the chunks in f64 in
// their order.
#include "Common.cuh"
#include "GlobalNorm.h"

namespace qrt::device {

/// This thread's share of n elements, squared and added in the type Sum.
template <typename Sum, typename T>
__device__ __forceinline__ double sumOfSquaresIn(const T *x, int n, bool hasVectors) {
  constexpr int kWidth = kVector<T>;
  Sum sums[kWidth] = {};
  int begin = 0;
  if (hasVectors) {
    begin = n / kWidth * kWidth;
#pragma unroll 8
    for (int i = threadIdx.x * kWidth; i < begin; i += kNormThreads * kWidth) {
      float values[kWidth];
      loadVector(x + i, values);
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        sums[j] = fma(static_cast<Sum>(values[j]), static_cast<Sum>(values[j]), sums[j]);
    }
  }
  for (int i = begin + threadIdx.x; i < n; i += kNormThreads) {
    Sum value = toFloat(x[i]);
    sums[0] = fma(value, value, sums[0]);
  }
  double total = 0;
#pragma unroll
  for (int j = 0; j < kWidth; ++j)
    total += sums[j];
  return total;
}
template <typename T> __device__ __forceinline__ double sumOfSquares(const T *x, int n, bool hasVectors) {
  double sum = sumOfSquaresIn<float>(x, n, hasVectors);
  // NaN too: it stays.
  return isFinite(static_cast<float>(sum)) ? sum : sumOfSquaresIn<double>(x, n, hasVectors);
}

/// A block a chunk.
__global__ void __launch_bounds__(kNormThreads) squaredNorm(const __grid_constant__ SquaredNormParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  int chunk = blockIdx.x, low = 0, high = p.parts;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    (p.part[middle].firstChunk <= chunk ? low : high) = middle;
  }
  const NormPart &part = p.part[low];
  i64 perRow = (part.cols + kNormChunk - 1) / kNormChunk, index = chunk - part.firstChunk;
  i64 row = index / perRow, col = (index - row * perRow) * kNormChunk;
  int n = static_cast<int>(part.cols - col < kNormChunk ? part.cols - col : kNormChunk);
  i64 at = row * part.stride + col;
  double sum = part.elementBytes == 2 ? sumOfSquares(as<const bf16>(part.data) + at, n, part.hasVectors)
                                      : sumOfSquares(as<const float>(part.data) + at, n, part.hasVectors);
  __shared__ double shared[kNormThreads / 32];
  sum = blockSumF64<kNormThreads>(sum, shared);
  if (threadIdx.x == 0)
    as<double>(p.sums)[chunk] = sum;
}

/// One block.
__global__ void __launch_bounds__(kNormSumThreads) normOfSums(const __grid_constant__ NormOfSumsParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  double sum = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < p.count; i += kNormSumThreads)
    sum += as<const double>(p.sums)[i];
  __shared__ double shared[kNormSumThreads / 32];
  sum = blockSumF64<kNormSumThreads>(sum, shared);
  if (threadIdx.x == 0)
    *as<float>(p.norm) = static_cast<float>(sqrt(sum));
}

} // namespace qrt::device
