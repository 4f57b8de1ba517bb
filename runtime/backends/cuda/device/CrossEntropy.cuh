// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cross-entropy of rows of logits and dlogits = (softmax - onehot) dloss (docs/model.md, Loss); zeros in rows that are
// not trained, whatever their logits hold.
#include "Common.cuh"
#include "CrossEntropy.h"
#include "Hopper.cuh"

namespace qrt::device {

/// The largest of some logits, and the sum of exp(logit - largest).
using Exponentials = float2;

/// No logits at all: finite, so that differences are.
__device__ __forceinline__ Exponentials noExponentials() { return make_float2(-1e30f, 0.0f); }

__device__ __forceinline__ Exponentials combine(Exponentials a, Exponentials b) {
  float largest = fmaxf(a.x, b.x);
  return make_float2(largest, a.y * __expf(a.x - largest) + b.y * __expf(b.x - largest));
}

/// Of the lanes, in every lane: `kLanes` neighbours.
template <int kLanes = 32> __device__ __forceinline__ Exponentials warpCombine(Exponentials x) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    x = combine(x, make_float2(__shfl_xor_sync(0xFFFFFFFFu, x.x, offset), __shfl_xor_sync(0xFFFFFFFFu, x.y, offset)));
  return x;
}

__device__ __forceinline__ float crossEntropyLoss(Exponentials row, float target) {
  return (row.x - target) + logf(row.y);
}

//===----------------------------------------------------------------------===//
// A cluster a row
//===----------------------------------------------------------------------===//

