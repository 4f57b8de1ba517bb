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

  /// x' = x cosine + partner sine; 1 and 0 where nothing rotates.
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

  /// The partners of a row's elements, by all lanes of a warp; anything where nothing rotates.
  template <typename T>
  __device__ __forceinline__ void partners(const QkNormRopeParams &p, const Piece<T, N> (&row)[kPieces],
                                           float (&to)[kRotated][N], Shared &shared) const {
    if constexpr (N == 1) {
      int lane = threadIdx.x % 32;
      __syncwarp();
#pragma unroll
      for (int s = 0; s < kPieces; ++s)
        shared.row[lane + s * 32] = toFloat(row[s].raw);
      __syncwarp();
#pragma unroll
      for (int s = 0; s < kPieces; ++s) {
        int i = lane + s * 32;
        to[s][0] = i < 2 * p.half ? shared.row[i < p.half ? i + p.half : i - p.half] : 0.0f;
      }
    } else {
      Piece<T, N> partner = row[0];
#pragma unroll
      for (uint4 &raw : partner.raw) {
        raw.x = __shfl_xor_sync(0xFFFFFFFFu, raw.x, p.half / N);
        raw.y = __shfl_xor_sync(0xFFFFFFFFu, raw.y, p.half / N);
        raw.z = __shfl_xor_sync(0xFFFFFFFFu, raw.z, p.half / N);
        raw.w = __shfl_xor_sync(0xFFFFFFFFu, raw.w, p.half / N);
      }
      unpack(partner, to[0]);
    }
  }
};

template <typename W, int N, int kPieces>
__device__ __forceinline__ void loadWeight(Ptr weight, int width, Piece<W, N> (&to)[kPieces]) {
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    to[i] = {};
    if (int col = (threadIdx.x % 32 + i * 32) * N; col < width)
      to[i] = loadPiece<N>(as<const W>(weight) + col);
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

/// The heads of a token. With the factors of an element and of its partner, norm and rotation are one step: y = rstd (x
/// (1 + w) cosine + x' (1 + w') sine).
template <typename T, typename W, int N, int kPieces>
__device__ __forceinline__ void qkNormRopeHeads(const QkNormRopeParams &p, const QkHeads &heads, int token,
                                                const QkRotation<N, kPieces> &rotation,
                                                typename QkRotation<N, kPieces>::Shared &shared) {
  constexpr int kHeads = kQkNormRopeHeads, kRotated = QkRotation<N, kPieces>::kRotated;
  Piece<W, N> weight[kPieces];
  loadWeight(heads.weight, p.width, weight);
  float own[kPieces][N], other[kRotated][N];
  rotation.partners(p, weight, other, shared);
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    unpack(weight[i], own[i]);
#pragma unroll
    for (int j = 0; j < N; ++j) {
      own[i][j] += 1.0f;
      if (i < kRotated) {
        own[i][j] *= rotation.cosine[i][j];
        other[i][j] = (1.0f + other[i][j]) * rotation.sine[i][j];
      }
    }
  }
  for (int first = 0; first < heads.heads; first += kHeads) {
    Piece<T, N> xs[kHeads][kPieces];
#pragma unroll
    for (int h = 0; h < kHeads; ++h)
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
        xs[h][i] = qkLoad<N, T>(heads.in, heads.heads, p.width, token, first + h, i);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float x[kPieces][N], partner[kRotated][N], squares = 0;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        unpack(xs[h][i], x[i]);
#pragma unroll
        for (int j = 0; j < N; ++j)
          squares += x[i][j] * x[i][j];
      }
      rotation.partners(p, xs[h], partner, shared);
      float rstd = rsqrtf(warpSum(squares) / static_cast<float>(p.width) + p.eps);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
#pragma unroll
        for (int j = 0; j < N; ++j) {
          x[i][j] *= own[i][j];
          if (i < kRotated)
            x[i][j] += partner[i][j] * other[i][j];
          x[i][j] *= rstd;
        }
        qkStore<N, T>(heads.out, heads.heads, p.width, token, first + h, i, pack<T>(x[i]));
      }
      if (heads.rstd && threadIdx.x % 32 == 0 && first + h < heads.heads)
        as<float>(heads.rstd)[token * heads.rstdToken + first + h] = rstd;
    }
  }
}

/// What tokens in no document get.
template <typename T, int N, int kPieces>
__device__ __forceinline__ void clearHeads(const HeadTensor &out, const QkHeads &heads, int width, int token) {
  for (int head = 0; head < heads.heads; ++head) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      qkStore<N, T>(out, heads.heads, width, token, head, i, Piece<T, N>{});
    if (heads.rstd && threadIdx.x % 32 == 0)
      as<float>(heads.rstd)[token * heads.rstdToken + head] = 0;
  }
}

/// A warp takes a token.
template <typename T, typename W, int N, int kPieces>
__global__ void __launch_bounds__(kQkNormRopeWarps * 32, kPieces == 1 ? 6 : 1) qkNormRope(const __grid_constant__ QkNormRopeParams p) {
  using Rotation = QkRotation<N, kPieces>;
  __shared__ typename Rotation::Shared shared[kQkNormRopeWarps];
  int warp = threadIdx.x / 32, token = blockIdx.x * kQkNormRopeWarps + warp;
  if (token >= p.docs.tokens)
    return;
  int document = documentOf(p.docs, token);
  if (document < 0) {
    clearHeads<T, N, kPieces>(p.q.out, p.q, p.width, token);
    clearHeads<T, N, kPieces>(p.k.out, p.k, p.width, token);
    return;
  }
  Rotation rotation;
  rotation.set(p, token - documentBegin(p.docs, document), 1.0f, shared[warp]);
  qkNormRopeHeads<T, W, N, kPieces>(p, p.q, token, rotation, shared[warp]);
  qkNormRopeHeads<T, W, N, kPieces>(p, p.k, token, rotation, shared[warp]);
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

template <typename T, typename W, int N, int kPieces>
__device__ __forceinline__ void qkNormRopeGradItem(const QkNormRopeParams &p, const QkHeads &heads, int token,
                                                   int first, bool inDocument, const QkRotation<N, kPieces> &rotation,
                                                   typename QkRotation<N, kPieces>::Shared &shared,
                                                   float (&sums)[kPieces][N]) {
  constexpr int kHeads = kQkNormRopeGradHeads, kRotated = QkRotation<N, kPieces>::kRotated;
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
  Piece<W, N> weights[kPieces];
  loadWeight(heads.weight, p.width, weights);
  float weight[kPieces][N]; // 1 + w
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    unpack(weights[i], weight[i]);
#pragma unroll
    for (int j = 0; j < N; ++j)
      weight[i][j] += 1.0f;
  }
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    float x[kPieces][N], d[kPieces][N], partner[kRotated][N], total = 0, rstd = rstds[h];
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
    rotation.partners(p, ds[h], partner, shared);
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        if (i < kRotated)
          d[i][j] = d[i][j] * rotation.cosine[i][j] + partner[i][j] * rotation.sine[i][j];
        total += d[i][j] * weight[i][j] * x[i][j];
      }
    }
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
