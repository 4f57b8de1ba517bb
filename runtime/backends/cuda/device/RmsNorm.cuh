// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMSNorm with zero-centred weight, alone or after the residual add, and its gradient (docs/model.md, Forward). With n
// = x rstd and g = dy (1 + weight): dx = rstd (g - n mean(g n)) + dsum, dweight = sum over rows of dy n.
//
// A block holds one row at a time in its registers, kPieces pieces a thread, and reads it once, while the next is on
// its way. It takes many rows: the weight stays in registers, and so do the sums for its gradient, of which each block
// leaves one line. kFull: the pieces of a block are the row exactly.
#include "RmsNorm.h"
#include "RowStages.cuh"

namespace qrt::device {

/// Sums of several values over a block, in every thread. `shared` is for this call and, so that one barrier suffices,
/// not for the next: callers alternate between two.
template <int kThreads, int kValues>
__device__ __forceinline__ void blockSums(float (&values)[kValues], float (*shared)[kThreads / 32]) {
#pragma unroll
  for (int i = 0; i < kValues; ++i)
    values[i] = warpSum(values[i]);
  if constexpr (kThreads == 32) {
    __syncwarp();
  } else {
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int i = 0; i < kValues; ++i)
        shared[i][threadIdx.x / 32] = values[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      values[i] = 0;
#pragma unroll
      for (int warp = 0; warp < kThreads / 32; ++warp)
        values[i] += shared[i][warp];
    }
  }
}

/// The first row of a block.
__device__ __forceinline__ int firstRow(int rows, int block) {
  return static_cast<int>(static_cast<i64>(rows) * block / static_cast<int>(gridDim.x));
}

template <typename T, typename W, int N, int kThreads, int kPieces, int kFull, int kAdd>
__global__ void __launch_bounds__(kThreads, kThreads < kRmsNormThreads ? kRmsNormThreads / kThreads : 1)
    rmsNorm(const __grid_constant__ RmsNormParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kStages = kNormStages, kTensors = kAdd ? 2 : 1, kStep = kThreads * N;
  __shared__ float shared[2][1][kThreads / 32];
  __shared__ Barrier barriers[kStages];
  RowStages<T, N, kStep * kPieces, kTensors, kStages> stages(barriers, p.cols);
  const i64 first = threadIdx.x * N; // column of piece i: first + i * kStep
  auto inside = [&](int i) { return kFull != 0 || first + i * kStep < p.cols; };
  int begin = firstRow(p.rows, blockIdx.x), end = firstRow(p.rows, blockIdx.x + 1);
  auto xRow = [&](int row) { return as<const T>(p.x) + row * p.xStride; };
  auto deltaRow = [&](int row) { return as<const T>(p.delta) + row * p.deltaStride; };
  auto fetch = [&](int stage, int row) {
    if (threadIdx.x != 0 || row >= end)
      return;
    if constexpr (kAdd != 0)
      stages.fetch(stage, {xRow(row), deltaRow(row)});
    else
      stages.fetch(stage, {xRow(row)});
  };
#pragma unroll
  for (int i = 0; i < kStages; ++i)
    fetch(i, begin + i);

  Piece<W, N> weight[kPieces];
#pragma unroll
  for (int i = 0; i < kPieces; ++i)
    if (inside(i))
      weight[i] = loadPiece<N>(as<const W>(p.weight) + first + i * kStep);
  unsigned parity = 0;
  for (int row = begin, stage = 0; row < end; ++row, stages.next(stage, parity)) {
    stages.wait(stage, parity);
    Piece<T, N> x[kPieces];
    float squares[1] = {0};
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      x[i] = {};
      if (inside(i))
        x[i] = stages.take(stage, 0, xRow(row), first + i * kStep);
      float values[N];
      unpack(x[i], values);
      if constexpr (kAdd != 0) {
        float more[N];
        Piece<T, N> delta = {};
        if (inside(i))
          delta = stages.take(stage, 1, deltaRow(row), first + i * kStep);
        unpack(delta, more);
#pragma unroll
        for (int j = 0; j < N; ++j)
          values[j] += more[j];
        // The sum as it is stored is what the norm, and its gradient, are of.
        x[i] = pack<T>(values);
        if (inside(i))
          storePiece(as<T>(p.sum) + row * p.sumStride + first + i * kStep, x[i]);
        unpack(x[i], values);
      }
#pragma unroll
      for (int j = 0; j < N; ++j)
        squares[0] += values[j] * values[j];
    }
    blockSums<kThreads>(squares, shared[row & 1]);
    // Past the barrier all threads have taken what they need of the row.
    fetch(stage, row + kStages);
    float rstd = approximateInverseRoot(squares[0] * p.inverseCols + p.eps);
    if (p.rstd && threadIdx.x == 0)
      as<float>(p.rstd)[row] = rstd;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if (inside(i)) {
        float values[N], w[N];
        keepPacked(x[i]);
        keepPacked(weight[i]);
        unpack(x[i], values);
        unpack(weight[i], w);
#pragma unroll
        for (int j = 0; j < N; ++j)
          values[j] *= rstd * (1.0f + w[j]);
        storePiece(as<T>(p.y) + row * p.yStride + first + i * kStep, pack<T>(values));
      }
    }
  }
}