/// In bf16, in place or not. A row is more than a multiprocessor holds, so the blocks of a cluster hold a slice of it
/// each: read once, by the copy engine, rows ahead; then in registers, as exponentials relative to the largest logit of
/// the thread. The blocks exchange their sums through shared memory.
__global__ void __launch_bounds__(kCrossEntropyThreads, 1)
    crossEntropyCluster(const __grid_constant__ CrossEntropyParams p) {
  constexpr int kWarps = kCrossEntropyThreads / 32;
  constexpr float kLog2e = 1.44269504f;
  __shared__ Barrier full[kCrossEntropyStages];
  __shared__ int labels[kCrossEntropyRows];
  __shared__ Exponentials ofWarp[kWarps];
  // Of alternate rows: a block may be a row ahead of another.
  __shared__ Exponentials ofBlock[2][kCrossEntropyBlocks];
  unsigned char *slices = sharedMemory<unsigned char>();
  int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  int rank = static_cast<int>(clusterRank());
  int firstRow = blockIdx.x / kCrossEntropyBlocks * kCrossEntropyRows;
  int rows = min(kCrossEntropyRows, p.rows - firstRow);
  int firstCol = rank * p.slice, cols = max(0, min(p.slice, p.cols - firstCol)), vectors = cols / 8;
  unsigned sliceBytes = (p.slice * 2 + 127) / 128 * 128;

  if (thread < rows)
    labels[thread] = as<const int>(p.labels)[firstRow + thread];
  if (thread == 0) {
    for (int i = 0; i < p.stages; ++i)
      initBarrier(&full[i], 1);
    fenceBarriers();
  }
  __syncthreads();
  clusterArrive();
  clusterWait();

  // The rows that are trained take the stages in turn.
  int nextRow = 0;
  auto loadNext = [&](int stage) {
    while (nextRow < rows && labels[nextRow] < 0)
      ++nextRow;
    if (nextRow == rows || cols == 0)
      return;
    const bf16 *from = as<const bf16>(p.logits) + (firstRow + nextRow++) * p.stride + firstCol;
    arriveAndExpect(&full[stage], cols * 2);
    copyBytes(slices + stage * sliceBytes, from, cols * 2, &full[stage]);
  };
  if (thread == 0)
    for (int i = 0; i < p.stages; ++i)
      loadNext(i);

  float dloss = *as<const float>(p.dloss);
  int stage = 0;
  unsigned parity = 0, side = 0;
  for (int i = 0; i < rows; ++i) {
    i64 row = firstRow + i;
    bf16 *dlogits = as<bf16>(p.dlogits) + row * p.dStride + firstCol;
    int label = labels[i];
    if (label < 0) {
      for (int v = thread; v < vectors; v += kCrossEntropyThreads)
        *reinterpret_cast<uint4 *>(dlogits + 8 * v) = make_uint4(0, 0, 0, 0);
      if (rank == 0 && thread == 0)
        as<float>(p.losses)[row] = 0;
      continue;
    }
    float target = 0;
    if (rank == 0 && thread == 0)
      target = toFloat(as<const bf16>(p.logits)[row * p.stride + label]);

    if (cols > 0)
      wait(&full[stage], parity);
    const bf16 *slice = reinterpret_cast<const bf16 *>(slices + stage * sliceBytes);
    float x[kCrossEntropyVectors][8];
    Exponentials mine = noExponentials();
#pragma unroll
    for (int k = 0; k < kCrossEntropyVectors; ++k) {
      int v = thread + k * kCrossEntropyThreads;
      if (v < vectors) {
        loadVector(slice + 8 * v, x[k]);
#pragma unroll
        for (int j = 0; j < 8; ++j)
          mine.x = fmaxf(mine.x, x[k][j]);
      }
    }
    float shift = -mine.x * kLog2e;
#pragma unroll
    for (int k = 0; k < kCrossEntropyVectors; ++k) {
      if (thread + k * kCrossEntropyThreads < vectors) {
        float sum = 0;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          x[k][j] = approximateExp2(fmaf(x[k][j], kLog2e, shift));
          sum += x[k][j];
        }
        mine.y += sum;
      }
    }
    Exponentials whole = warpCombine(mine);
    if (lane == 0)
      ofWarp[warp] = whole;
    // Also: every thread has read the slice.
    __syncthreads();
    if (thread == 0)
      loadNext(stage);
    if (warp == 0) {
      whole = warpCombine<kWarps>(ofWarp[lane % kWarps]);
      if (lane < kCrossEntropyBlocks)
        storeToBlock(&ofBlock[side][rank], lane, whole);
    }
    clusterArrive();
    clusterWait();
    whole = ofBlock[side][0];
#pragma unroll
    for (int k = 1; k < kCrossEntropyBlocks; ++k)
      whole = combine(whole, ofBlock[side][k]);

    float scale = __expf(mine.x - whole.x) * (dloss / whole.y);
    int inSlice = label - firstCol, labelVector = inSlice >= 0 && inSlice < cols ? inSlice / 8 : -1;
#pragma unroll
    for (int k = 0; k < kCrossEntropyVectors; ++k) {
      int v = thread + k * kCrossEntropyThreads;
      if (v < vectors) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
          x[k][j] *= scale;
        if (v == labelVector) {
#pragma unroll
          for (int j = 0; j < 8; ++j)
            x[k][j] -= j == inSlice % 8 ? dloss : 0.0f;
        }
        storeVector(dlogits + 8 * v, x[k]);
      }
    }
    if (rank == 0 && thread == 0)
      as<float>(p.losses)[row] = crossEntropyLoss(whole, target);
    side ^= 1;
    if (++stage == p.stages)
      stage = 0, parity ^= 1;
  }
}

//===----------------------------------------------------------------------===//
// A block a row
//===----------------------------------------------------------------------===//

/// N neighbours: a vector of 16 bytes, or one element.
template <int N, typename T> __device__ __forceinline__ void loadLogits(const T *from, float (&to)[N]) {
  if constexpr (N == 1)
    to[0] = toFloat(*from);
  else
    loadVector(from, to);
}

