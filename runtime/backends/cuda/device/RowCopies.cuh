// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that move whole rows: the embedding, the gather of trained rows, of their labels, and the scatter back. Rows
// are of units of 16, 4 or 2 bytes, whatever their elements.
#include "Common.cuh"
#include "RowCopies.h"

namespace qrt::device {

/// By a block: row `to` becomes row `from`, or zeros where from < 0.
template <typename Unit> __device__ __forceinline__ void copyRow(const RowCopyParams &p, int from, int to) {
  constexpr int kInFlight = 5;
  Unit *target = as<Unit>(p.to) + to * p.toStride;
  const Unit *source = as<const Unit>(p.from) + from * p.fromStride;
  for (int begin = threadIdx.x; begin < p.units; begin += kInFlight * kRowCopyThreads) {
    Unit units[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      units[i] = Unit{};
      if (int unit = begin + i * kRowCopyThreads; from >= 0 && unit < p.units)
        units[i] = __ldcs(source + unit);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i)
      if (int unit = begin + i * kRowCopyThreads; unit < p.units)
        target[unit] = units[i];
  }
}

/// Rows of tokens in no document become zero.
template <typename Unit>
__global__ void __launch_bounds__(kRowCopyThreads) embedding(const __grid_constant__ RowCopyParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  int token = blockIdx.x;
  copyRow<Unit>(p, documentOf(p.docs, token) < 0 ? -1 : as<const int>(p.ids)[token], token);
}

template <typename Unit>
__global__ void __launch_bounds__(kRowCopyThreads) gatherRows(const __grid_constant__ RowCopyParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  int row = blockIdx.x;
  copyRow<Unit>(p, row < segmentTrained(p.docs) ? trainedRow(p.docs, row) : -1, row);
}

/// Labels: one i32 a row; kIgnoredLabel past the trained rows.
__global__ void __launch_bounds__(kRowCopyThreads) gatherLabels(const __grid_constant__ RowCopyParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  int row = blockIdx.x * kRowCopyThreads + threadIdx.x;
  if (row < p.rows)
    as<int>(p.to)[row] = row < segmentTrained(p.docs) ? as<const int>(p.from)[trainedRow(p.docs, row)] : kIgnoredLabel;
}

/// The first trained row that is not before `token`, by a warp.
__device__ __forceinline__ int firstTrainedFrom(const Segments &docs, int token) {
  int begin = 0, end = segmentTrained(docs); // where it may be
  while (begin < end) {
    int step = (end - begin + 31) / 32, at = begin + (static_cast<int>(threadIdx.x % 32) + 1) * step - 1;
    int before = __popc(__ballot_sync(0xFFFFFFFFu, at < end && trainedRow(docs, at) < token));
    begin += before * step;
    end = min(end, begin + step - 1);
  }
  return begin;
}

template <typename Unit>
__global__ void __launch_bounds__(kRowCopyThreads) scatterRows(const __grid_constant__ RowCopyParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  __shared__ int sources[kScatterRows];
  int first = blockIdx.x * kScatterRows;
  if (threadIdx.x < 32) {
    if (threadIdx.x < kScatterRows)
      sources[threadIdx.x] = -1;
    __syncwarp();
    // Trained rows ascend: those of this block's tokens are neighbours.
    int row = firstTrainedFrom(p.docs, first) + threadIdx.x;
    if (threadIdx.x < kScatterRows && row < segmentTrained(p.docs)) {
      int token = trainedRow(p.docs, row);
      if (token < first + kScatterRows)
        sources[token - first] = row;
    }
  }
  __syncthreads();
  for (int i = 0; i < kScatterRows && first + i < p.rows; ++i)
    copyRow<Unit>(p, sources[i], first + i);
}

} // namespace qrt::device
