// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cross-entropy of rows of logits and dlogits = (softmax - onehot) dloss (docs/model.md, Loss); zeros in rows that are
// not trained, whatever their logits hold.
#include "Common.cuh"
#include "CrossEntropy.h"
#include "Hopper.cuh"

namespace qrt::device {

/// e^x, zero where that is denormal.
__device__ __forceinline__ float exponential(float x) { return approximateExp2(kLog2E * x); }

/// The largest of some logits, and the sum of exp(logit - largest).
using Exponentials = float2;

/// No logits at all: finite, so that differences are.
__device__ __forceinline__ Exponentials noExponentials() { return make_float2(-1e30f, 0.0f); }

/// Of neighbouring lanes together, in each of them.
template <int kLanes = 32> __device__ __forceinline__ Exponentials warpCombine(Exponentials x) {
  float largest = x.x;
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFFu, largest, offset));
  float sum = x.y * exponential(x.x - largest);
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  return make_float2(largest, sum);
}

/// Of all parts together, added in their order.
template <int kCount> __device__ __forceinline__ Exponentials combineAll(const Exponentials (&parts)[kCount]) {
  Exponentials part[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    part[i] = parts[i];
  float largest = part[0].x, sum = 0;
#pragma unroll
  for (int i = 1; i < kCount; ++i)
    largest = fmaxf(largest, part[i].x);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    sum = fmaf(part[i].y, exponential(part[i].x - largest), sum);
  return make_float2(largest, sum);
}

__device__ __forceinline__ float crossEntropyLoss(Exponentials row, float target) {
  return (row.x - target) + logf(row.y);
}

//===----------------------------------------------------------------------===//
// A cluster a row
//===----------------------------------------------------------------------===//

/// In bf16, in place or not. A row is more than a multiprocessor holds, so the blocks of a cluster hold a slice of it
/// each, kVectors vectors a thread: read once, by the copy engine, rows ahead; then in registers, as exponentials
/// relative to the largest logit of the thread. The blocks send their sums to one another's shared memory.
template <int kVectors>
__global__ void __launch_bounds__(kCrossEntropyThreads, 1)
    crossEntropyCluster(const __grid_constant__ CrossEntropyParams p) {
  awaitEarlierGrids();
  constexpr int kWarps = kCrossEntropyThreads / 32, kStages = kCrossEntropyStages, kBlocks = kCrossEntropyBlocks;
  constexpr int kStageBytes = kVectors * kCrossEntropyVectorBytes;
  __shared__ Barrier full[kStages];
  __shared__ Barrier exchanged[2];
  __shared__ int labels[kCrossEntropyRows];
  __shared__ Exponentials ofWarp[kWarps];
  // Of alternate rows: a block may be a row ahead of another, but not two.
  __shared__ Exponentials ofBlock[2][kBlocks];
  unsigned char *stages = sharedMemory<unsigned char>();
  int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  int rank = static_cast<int>(clusterRank());
  int firstRow = blockIdx.x / kBlocks * kCrossEntropyRows, rows = min(kCrossEntropyRows, p.rows - firstRow);
  int firstCol = rank * p.slice, cols = max(0, min(p.slice, p.cols - firstCol)), vectors = cols / 8;

  if (thread < rows)
    labels[thread] = as<const int>(p.labels)[firstRow + thread];
  // What no copy overwrites: -infinity.
  for (int v = vectors + thread; v < kVectors * kCrossEntropyThreads; v += kCrossEntropyThreads)
#pragma unroll
    for (int i = 0; i < kStages; ++i)
      *reinterpret_cast<uint4 *>(stages + i * kStageBytes + 16 * v) =
          make_uint4(0xFF80FF80u, 0xFF80FF80u, 0xFF80FF80u, 0xFF80FF80u);
  if (thread == 0) {
    for (int i = 0; i < kStages; ++i)
      initBarrier(&full[i], 1);
    for (int i = 0; i < 2; ++i)
      initBarrier(&exchanged[i], 1);
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
    copyBytes(stages + stage * kStageBytes, from, cols * 2, &full[stage]);
  };
  if (thread == 0)
    for (int i = 0; i < kStages; ++i)
      loadNext(i);

  float dloss = *as<const float>(p.dloss);
  int stage = 0;
  unsigned parity = 0, side = 0, sideParity = 0;
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
    const bf16 *slice = reinterpret_cast<const bf16 *>(stages + stage * kStageBytes) + 8 * thread;
    float x[kVectors][8];
    Exponentials mine = noExponentials();
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      loadVector(slice + k * kCrossEntropyThreads * 8, x[k]);
#pragma unroll
      for (int j = 0; j < 8; ++j)
        mine.x = fmaxf(mine.x, x[k][j]);
    }
    float shift = -mine.x * kLog2E;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      float sum = 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        x[k][j] = approximateExp2(fmaf(x[k][j], kLog2E, shift));
        sum += x[k][j];
      }
      mine.y += sum;
    }
    Exponentials whole = warpCombine(mine);
    if (lane == 0)
      ofWarp[warp] = whole;
    // Also: every thread has read the slice.
    __syncthreads();
    if (thread == 0) {
      arriveAndExpect(&exchanged[side], kBlocks * sizeof(Exponentials));
      loadNext(stage);
    }
    if (warp == 1) {
      whole = warpCombine<kWarps>(ofWarp[lane % kWarps]);
      if (lane < kBlocks)
        sendToBlock(&ofBlock[side][rank], &exchanged[side], lane, whole);
    }
    waitForBlocks(&exchanged[side], sideParity);
    whole = combineAll(ofBlock[side]);

    float scale = exponential(mine.x - whole.x) * (dloss / whole.y);
    int inSlice = label - firstCol, labelVector = inSlice >= 0 && inSlice < cols ? inSlice / 8 : -1;
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      int v = thread + k * kCrossEntropyThreads;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        x[k][j] *= scale;
      if (v == labelVector) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
          x[k][j] -= j == inSlice % 8 ? dloss : 0.0f;
      }
      if (v < vectors)
        storeVector(dlogits + 8 * v, x[k]);
    }
    if (rank == 0 && thread == 0)
      as<float>(p.losses)[row] = crossEntropyLoss(whole, target);
    sideParity ^= side;
    side ^= 1;
    if (++stage == kStages)
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

