// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The delta rule's output norm (docs/model.md, Gated DeltaNet 7): y = weight n silu(z), n = x rstd. Gradients, with s =
// sigmoid(z): dz = dy weight n (s + silu(z) (1 - s)); with e = dy silu(z) and g = e weight: dweight = sum e n, dx =
// rstd (g - n mean(g n)).
//
// kLanes lanes of a warp take one head, kPieces pieces each; neighbouring groups of lanes take neighbouring heads.
// kFull: the pieces of a group are a head exactly.
#include "GatedRmsNorm.h"
#include "PieceStages.cuh"

namespace qrt::device {

/// The sum over the kLanes lanes of a group, in each of them.
template <int kLanes> __device__ __forceinline__ float groupSum(float x) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xFFFFFFFFu, x, offset);
  return x;
}

/// Head `row % heads` of token `row / heads`.
struct HeadOfToken {
  unsigned token, head;

  __device__ __forceinline__ HeadOfToken(int row, const Divisor &heads)
      : token(quotient(row, heads)), head(row - token * heads.value) {}
  __device__ __forceinline__ i64 in(const HeadTensor &tensor) const { return token * tensor.row + head * tensor.head; }
};

template <typename W, int N, int kLanes, int kPieces>
__device__ __forceinline__ void loadWeight(Ptr weight, int width, float (&to)[kPieces][N]) {
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    Piece<W, N> piece = {};
    if (int col = (threadIdx.x % kLanes + i * kLanes) * N; col < width)
      piece = loadPiece<N>(as<const W>(weight) + col);
    unpack(piece, to[i]);
  }
}

template <typename T, typename W, int N, int kLanes, int kPieces, int kFull>
__global__ void __launch_bounds__(kGatedNormThreads, kPieces == 1 ? 4 : 1)
    gatedRmsNorm(const __grid_constant__ GatedRmsNormParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kGroups = kGatedNormThreads / kLanes, kRows = kGatedNormRows;
  int group = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  auto inside = [&](int i) { return kFull != 0 || (lane + i * kLanes) * N < p.width; };
  int first = blockIdx.x * kGroups * kRows + group; // rows first + r * kGroups
  Piece<T, N> xs[kRows][kPieces], zs[kRows][kPieces];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    // Past the end the last row is read again and not written.
    HeadOfToken at(min(first + r * kGroups, p.rows - 1), p.heads);
    const T *x = as<const T>(p.x.data) + at.in(p.x) + lane * N, *z = as<const T>(p.z.data) + at.in(p.z) + lane * N;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      xs[r][i] = zs[r][i] = {};
      if (inside(i)) {
        xs[r][i] = streamPiece<N>(x + i * kLanes * N);
        zs[r][i] = streamPiece<N>(z + i * kLanes * N);
      }
    }
  }
  float weight[kPieces][N];
  loadWeight<W, N, kLanes>(p.weight, p.width, weight);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    float squares = 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      float x[N];
      unpack(xs[r][i], x);
#pragma unroll
      for (int j = 0; j < N; ++j)
        squares += x[j] * x[j];
    }
    float rstd = approximateInverseRoot(groupSum<kLanes>(squares) * p.inverseWidth + p.eps);
    int row = first + r * kGroups;
    if (row < p.rows) {
      HeadOfToken at(row, p.heads);
      if (p.rstd && lane == 0)
        as<float>(p.rstd)[at.token * p.rstdToken + at.head] = rstd;
      T *y = as<T>(p.y.data) + at.in(p.y) + lane * N;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        float x[N], z[N];
        unpack(xs[r][i], x);
        unpack(zs[r][i], z);
#pragma unroll
        for (int j = 0; j < N; ++j)
          x[j] = weight[i][j] * (x[j] * rstd) * (z[j] * sigmoid(z[j]));
        if (inside(i))
          storePiece(y + i * kLanes * N, pack<T>(x));
      }
    }
  }
}

