// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = silu(gate) * up and its gradient (docs/model.md, Layer). A thread takes one piece of each of several rows, all
// loaded before the first is used; columns lie along the grid's x, rows along its y.
#include "Pieces.cuh"
#include "Swiglu.h"

namespace qrt::device {

template <typename T, int N>
__global__ void __launch_bounds__(kSwigluThreads) swiglu(const __grid_constant__ SwigluParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  int col = (blockIdx.x * kSwigluThreads + threadIdx.x) * N;
  if (col >= p.cols)
    return;
  for (int first = blockIdx.y * kSwigluRows; first < p.rows; first += gridDim.y * kSwigluRows) {
    Piece<T, N> gates[kSwigluRows], ups[kSwigluRows];
#pragma unroll
    for (int r = 0; r < kSwigluRows; ++r) {
      if (int row = first + r; row < p.rows) {
        gates[r] = streamPiece<N>(as<const T>(p.gate) + row * p.gateStride + col);
        ups[r] = streamPiece<N>(as<const T>(p.up) + row * p.upStride + col);
      }
    }
#pragma unroll
    for (int r = 0; r < kSwigluRows; ++r) {
      if (int row = first + r; row < p.rows) {
        float gate[N], up[N];
        unpack(gates[r], gate);
        unpack(ups[r], up);
#pragma unroll
        for (int i = 0; i < N; ++i)
          up[i] *= gate[i] * sigmoid(gate[i]);
        storePiece(as<T>(p.y) + row * p.yStride + col, pack<T>(up));
      }
    }
  }
}

template <typename T, int N>
__global__ void __launch_bounds__(kSwigluThreads) swigluGrad(const __grid_constant__ SwigluGradParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  int col = (blockIdx.x * kSwigluThreads + threadIdx.x) * N;
  if (col >= p.cols)
    return;
  for (int first = blockIdx.y * kSwigluGradRows; first < p.rows; first += gridDim.y * kSwigluGradRows) {
    Piece<T, N> gates[kSwigluGradRows], ups[kSwigluGradRows], dys[kSwigluGradRows];
#pragma unroll
    for (int r = 0; r < kSwigluGradRows; ++r) {
      if (int row = first + r; row < p.rows) {
        gates[r] = streamPiece<N>(as<const T>(p.gate) + row * p.gateStride + col);
        ups[r] = streamPiece<N>(as<const T>(p.up) + row * p.upStride + col);
        dys[r] = streamPiece<N>(as<const T>(p.dy) + row * p.dyStride + col);
      }
    }
#pragma unroll
    for (int r = 0; r < kSwigluGradRows; ++r) {
      if (int row = first + r; row < p.rows) {
        float gate[N], up[N], dy[N];
        unpack(gates[r], gate);
        unpack(ups[r], up);
        unpack(dys[r], dy);
#pragma unroll
        for (int i = 0; i < N; ++i) {
          float s = sigmoid(gate[i]), silu = gate[i] * s;
          gate[i] = dy[i] * up[i] * (s + silu * (1.0f - s));
          up[i] = dy[i] * silu;
        }
        storePiece(as<T>(p.dgate) + row * p.dgateStride + col, pack<T>(gate));
        storePiece(as<T>(p.dup) + row * p.dupStride + col, pack<T>(up));
      }
    }
  }
}

} // namespace qrt::device
