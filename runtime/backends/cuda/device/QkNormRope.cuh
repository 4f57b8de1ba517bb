// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Query and key of attention (docs/model.md, Full attention 2-3): RMSNorm per head, then rotation of the first 2 half
// elements in pairs (i, i + half) by the angle position * theta^(-i / half). The gradient rotates back and goes through
// the norm as in RmsNorm.cuh.
//
// A warp takes one head at a time, kPieces pieces a lane, with the next heads of the same token in flight. Positions
// times frequencies are exact (f64), so an angle does not lose digits far into a document.
#include "Pieces.cuh"
#include "QkNormRope.h"

namespace qrt::device {

/// The rotation of the token at hand as one lane needs it. N > 1: the pairs lie in piece 0 of two lanes that half / N
/// tells apart, one bit (the plan sees to it). N == 1: anywhere, and a row goes through shared memory.
template <int N, int kPieces> struct QkRotation {
  /// What one warp works with.
  struct Shared {
    float cosines[kMostRotaryPairs], sines[kMostRotaryPairs];
    float row[N == 1 ? 32 * kPieces : 1];
  };
  static constexpr int kRotated = N == 1 ? kPieces : 1; // pieces that may rotate

  /// x' = x cosine + partner sine.
  float cosine[kRotated][N], sine[kRotated][N];

  /// By all lanes of a warp. `sign`: 1, or -1 to rotate back.
  __device__ __forceinline__ void set(const QkNormRopeParams &p, int position, float sign, Shared &shared) {
    int lane = threadIdx.x % 32;
    __syncwarp();
    for (int i = lane; i < p.half; i += 32) {
      double turns = position * p.turns[i];
      sincospif(2.0f * static_cast<float>(turns - rint(turns)), &shared.sines[i], &shared.cosines[i]);
    }
    __syncwarp();
#pragma unroll
    for (int s = 0; s < kRotated; ++s) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        int i = (lane + s * 32) * N + j;
        bool low = i < p.half, rotates = i < 2 * p.half;
        int pair = low ? i : i - p.half;
        cosine[s][j] = rotates ? shared.cosines[pair] : 1.0f;
        sine[s][j] = rotates ? (low ? -sign : sign) * shared.sines[pair] : 0.0f;
      }
    }
  }

  /// By all lanes of a warp.
  __device__ __forceinline__ void apply(const QkNormRopeParams &p, float (&x)[kPieces][N], Shared &shared) const {
    if constexpr (N == 1) {
      int lane = threadIdx.x % 32;
      __syncwarp();
#pragma unroll
      for (int s = 0; s < kPieces; ++s)
        shared.row[lane + s * 32] = x[s][0];
      __syncwarp();
#pragma unroll
      for (int s = 0; s < kPieces; ++s) {
        int i = lane + s * 32;
        if (i < 2 * p.half)
          x[s][0] = x[s][0] * cosine[s][0] + shared.row[i < p.half ? i + p.half : i - p.half] * sine[s][0];
      }
    } else {
      int partner = p.half / N;
#pragma unroll
      for (int j = 0; j < N; ++j)
        x[0][j] = x[0][j] * cosine[0][j] + __shfl_xor_sync(0xFFFFFFFFu, x[0][j], partner) * sine[0][j];
    }
  }
};

template <typename T, typename W, int N, int kPieces>
__device__ __forceinline__ void qkWeight(Ptr weight, int width, float (&to)[kPieces][N]) {
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    Piece<W, N> piece = {};
    if (int col = (threadIdx.x % 32 + i * 32) * N; col < width)
      piece = loadPiece<N>(as<const W>(weight) + col);
    unpack(piece, to[i]);
#pragma unroll
    for (int j = 0; j < N; ++j)
      to[i][j] += 1.0f;
  }
}

