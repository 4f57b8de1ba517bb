// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dweight[v] = sum of the rows of dout whose token has id v, in ascending order of the tokens. `order` lists the tokens
// of an id together, so each id is a run of it. A block takes a fixed number of positions of `order`, however long the
// runs: a frequent id costs no more than rare ones. Runs that lie within a block are summed there; of a run that
// crosses blocks each leaves a partial sum, slot 0 that of a run from the block before, slot 1 that of a run that
// begins here and goes on, and a second launch adds those up. Rows of ids that no token has are not touched.
#include "EmbeddingGrad.h"
#include "Pieces.cuh"

namespace qrt::device {

/// The id at a position of `order`; -1 outside the tokens.
__device__ __forceinline__ int idAt(const EmbeddingGradParams &p, int position) {
  return position >= 0 && position < segmentTokens(p.docs) ? as<const int>(p.ids)[as<const int>(p.order)[position]]
                                                           : -1;
}

/// dweight[id] = (+=) sum, from column `col`.
template <typename G, int N>
__device__ __forceinline__ void storeSum(const EmbeddingGradParams &p, int id, int col, float (&sum)[N]) {
  G *to = as<G>(p.dweight) + id * p.dweightStride + col;
  if (p.accumulate) {
    float old[N];
    unpack(loadPiece<N>(to), old);
#pragma unroll
    for (int i = 0; i < N; ++i)
      sum[i] += old[i];
  }
  storePiece(to, pack<G>(sum));
}

__device__ __forceinline__ float *partialOf(const EmbeddingGradParams &p, int block, int slot, int col) {
  return as<float>(p.partials) + (static_cast<i64>(block) * 2 + slot) * p.cols + col;
}

/// Blocks: positions along x, columns along y.
template <typename T, typename G, int N>
__global__ void __launch_bounds__(kEmbeddingGradThreads) embeddingGrad(const __grid_constant__ EmbeddingGradParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kPositions = kEmbeddingGradPositions, kInFlight = 8;
  __shared__ int ids[kPositions + 2], tokens[kPositions]; // ids[0] is that of the position before
  int begin = blockIdx.x * kPositions, length = min(kPositions, segmentTokens(p.docs) - begin);
  if (length <= 0)
    return;
  for (int i = threadIdx.x; i < kPositions + 2; i += kEmbeddingGradThreads)
    ids[i] = idAt(p, begin + i - 1);
  for (int i = threadIdx.x; i < length; i += kEmbeddingGradThreads)
    tokens[i] = as<const int>(p.order)[begin + i];
  __syncthreads();
  int col = (blockIdx.y * kEmbeddingGradThreads + threadIdx.x) * N;
  if (col >= p.cols)
    return;
  float sum[N] = {};
  bool fromBefore = ids[0] == ids[1];
  for (int batch = 0; batch < length; batch += kInFlight) {
    Piece<T, N> rows[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i)
      if (batch + i < length)
        rows[i] = streamPiece<N>(as<const T>(p.dout) + tokens[batch + i] * p.doutStride + col);
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      int at = batch + i;
      if (at >= length)
        break;
      float row[N];
      unpack(rows[i], row);
#pragma unroll
      for (int j = 0; j < N; ++j)
        sum[j] += row[j];
      int id = ids[at + 1];
      bool goesOn = id == ids[at + 2];
      if (goesOn && at + 1 < length)
        continue;
      if (fromBefore)
        storePiece(partialOf(p, blockIdx.x, 0, col), pack<float>(sum));
      else if (goesOn)
        storePiece(partialOf(p, blockIdx.x, 1, col), pack<float>(sum));
      else
        storeSum<G>(p, id, col, sum);
      fromBefore = false;
#pragma unroll
      for (int j = 0; j < N; ++j)
        sum[j] = 0;
    }
  }
}

/// Of the same grid: the run that begins in this block's positions and goes on past them, if there is one.
template <typename G, int N>
__global__ void __launch_bounds__(kEmbeddingGradThreads)
    embeddingGradRuns(const __grid_constant__ EmbeddingGradParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kPositions = kEmbeddingGradPositions, kInFlight = 4;
  int block = blockIdx.x, begin = block * kPositions, end = begin + kPositions;
  int id = idAt(p, end - 1);
  if (id < 0 || idAt(p, end) != id || idAt(p, begin - 1) == id)
    return;
  // The blocks after this one that the run reaches.
  int blocks = 0;
  for (int reached = kEmbeddingGradThreads; reached == kEmbeddingGradThreads; blocks += reached)
    reached = __syncthreads_count(idAt(p, end + (blocks + static_cast<int>(threadIdx.x)) * kPositions) == id);
  int col = (blockIdx.y * kEmbeddingGradThreads + threadIdx.x) * N;
  if (col >= p.cols)
    return;
  float sum[N];
  unpack(loadPiece<N>(partialOf(p, block, 1, col)), sum);
  for (int batch = 1; batch <= blocks; batch += kInFlight) {
    Piece<float, N> partials[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i)
      if (batch + i <= blocks)
        partials[i] = loadPiece<N>(partialOf(p, block + batch + i, 0, col));
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (batch + i <= blocks) {
        float partial[N];
        unpack(partials[i], partial);
#pragma unroll
        for (int j = 0; j < N; ++j)
          sum[j] += partial[j];
      }
    }
  }
  storeSum<G>(p, id, col, sum);
}

} // namespace qrt::device
