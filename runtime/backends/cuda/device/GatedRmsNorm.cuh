// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The delta rule's output norm (docs/model.md, Gated DeltaNet 7): y = weight n silu(z), n = x rstd. Gradients, with s =
// sigmoid(z): dz = dy weight n (s + silu(z) (1 - s)); with e = dy silu(z) and g = e weight: dweight = sum e n, dx =
// rstd (g - n mean(g n)).
//
// kLanes lanes of a warp take one head, kPieces pieces each; neighbouring groups of lanes take neighbouring heads.
#include "GatedRmsNorm.h"
#include "Pieces.cuh"

namespace qrt::device {

/// The sum over the kLanes lanes of a group, in each of them.
template <int kLanes> __device__ __forceinline__ float groupSum(float x) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xFFFFFFFFu, x, offset);
  return x;
}

/// Where head `row % heads` of token `row / heads` begins.
__device__ __forceinline__ i64 headOffset(const HeadTensor &tensor, int row, const Divisor &heads) {
  unsigned token = quotient(row, heads);
  return token * tensor.row + (row - token * heads.value) * tensor.head;
}

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

template <typename T, typename W, int N, int kLanes, int kPieces>
__global__ void __launch_bounds__(kGatedNormThreads) gatedRmsNorm(const __grid_constant__ GatedRmsNormParams p) {
  constexpr int kGroups = kGatedNormThreads / kLanes, kRows = kGatedNormRows;
  int group = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  Piece<T, N> xs[kRows][kPieces], zs[kRows][kPieces];
  int first = blockIdx.x * kGroups * kRows + group; // rows first + r * kGroups
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    int row = first + r * kGroups;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      xs[r][i] = zs[r][i] = {};
      if (int col = (lane + i * kLanes) * N; row < p.rows && col < p.width) {
        xs[r][i] = streamPiece<N>(as<const T>(p.x.data) + headOffset(p.x, row, p.heads) + col);
        zs[r][i] = streamPiece<N>(as<const T>(p.z.data) + headOffset(p.z, row, p.heads) + col);
      }
    }
  }
  float weight[kPieces][N];
  loadWeight<W, N, kLanes>(p.weight, p.width, weight);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    int row = first + r * kGroups;
    float squares = 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      float x[N];
      unpack(xs[r][i], x);
#pragma unroll
      for (int j = 0; j < N; ++j)
        squares += x[j] * x[j];
    }
    float rstd = rsqrtf(groupSum<kLanes>(squares) / static_cast<float>(p.width) + p.eps);
    if (row >= p.rows)
      continue;
    if (p.rstd && lane == 0) {
      unsigned token = quotient(row, p.heads);
      as<float>(p.rstd)[token * p.rstdToken + (row - token * p.heads.value)] = rstd;
    }
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      if (int col = (lane + i * kLanes) * N; col < p.width) {
        float x[N], z[N];
        unpack(xs[r][i], x);
        unpack(zs[r][i], z);
#pragma unroll
        for (int j = 0; j < N; ++j)
          x[j] = weight[i][j] * (x[j] * rstd) * (z[j] * sigmoid(z[j]));
        storePiece(as<T>(p.y.data) + headOffset(p.y, row, p.heads) + col, pack<T>(x));
      }
    }
  }
}

/// kSaved: rstd is there; else it is computed again.
template <typename T, typename W, int N, int kLanes, int kPieces, int kSaved>
__global__ void __launch_bounds__(kGatedNormThreads)
    gatedRmsNormGrad(const __grid_constant__ GatedRmsNormGradParams p) {
  constexpr int kGroups = kGatedNormThreads / kLanes, kRows = kGatedNormGradRows, kWarps = kGatedNormThreads / 32;
  __shared__ float shared[kWarps][kLanes * kPieces * N];
  int group = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  float weight[kPieces][N], sums[kPieces][N] = {};
  loadWeight<W, N, kLanes>(p.weight, p.width, weight);

  int begin = blockIdx.x * p.rowsPerBlock, end = min(begin + p.rowsPerBlock, p.rows);
  // All lanes of a warp go round equally often.
  for (; begin < end; begin += kGroups * kRows) {
    Piece<T, N> xs[kRows][kPieces], zs[kRows][kPieces], dys[kRows][kPieces];
    float rstds[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      int row = begin + group + r * kGroups;
      rstds[r] = 0;
      if (kSaved != 0 && row < end) {
        unsigned token = quotient(row, p.heads);
        rstds[r] = as<const float>(p.rstd)[token * p.rstdToken + (row - token * p.heads.value)];
      }
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        xs[r][i] = zs[r][i] = dys[r][i] = {};
        if (int col = (lane + i * kLanes) * N; row < end && col < p.width) {
          xs[r][i] = streamPiece<N>(as<const T>(p.x.data) + headOffset(p.x, row, p.heads) + col);
          zs[r][i] = streamPiece<N>(as<const T>(p.z.data) + headOffset(p.z, row, p.heads) + col);
          dys[r][i] = streamPiece<N>(as<const T>(p.dy.data) + headOffset(p.dy, row, p.heads) + col);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      int row = begin + group + r * kGroups;
      float rstd = rstds[r];
      if constexpr (kSaved == 0) {
        float squares = 0;
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
          float x[N];
          unpack(xs[r][i], x);
#pragma unroll
          for (int j = 0; j < N; ++j)
            squares += x[j] * x[j];
        }
        rstd = rsqrtf(groupSum<kLanes>(squares) / static_cast<float>(p.width) + p.eps);
      }
      float cotangent[kPieces][N], total = 0;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        float x[N], z[N], dy[N];
        unpack(xs[r][i], x);
        unpack(zs[r][i], z);
        unpack(dys[r][i], dy);
#pragma unroll
        for (int j = 0; j < N; ++j) {
          float s = sigmoid(z[j]), silu = z[j] * s, normal = x[j] * rstd, e = dy[j] * silu;
          z[j] = dy[j] * (weight[i][j] * normal) * (s + silu * (1.0f - s));
          sums[i][j] += e * normal;
          cotangent[i][j] = e * weight[i][j];
          total += cotangent[i][j] * x[j];
        }
        if (int col = (lane + i * kLanes) * N; row < end && col < p.width)
          storePiece(as<T>(p.dz.data) + headOffset(p.dz, row, p.heads) + col, pack<T>(z));
      }
      float slope = groupSum<kLanes>(total) * rstd / static_cast<float>(p.width) * rstd * rstd;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        if (int col = (lane + i * kLanes) * N; row < end && col < p.width) {
          float x[N];
          unpack(xs[r][i], x);
#pragma unroll
          for (int j = 0; j < N; ++j)
            x[j] = rstd * cotangent[i][j] - slope * x[j];
          storePiece(as<T>(p.dx.data) + headOffset(p.dx, row, p.heads) + col, pack<T>(x));
        }
      }
    }
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
  for (int col = threadIdx.x; col < p.width; col += kGatedNormThreads) {
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp)
      sum += shared[warp][col];
    as<float>(p.lines)[static_cast<i64>(blockIdx.x) * p.width + col] = sum;
  }
}

} // namespace qrt::device