/// kSaved: rstd is there; else it is computed again.
///
/// `...Now` is what a group of lanes works on, `...Ahead` what it fetches meanwhile; each goes on by a constant a step.
/// The bound of one block is written out: without it the compiler keeps to 64 registers.
template <typename T, typename W, int N, int kLanes, int kPieces, int kFull, int kSaved, int kThreads>
__global__ void __launch_bounds__(kThreads, 1) gatedRmsNormGrad(const __grid_constant__ GatedRmsNormGradParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kGroups = kThreads / kLanes, kWarps = kThreads / 32, kStages = kGatedNormGradStages;
  __shared__ float shared[kWarps][kLanes * kPieces * N];
  PieceStages<T, N, kThreads, 3 * kPieces, kStages> stages;
  int lane = threadIdx.x % kLanes;
  auto inside = [&](int i) { return kFull != 0 || (lane + i * kLanes) * N < p.width; };

  int row = blockIdx.x * kGroups + threadIdx.x / kLanes; // of the first step
  HeadOfToken at(row, p.heads);
  auto pointer = [&](const HeadTensor &tensor) { return as<T>(tensor.data) + at.in(tensor) + lane * N; };
  const T *xNow = pointer(p.x), *zNow = pointer(p.z), *dyNow = pointer(p.dy);
  const T *xAhead = xNow, *zAhead = zNow, *dyAhead = dyNow;
  T *dxNow = pointer(p.dx), *dzNow = pointer(p.dz);
  const float *rstdAhead = as<const float>(p.rstd) + at.token * p.rstdToken + at.head;
  const i64 rstdStep = p.tokens * p.rstdToken, xStep = p.tokens * p.x.row, zStep = p.tokens * p.z.row;
  const i64 dyStep = p.tokens * p.dy.row, dxStep = p.tokens * p.dx.row, dzStep = p.tokens * p.dz.row;
  // Only the last step may have fewer rows than there are groups.
  const int stride = gridDim.x * kGroups, steps = row + (p.steps - 1) * stride < p.rows ? p.steps : p.steps - 1;
  auto fetch = [&](int step) {
    if (step < steps) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        if (inside(i)) {
          stages.fetch(step, 3 * i, xAhead + i * kLanes * N);
          stages.fetch(step, 3 * i + 1, zAhead + i * kLanes * N);
          stages.fetch(step, 3 * i + 2, dyAhead + i * kLanes * N);
        }
      }
    }
    stages.end();
    xAhead += xStep, zAhead += zStep, dyAhead += dyStep;
  };
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i)
    fetch(i);
  float nextRstd = kSaved != 0 && steps > 0 ? *rstdAhead : 0.0f;
  float weight[kPieces][N], sums[kPieces][N] = {};
  loadWeight<W, N, kLanes>(p.weight, p.width, weight);

  // A warp's first group has the most steps; the others go along, as of rows of zeros.
  const int stepsOfWarp = __shfl_sync(0xFFFFFFFFu, steps, 0);
  for (int step = 0; step < stepsOfWarp; ++step) {
    bool valid = step < steps;
    float rstd = nextRstd;
    if constexpr (kSaved != 0) {
      rstdAhead += rstdStep;
      nextRstd = step + 1 < steps ? *rstdAhead : 0.0f;
    }
    fetch(step + kStages - 1);
    stages.wait();
    float x[kPieces][N], z[kPieces][N], dy[kPieces][N], squares = 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      Piece<T, N> xPiece = {}, zPiece = {}, dyPiece = {};
      if (valid && inside(i)) {
        xPiece = stages.take(step, 3 * i, xNow + i * kLanes * N);
        zPiece = stages.take(step, 3 * i + 1, zNow + i * kLanes * N);
        dyPiece = stages.take(step, 3 * i + 2, dyNow + i * kLanes * N);
      }
      unpack(xPiece, x[i]);
      unpack(zPiece, z[i]);
      unpack(dyPiece, dy[i]);
      if constexpr (kSaved == 0) {
#pragma unroll
        for (int j = 0; j < N; ++j)
          squares += x[i][j] * x[i][j];
      }
    }
    if constexpr (kSaved == 0) {
      rstd = approximateInverseRoot(groupSum<kLanes>(squares) * p.inverseWidth + p.eps);
      rstd = valid ? rstd : 0.0f; // without eps it is infinite
    }
    float total = 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        // dy becomes the cotangent of the normalized head, z that of the gate.
        float s = sigmoid(z[i][j]), silu = z[i][j] * s, normal = x[i][j] * rstd, e = dy[i][j] * silu;
        z[i][j] = dy[i][j] * (weight[i][j] * normal) * (s + silu * (1.0f - s));
        sums[i][j] += e * normal;
        dy[i][j] = e * weight[i][j];
        total += dy[i][j] * x[i][j];
      }
      if (valid && inside(i))
        storePiece(dzNow + i * kLanes * N, pack<T>(z[i]));
    }
    float slope = groupSum<kLanes>(total) * rstd * p.inverseWidth * rstd * rstd;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int j = 0; j < N; ++j)
        x[i][j] = rstd * dy[i][j] - slope * x[i][j];
      if (valid && inside(i))
        storePiece(dxNow + i * kLanes * N, pack<T>(x[i]));
    }
    xNow += xStep, zNow += zStep, dyNow += dyStep;
    dxNow += dxStep, dzNow += dzStep;
  }

  // The groups of a warp, then the warps.
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
#pragma unroll
    for (int j = 0; j < N; ++j) {
#pragma unroll
      for (int offset = 16; offset >= kLanes; offset /= 2)
        sums[i][j] += __shfl_xor_sync(0xFFFFFFFFu, sums[i][j], offset);
      if (threadIdx.x % 32 < kLanes)
        shared[threadIdx.x / 32][(lane + i * kLanes) * N + j] = sums[i][j];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int col = threadIdx.x; col < p.width; col += kThreads) {
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp)
      sum += shared[warp][col];
    as<float>(p.lines)[static_cast<i64>(blockIdx.x) * p.width + col] = sum;
  }
}

} // namespace qrt::device