/// Reads a row of logits, and again where dlogits are asked for (kGradient), in place or not. Rows start on 16 bytes
/// where N > 1.
template <typename T, int N, int kGradient>
__global__ void __launch_bounds__(kCrossEntropyThreads) crossEntropy(const __grid_constant__ CrossEntropyParams p) {
  awaitEarlierGrids();
  constexpr int kWarps = kCrossEntropyThreads / 32, kUnroll = 4;
  __shared__ Exponentials ofWarp[kWarps];
  i64 row = blockIdx.x;
  int thread = threadIdx.x, label = as<const int>(p.labels)[row];
  const T *logits = as<const T>(p.logits) + row * p.stride;
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
          sum += exponential(x[k][j] - largest);
        whole = make_float2(largest, whole.y * exponential(whole.x - largest) + sum);
      }
  }
  whole = warpCombine(whole);
  if (thread % 32 == 0)
    ofWarp[thread / 32] = whole;
  __syncthreads();
  whole = combineAll(ofWarp);
  if (thread == 0)
    as<float>(p.losses)[row] = crossEntropyLoss(whole, target);

  if constexpr (kGradient != 0) {
    float dloss = *as<const float>(p.dloss), scale = dloss / whole.y;
#pragma unroll 4
    for (int col = thread * N; col < p.cols; col += kCrossEntropyThreads * N) {
      float x[N];
      loadLogits<N>(logits + col, x);
#pragma unroll
      for (int j = 0; j < N; ++j)
        x[j] = exponential(x[j] - whole.x) * scale - (col + j == label ? dloss : 0.0f);
      if constexpr (N == 1)
        dlogits[col] = fromFloat<T>(x[0]);
      else
        storeVector(dlogits + col, x);
    }
  }
}

/// One block: in f64, in an order that follows from the number of rows alone.
__global__ void __launch_bounds__(kCrossEntropyThreads) sumLosses(const __grid_constant__ SumLossesParams p) {
  awaitEarlierGrids();
  __shared__ double shared[kCrossEntropyThreads / 32];
  double sum = 0;
#pragma unroll 8
  for (int row = threadIdx.x; row < p.rows; row += kCrossEntropyThreads)
    sum += as<const float>(p.losses)[row];
  sum = blockSumF64<kCrossEntropyThreads>(sum, shared);
  if (threadIdx.x == 0)
    *as<float>(p.loss) = static_cast<float>(sum);
}

} // namespace qrt::device