/// kSaved: rstd is there; else it is computed again.
template <typename T, typename W, int N, int kThreads, int kPieces, int kFull, int kAdd, int kSaved>
__global__ void __launch_bounds__(kThreads, sizeof(W) == sizeof(T) && kThreads < kRmsNormGradThreads
                                                ? kRmsNormGradThreads / kThreads
                                                : 1) rmsNormGrad(const __grid_constant__ RmsNormGradParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kStages = kNormStages, kTensors = kAdd ? 3 : 2, kStep = kThreads * N;
  constexpr int kTotals = kSaved ? 1 : 2; // of g x, of x x
  __shared__ float shared[2][kTotals][kThreads / 32];
  __shared__ Barrier barriers[kStages];
  RowStages<T, N, kStep * kPieces, kTensors, kStages> stages(barriers, p.cols);
  const i64 first = threadIdx.x * N;
  auto inside = [&](int i) { return kFull != 0 || first + i * kStep < p.cols; };
  int begin = firstRow(p.rows, blockIdx.x), end = firstRow(p.rows, blockIdx.x + 1);
  auto xRow = [&](int row) { return as<const T>(p.x) + row * p.xStride; };
  auto dyRow = [&](int row) { return as<const T>(p.dy) + row * p.dyStride; };
  auto dsumRow = [&](int row) { return as<const T>(p.dsum) + row * p.dsumStride; };
  auto fetch = [&](int stage, int row) {
    if (threadIdx.x != 0 || row >= end)
      return;
    if constexpr (kAdd != 0)
      stages.fetch(stage, {xRow(row), dyRow(row), dsumRow(row)});
    else
      stages.fetch(stage, {xRow(row), dyRow(row)});
  };
#pragma unroll
  for (int i = 0; i < kStages; ++i)
    fetch(i, begin + i);

  Piece<W, N> weight[kPieces];
  float sums[kPieces][N] = {};
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    weight[i] = {};
    if (inside(i))
      weight[i] = loadPiece<N>(as<const W>(p.weight) + first + i * kStep);
  }
  unsigned parity = 0;
  for (int row = begin, stage = 0; row < end; ++row, stages.next(stage, parity)) {
    float rstd = 0, totals[kTotals] = {};
    if constexpr (kSaved != 0)
      rstd = as<const float>(p.rstd)[row];
    stages.wait(stage, parity);
    Piece<T, N> x[kPieces], dy[kPieces], dsum[kPieces];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      x[i] = dy[i] = dsum[i] = {};
      if (inside(i)) {
        x[i] = stages.take(stage, 0, xRow(row), first + i * kStep);
        dy[i] = stages.take(stage, 1, dyRow(row), first + i * kStep);
        if constexpr (kAdd != 0)
          dsum[i] = stages.take(stage, 2, dsumRow(row), first + i * kStep);
      }
      float values[N], d[N], w[N];
      unpack(x[i], values);
      unpack(dy[i], d);
      unpack(weight[i], w);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        totals[0] += d[j] * (1.0f + w[j]) * values[j];
        if constexpr (kSaved == 0)
          totals[1] += values[j] * values[j];
      }
    }
    blockSums<kThreads>(totals, shared[row & 1]);
    fetch(stage, row + kStages);
    if constexpr (kSaved == 0)
      rstd = approximateInverseRoot(totals[1] * p.inverseCols + p.eps);
    float slope = totals[0] * rstd * p.inverseCols * rstd * rstd;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      keepPacked(x[i]);
      keepPacked(dy[i]);
      keepPacked(weight[i]);
      float values[N], d[N], w[N], residual[N];
      unpack(x[i], values);
      unpack(dy[i], d);
      unpack(weight[i], w);
      unpack(dsum[i], residual);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        d[j] *= rstd;
        sums[i][j] += d[j] * values[j];
        d[j] = d[j] * (1.0f + w[j]) - slope * values[j];
        if constexpr (kAdd != 0)
          d[j] += residual[j];
      }
      if (inside(i))
        storePiece(as<T>(p.dx) + row * p.dxStride + first + i * kStep, pack<T>(d));
    }
  }
#pragma unroll
  for (int i = 0; i < kPieces; ++i)
    if (inside(i))
      storePiece(as<float>(p.lines) + static_cast<i64>(blockIdx.x) * p.cols + first + i * kStep, pack<float>(sums[i]));
}

} // namespace qrt::device