/// Piece i of head `head` of a token; zeros past the heads or the width.
template <int N, typename T>
__device__ __forceinline__ Piece<T, N> qkLoad(const HeadTensor &from, int heads, int width, int token, int head,
                                              int i) {
  int col = (threadIdx.x % 32 + i * 32) * N;
  return head < heads && col < width
             ? streamPiece<N>(as<const T>(from.data) + token * from.row + head * from.head + col)
             : Piece<T, N>{};
}
template <int N, typename T>
__device__ __forceinline__ void qkStore(const HeadTensor &to, int heads, int width, int token, int head, int i,
                                        const Piece<T, N> &piece) {
  int col = (threadIdx.x % 32 + i * 32) * N;
  if (head < heads && col < width)
    storePiece(as<T>(to.data) + token * to.row + head * to.head + col, piece);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The heads from `first` of a token, or zeros where it is in no document.
template <typename T, typename W, int N, int kPieces>
__device__ __forceinline__ void qkNormRopeItem(const QkNormRopeParams &p, const QkHeads &heads, int token, int first,
                                               bool inDocument, const QkRotation<N, kPieces> &rotation,
                                               typename QkRotation<N, kPieces>::Shared &shared) {
  constexpr int kHeads = kQkNormRopeHeads;
  Piece<T, N> xs[kHeads][kPieces] = {};
  if (inDocument) {
#pragma unroll
    for (int h = 0; h < kHeads; ++h)
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
        xs[h][i] = qkLoad<N, T>(heads.in, heads.heads, p.width, token, first + h, i);
  }
  float weight[kPieces][N];
  qkWeight<T, W, N, kPieces>(heads.weight, p.width, weight);
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    float x[kPieces][N], squares = 0;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      unpack(xs[h][i], x[i]);
#pragma unroll
      for (int j = 0; j < N; ++j)
        squares += x[i][j] * x[i][j];
    }
    float rstd = rsqrtf(warpSum(squares) / static_cast<float>(p.width) + p.eps);
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
#pragma unroll
      for (int j = 0; j < N; ++j)
        x[i][j] *= rstd * weight[i][j];
    rotation.apply(p, x, shared);
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      qkStore<N, T>(heads.out, heads.heads, p.width, token, first + h, i, pack<T>(x[i]));
    if (heads.rstd && threadIdx.x % 32 == 0 && first + h < heads.heads)
      as<float>(heads.rstd)[token * heads.rstdToken + first + h] = inDocument ? rstd : 0.0f;
  }
}

template <typename T, typename W, int N, int kPieces>
__global__ void __launch_bounds__(kQkNormRopeWarps * 32) qkNormRope(const __grid_constant__ QkNormRopeParams p) {
  using Rotation = QkRotation<N, kPieces>;
  __shared__ typename Rotation::Shared shared[kQkNormRopeWarps];
  int warp = threadIdx.x / 32, perToken = p.q.items + p.k.items;
  int item = (blockIdx.x * kQkNormRopeWarps + warp) * p.itemsPerWarp;
  int end = min(item + p.itemsPerWarp, p.docs.tokens * perToken);
  Rotation rotation;
  for (int last = -1, document = -1; item < end; ++item) {
    int token = item / perToken, at = item - token * perToken;
    if (token != last) {
      last = token;
      document = documentOf(p.docs, token);
      rotation.set(p, document < 0 ? 0 : token - documentBegin(p.docs, document), 1.0f, shared[warp]);
    }
    if (at < p.q.items)
      qkNormRopeItem<T, W, N, kPieces>(p, p.q, token, at * kQkNormRopeHeads, document >= 0, rotation, shared[warp]);
    else
      qkNormRopeItem<T, W, N, kPieces>(p, p.k, token, (at - p.q.items) * kQkNormRopeHeads, document >= 0, rotation,
                                       shared[warp]);
  }
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

template <typename T, typename W, int N, int kPieces>
__device__ __forceinline__ void qkNormRopeGradItem(const QkNormRopeParams &p, const QkHeads &heads, int token,
                                                   int first, bool inDocument, const QkRotation<N, kPieces> &rotation,
                                                   typename QkRotation<N, kPieces>::Shared &shared,
                                                   float (&sums)[kPieces][N]) {
  constexpr int kHeads = kQkNormRopeGradHeads;
  if (!inDocument) {
#pragma unroll
    for (int h = 0; h < kHeads; ++h)
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
        qkStore<N, T>(heads.din, heads.heads, p.width, token, first + h, i, Piece<T, N>{});
    return;
  }
  Piece<T, N> xs[kHeads][kPieces], ds[kHeads][kPieces];
  float rstds[kHeads];
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      xs[h][i] = qkLoad<N, T>(heads.in, heads.heads, p.width, token, first + h, i);
      ds[h][i] = qkLoad<N, T>(heads.out, heads.heads, p.width, token, first + h, i);
    }
    rstds[h] =
        heads.rstd && first + h < heads.heads ? as<const float>(heads.rstd)[token * heads.rstdToken + first + h] : 0.0f;
  }
  float weight[kPieces][N];
  qkWeight<T, W, N, kPieces>(heads.weight, p.width, weight);
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    float x[kPieces][N], d[kPieces][N], total = 0, rstd = rstds[h];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      unpack(xs[h][i], x[i]);
      unpack(ds[h][i], d[i]);
    }
    if (!heads.rstd) {
      float squares = 0;
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
#pragma unroll
        for (int j = 0; j < N; ++j)
          squares += x[i][j] * x[i][j];
      rstd = rsqrtf(warpSum(squares) / static_cast<float>(p.width) + p.eps);
    }
    rotation.apply(p, d, shared);
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
#pragma unroll
      for (int j = 0; j < N; ++j)
        total += d[i][j] * weight[i][j] * x[i][j];
    float slope = warpSum(total) * rstd / static_cast<float>(p.width) * rstd * rstd;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        d[i][j] *= rstd;
        sums[i][j] += d[i][j] * x[i][j];
        d[i][j] = d[i][j] * weight[i][j] - slope * x[i][j];
      }
      qkStore<N, T>(heads.din, heads.heads, p.width, token, first + h, i, pack<T>(d[i]));
    }
  }
}

