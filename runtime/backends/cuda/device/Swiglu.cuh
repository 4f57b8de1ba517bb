// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = silu(gate) * up and its gradient (docs/model.md, Layer). A thread takes one vector of 16 bytes of one row; rows
// lie along the grid's y.
#include "Common.cuh"
#include "Swiglu.h"

namespace qrt::device {

constexpr int kSwigluThreads = 256;

template <typename T> __global__ void __launch_bounds__(kSwigluThreads) swiglu(const __grid_constant__ SwigluParams p) {
  constexpr int kWidth = kVector<T>;
  int col = (blockIdx.x * kSwigluThreads + threadIdx.x) * kWidth;
  if (col >= p.cols)
    return;
  for (int row = blockIdx.y; row < p.rows; row += gridDim.y) {
    float gate[kWidth], up[kWidth];
    loadVector(as<const T>(p.gate) + row * p.gateStride + col, gate);
    loadVector(as<const T>(p.up) + row * p.upStride + col, up);
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      up[i] *= gate[i] * sigmoid(gate[i]);
    storeVector(as<T>(p.y) + row * p.yStride + col, up);
  }
}

template <typename T>
__global__ void __launch_bounds__(kSwigluThreads) swigluGrad(const __grid_constant__ SwigluGradParams p) {
  constexpr int kWidth = kVector<T>;
  int col = (blockIdx.x * kSwigluThreads + threadIdx.x) * kWidth;
  if (col >= p.cols)
    return;
  for (int row = blockIdx.y; row < p.rows; row += gridDim.y) {
    float gate[kWidth], up[kWidth], dy[kWidth];
    loadVector(as<const T>(p.gate) + row * p.gateStride + col, gate);
    loadVector(as<const T>(p.up) + row * p.upStride + col, up);
    loadVector(as<const T>(p.dy) + row * p.dyStride + col, dy);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      float s = sigmoid(gate[i]);
      float dgate = dy[i] * up[i] * s * (1.0f + gate[i] * (1.0f - s));
      up[i] = dy[i] * gate[i] * s;
      gate[i] = dgate;
    }
    storeVector(as<T>(p.dgate) + row * p.dgateStride + col, gate);
    storeVector(as<T>(p.dup) + row * p.dupStride + col, up);
  }
}

} // namespace qrt::device