/// Reads a row of logits, and again where dlogits (in T, in place only if T is L) are asked for: kGradient. Rows start
/// on 16 bytes where N > 1.
template <typename L, typename T, int N, int kGradient>
__global__ void __launch_bounds__(kCrossEntropyThreads) crossEntropy(const __grid_constant__ CrossEntropyParams p) {
  constexpr int kWarps = kCrossEntropyThreads / 32, kUnroll = 4;
  __shared__ Exponentials ofWarp[kWarps];
  i64 row = blockIdx.x;
  int thread = threadIdx.x, label = as<const int>(p.labels)[row];
  const L *logits = as<const L>(p.logits) + row * p.stride;
  T *dlogits = as<T>(p.dlogits) + row * p.dStride;
  if (label < 0) {
    if (kGradient != 0)
      for (int col = thread; col < p.cols; col += kCrossEntropyThreads)
        dlogits[col] = fromFloat<T>(0);
    if (thread == 0)
      as<float>(p.losses)[row] = 0;
    return;
  }
  float target = thread == 0 ? toFloat(logits[label]) : 0.0f;

  Exponentials whole = noExponentials();
  for (int first = thread * N; first < p.cols; first += kUnroll * kCrossEntropyThreads * N) {
    float x[kUnroll][N];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k)
      if (int col = first + k * kCrossEntropyThreads * N; col < p.cols)
        loadLogits<N>(logits + col, x[k]);
#pragma unroll
    for (int k = 0; k < kUnroll; ++k)
      if (first + k * kCrossEntropyThreads * N < p.cols) {
        float largest = whole.x, sum = 0;
#pragma unroll
        for (int j = 0; j < N; ++j)
          largest = fmaxf(largest, x[k][j]);
#pragma unroll
        for (int j = 0; j < N; ++j)
          sum += __expf(x[k][j] - largest);
        whole = make_float2(largest, whole.y * __expf(whole.x - largest) + sum);
      }
  }
  whole = warpCombine(whole);
  if (thread % 32 == 0)
    ofWarp[thread / 32] = whole;
  __syncthreads();
  whole = ofWarp[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w)
    whole = combine(whole, ofWarp[w]);
  if (thread == 0)
    as<float>(p.losses)[row] = crossEntropyLoss(whole, target);

  if constexpr (kGradient != 0) {
    float dloss = *as<const float>(p.dloss), scale = dloss / whole.y;
#pragma unroll 4
    for (int col = thread * N; col < p.cols; col += kCrossEntropyThreads * N) {
      float x[N];
      loadLogits<N>(logits + col, x);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        x[j] = __expf(x[j] - whole.x) * scale - (col + j == label ? dloss : 0.0f);
        if constexpr (N == 1 || sizeof(L) != sizeof(T))
          dlogits[col + j] = fromFloat<T>(x[j]);
      }
      if constexpr (N > 1 && sizeof(L) == sizeof(T))
        storeVector(dlogits + col, x);
    }
  }
}

/// One block: in f64, in an order that follows from the number of rows alone.
__global__ void __launch_bounds__(kCrossEntropyThreads) sumLosses(const __grid_constant__ SumLossesParams p) {
  __shared__ double shared[kCrossEntropyThreads / 32];
  double sum = 0;
#pragma unroll 8
  for (int row = threadIdx.x; row < p.rows; row += kCrossEntropyThreads)
    sum += as<const float>(p.losses)[row];
  sum = blockSumF64<kCrossEntropyThreads>(sum, shared);
  if (threadIdx.x == 0)
    *as<float>(p.loss) = static_cast<float>(sum);
}

/// Columns along x, rows along y.
__global__ void __launch_bounds__(kCrossEntropyThreads) roundSums(const __grid_constant__ RoundSumsParams p) {
  int col = blockIdx.x * kCrossEntropyThreads + threadIdx.x;
  if (col >= p.cols)
    return;
  for (int row = blockIdx.y; row < p.rows; row += gridDim.y) {
    bf16 &to = as<bf16>(p.to)[row * p.stride + col];
    float sum = as<const float>(p.from)[static_cast<i64>(row) * p.cols + col];
    to = fromFloat<bf16>(p.accumulate ? toFloat(to) + sum : sum);
  }
}

} // namespace qrt::device