template <typename T, typename W, int N, int kPieces>
__global__ void __launch_bounds__(kQkNormRopeGradWarps * 32, kPieces == 1 ? 2 : 1)
    qkNormRopeGrad(const __grid_constant__ QkNormRopeParams p) {
  using Rotation = QkRotation<N, kPieces>;
  constexpr int kWarps = kQkNormRopeGradWarps;
  union Shared {
    typename Rotation::Shared rotations[kWarps];
    float sums[kWarps][32 * kPieces * N];
  };
  __shared__ Shared shared;
  int warp = threadIdx.x / 32, perToken = p.q.items + p.k.items;
  int item = (blockIdx.x * kWarps + warp) * p.itemsPerWarp;
  int end = min(item + p.itemsPerWarp, p.docs.tokens * perToken);
  float qSums[kPieces][N] = {}, kSums[kPieces][N] = {};
  Rotation rotation;
  for (int last = -1, document = -1; item < end; ++item) {
    int token = item / perToken, at = item - token * perToken;
    if (token != last) {
      last = token;
      document = documentOf(p.docs, token);
      rotation.set(p, document < 0 ? 0 : token - documentBegin(p.docs, document), -1.0f, shared.rotations[warp]);
    }
    if (at < p.q.items)
      qkNormRopeGradItem<T, W, N, kPieces>(p, p.q, token, at * kQkNormRopeGradHeads, document >= 0, rotation,
                                           shared.rotations[warp], qSums);
    else
      qkNormRopeGradItem<T, W, N, kPieces>(p, p.k, token, (at - p.q.items) * kQkNormRopeGradHeads, document >= 0,
                                           rotation, shared.rotations[warp], kSums);
  }

  // The warps' sums, in order: q's, then k's.
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
#pragma unroll
      for (int j = 0; j < N; ++j)
        shared.sums[warp][(threadIdx.x % 32 + i * 32) * N + j] = side == 0 ? qSums[i][j] : kSums[i][j];
    __syncthreads();
    for (int col = threadIdx.x; col < p.width; col += kWarps * 32) {
      float sum = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w)
        sum += shared.sums[w][col];
      as<float>(p.lines)[(static_cast<i64>(blockIdx.x) * 2 + side) * p.width + col] = sum;
    }
  }
}

} // namespace qrt::device
