// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMSNorm with zero-centred weight, alone or after the residual add, and its gradient (docs/model.md, Forward). With n
// = x rstd and g = dy (1 + weight): dx = rstd (g - n mean(g n)) + dsum, dweight = sum over rows of dy n.
//
// A block holds one row at a time in its registers, kPieces pieces a thread, and reads it once. It takes several rows:
// the weight stays in registers, and so do the sums for its gradient, of which each block leaves one line.
#include "Pieces.cuh"
#include "RmsNorm.h"

namespace qrt::device {

/// Sums of several values over a block, in every thread. `shared` is for this call and, so that one barrier suffices,
/// not for the next: callers alternate between two.
template <int kThreads, int kValues>
__device__ __forceinline__ void blockSums(float (&values)[kValues], float (*shared)[kThreads / 32]) {
#pragma unroll
  for (int i = 0; i < kValues; ++i)
    values[i] = warpSum(values[i]);
  if constexpr (kThreads > 32) {
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

template <typename T, typename W, int N, int kThreads, int kPieces, int kAdd>
__global__ void __launch_bounds__(kThreads) rmsNorm(const __grid_constant__ RmsNormParams p) {
  __shared__ float shared[2][1][kThreads / 32];
  int first = threadIdx.x * N; // column of piece i: first + i * kThreads * N
  Piece<W, N> weight[kPieces];
#pragma unroll
  for (int i = 0; i < kPieces; ++i)
    if (int col = first + i * kThreads * N; col < p.cols)
      weight[i] = loadPiece<N>(as<const W>(p.weight) + col);

  int row = blockIdx.x * p.rowsPerBlock, end = min(row + p.rowsPerBlock, p.rows);
  for (; row < end; ++row) {
    Piece<T, N> x[kPieces], delta[kPieces];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      x[i] = delta[i] = {};
      if (int col = first + i * kThreads * N; col < p.cols) {
        x[i] = streamPiece<N>(as<const T>(p.x) + row * p.xStride + col);
        if constexpr (kAdd != 0)
          delta[i] = streamPiece<N>(as<const T>(p.delta) + row * p.deltaStride + col);
      }
    }
    float squares[1] = {0};
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      float values[N];
      unpack(x[i], values);
      if constexpr (kAdd != 0) {
        float more[N];
        unpack(delta[i], more);
#pragma unroll
        for (int j = 0; j < N; ++j)
          values[j] += more[j];
        // The sum as it is stored is what the norm, and its gradient, are of.
        x[i] = pack<T>(values);
        if (int col = first + i * kThreads * N; col < p.cols)
          storePiece(as<T>(p.sum) + row * p.sumStride + col, x[i]);
        unpack(x[i], values);
      }
#pragma unroll
      for (int j = 0; j < N; ++j)
        squares[0] += values[j] * values[j];
    }
    blockSums<kThreads>(squares, shared[row & 1]);
    float rstd = rsqrtf(squares[0] / static_cast<float>(p.cols) + p.eps);
    if (p.rstd && threadIdx.x == 0)
      as<float>(p.rstd)[row] = rstd;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if (int col = first + i * kThreads * N; col < p.cols) {
        float values[N], w[N];
        keepPacked(x[i]);
        keepPacked(weight[i]);
        unpack(x[i], values);
        unpack(weight[i], w);
#pragma unroll
        for (int j = 0; j < N; ++j)
          values[j] *= rstd * (1.0f + w[j]);
        storePiece(as<T>(p.y) + row * p.yStride + col, pack<T>(values));
      }
    }
  }
}

/// kSaved: rstd is there; else it is computed again. Registers are capped so that 384 threads share a multiprocessor.
template <typename T, typename W, int N, int kThreads, int kPieces, int kAdd, int kSaved>
__global__ void __launch_bounds__(kThreads, kThreads < 384 ? 384 / kThreads : 1)
    rmsNormGrad(const __grid_constant__ RmsNormGradParams p) {
  constexpr int kTotals = kSaved ? 1 : 2; // of g x, of x x
  __shared__ float shared[2][kTotals][kThreads / 32];
  int first = threadIdx.x * N;
  Piece<W, N> weight[kPieces];
  float sums[kPieces][N] = {};
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    weight[i] = {};
    if (int col = first + i * kThreads * N; col < p.cols)
      weight[i] = loadPiece<N>(as<const W>(p.weight) + col);
  }

  int row = blockIdx.x * p.rowsPerBlock, end = min(row + p.rowsPerBlock, p.rows);
  for (; row < end; ++row) {
    Piece<T, N> x[kPieces], dy[kPieces], dsum[kPieces];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      x[i] = dy[i] = dsum[i] = {};
      if (int col = first + i * kThreads * N; col < p.cols) {
        x[i] = streamPiece<N>(as<const T>(p.x) + row * p.xStride + col);
        dy[i] = streamPiece<N>(as<const T>(p.dy) + row * p.dyStride + col);
        if constexpr (kAdd != 0)
          dsum[i] = streamPiece<N>(as<const T>(p.dsum) + row * p.dsumStride + col);
      }
    }
    float rstd = 0, totals[kTotals] = {};
    if constexpr (kSaved != 0)
      rstd = as<const float>(p.rstd)[row];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
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
    if constexpr (kSaved == 0)
      rstd = rsqrtf(totals[1] / static_cast<float>(p.cols) + p.eps);
    float slope = totals[0] * rstd / static_cast<float>(p.cols) * rstd * rstd;
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
      if (int col = first + i * kThreads * N; col < p.cols)
        storePiece(as<T>(p.dx) + row * p.dxStride + col, pack<T>(d));
    }
  }
#pragma unroll
  for (int i = 0; i < kPieces; ++i)
    if (int col = first + i * kThreads * N; col < p.cols)
      storePiece(as<float>(p.lines) + static_cast<i64>(blockIdx.x) * p.cols + col, pack<float>(sums[i]));
}

} // namespace qrt::device
