// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Query and key of attention (docs/model.md, Full attention 2-3): RMSNorm per head, then rotation of the first 2 half
// elements in pairs (i, i + half) by the angle position * theta^(-i / half). The gradient rotates back and goes through
// the norm as in RmsNorm.cuh.
//
// A warp takes the heads of an item, kPieces pieces of each a lane, with the next items on their way. Positions times
// frequencies are exact (f64), so an angle does not lose digits far into a document. kFull: the pieces of a warp are a
// head exactly.
#include "PieceStages.cuh"
#include "QkNormRope.h"

namespace qrt::device {

/// The rotation of the token at hand as one lane needs it. N > 1: the pairs lie in piece 0 of two lanes that half / N
/// tells apart, one bit (the plan sees to it). N == 1: anywhere, and a row goes through shared memory.
template <int N, int kPieces> struct QkRotation {
  /// What one warp works with.
  struct Shared {
    alignas(16) float cosines[kMostRotaryPairs], sines[kMostRotaryPairs];
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
      // All of a piece is in one half, or in none.
      int i = (lane + s * 32) * N;
      bool isLow = i < p.half, rotates = i < 2 * p.half;
      int pair = isLow ? i : rotates ? i - p.half : 0;
      unpack(loadPiece<N>(shared.cosines + pair), cosine[s]);
      unpack(loadPiece<N>(shared.sines + pair), sine[s]);
#pragma unroll
      for (int j = 0; j < N; ++j) {
        cosine[s][j] = rotates ? cosine[s][j] : 1.0f;
        sine[s][j] = rotates ? (isLow ? -sign : sign) * sine[s][j] : 0.0f;
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

/// What a warp looks at: an item of a token, a side's heads from `head`.
struct QkItem {
  int token, index;

  __device__ __forceinline__ int side(const QkNormRopeParams &p) const { return index >= p.qItems; }
  __device__ __forceinline__ int head(const QkNormRopeParams &p) const {
    return (index - (index >= p.qItems ? p.qItems : 0)) * kQkNormRopeHeads;
  }
  __device__ __forceinline__ void next(const QkNormRopeParams &p) {
    if (++index == p.items)
      index = 0, ++token;
  }
};

/// Piece 0 of this lane of a head.
template <int N, typename T> __device__ __forceinline__ T *pieceOf(const HeadTensor &tensor, int token, int head) {
  return as<T>(tensor.data) + token * tensor.row + head * tensor.head + threadIdx.x % 32 * N;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// A token in no document gets zeros.
template <typename T, int N, int kPieces>
__device__ __forceinline__ void clearHeads(const QkNormRopeParams &p, const HeadTensor &out, const QkHeads &heads,
                                           int token) {
  for (int head = 0; head < heads.heads; ++head) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      if ((static_cast<int>(threadIdx.x % 32) + i * 32) * N < p.width)
        storePiece(pieceOf<N, T>(out, token, head) + i * 32 * N, Piece<T, N>{});
    if (heads.rstd && threadIdx.x % 32 == 0)
      as<float>(heads.rstd)[token * heads.rstdToken + head] = 0;
  }
}

/// A block is one warp and takes one token. With the factors of an element and of its partner, norm and rotation are
/// one step: y = rstd (x (1 + w) cosine + x' (1 + w') sine).
template <typename T, typename W, int N, int kPieces, int kFull>
__global__ void __launch_bounds__(32) qkNormRope(const __grid_constant__ QkNormRopeParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  using Rotation = QkRotation<N, kPieces>;
  constexpr int kHeads = kQkNormRopeHeads, kStages = kQkNormRopeStages, kRotated = Rotation::kRotated;
  __shared__ typename Rotation::Shared shared;
  PieceStages<T, N, 32, kHeads * kPieces, kStages> stages;
  auto inside = [&](int i) { return kFull != 0 || (static_cast<int>(threadIdx.x) + i * 32) * N < p.width; };
  int token = blockIdx.x, document = documentOf(p.docs, token);
  auto fetch = [&](int index) {
    if (index < p.items) {
      QkItem item{token, index};
      const QkHeads &heads = p.sides[item.side(p)];
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        int head = item.head(p) + h;
        if (head < heads.heads) {
          const T *from = pieceOf<N, const T>(heads.in, token, head);
#pragma unroll
          for (int i = 0; i < kPieces; ++i)
            if (inside(i))
              stages.fetch(index, h * kPieces + i, from + i * 32 * N);
        }
      }
    }
    stages.end();
  };
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i)
    fetch(i);
  // Known only now, so that the heads are on their way before.
  if (document < 0) {
    waitChunks<0>();
    clearHeads<T, N, kPieces>(p, p.sides[0].out, p.sides[0], token);
    clearHeads<T, N, kPieces>(p, p.sides[1].out, p.sides[1], token);
    return;
  }
  Rotation rotation;
  rotation.set(p, token - documentBegin(p.docs, document), 1.0f, shared);
  float own[kPieces][N], other[kRotated][N];
  for (int index = 0; index < p.items; ++index) {
    QkItem item{token, index};
    const QkHeads &heads = p.sides[item.side(p)];
    fetch(index + kStages - 1);
    if (index == 0 || index == p.qItems) {
      Piece<W, N> weight[kPieces];
      loadWeight(heads.weight, p.width, weight);
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
    }
    stages.wait();
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      int head = item.head(p) + h;
      if (head >= heads.heads)
        break;
      const T *from = pieceOf<N, const T>(heads.in, token, head);
      Piece<T, N> pieces[kPieces];
      float x[kPieces][N], partner[kRotated][N], squares = 0;
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        pieces[i] = {};
        if (inside(i))
          pieces[i] = stages.take(index, h * kPieces + i, from + i * 32 * N);
        unpack(pieces[i], x[i]);
#pragma unroll
        for (int j = 0; j < N; ++j)
          squares += x[i][j] * x[i][j];
      }
      rotation.partners(p, pieces, partner, shared);
      float rstd = approximateInverseRoot(warpSum(squares) * p.inverseWidth + p.eps);
      T *to = pieceOf<N, T>(heads.out, token, head);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
#pragma unroll
        for (int j = 0; j < N; ++j) {
          x[i][j] *= own[i][j];
          if (i < kRotated)
            x[i][j] += partner[i][j] * other[i][j];
          x[i][j] *= rstd;
        }
        if (inside(i))
          storePiece(to + i * 32 * N, pack<T>(x[i]));
      }
      if (heads.rstd && threadIdx.x == 0)
        as<float>(heads.rstd)[token * heads.rstdToken + head] = rstd;
    }
  }
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

/// The positions of a warp's tokens in their documents, one token after the other. What they follow from is read a
/// token or two ahead, for a warp would wait for one read after the other at every token.
class QkPositions {
public:
  __device__ __forceinline__ QkPositions(const Segments &docs, int token)
      : token_(token), document_(documentAt(docs, token)), begin_(beginOf(docs, document_)),
        following_(documentAt(docs, token + 1)) {}

  /// Of the next token; negative in no document.
  __device__ __forceinline__ int take(const Segments &docs) {
    int position = document_ < 0 ? -1 : token_ - begin_;
    document_ = following_;
    begin_ = beginOf(docs, document_);
    following_ = documentAt(docs, ++token_ + 1);
    return position;
  }

private:
  __device__ __forceinline__ static int documentAt(const Segments &docs, int token) {
    return documentOf(docs, min(token, docs.tokens - 1));
  }
  __device__ __forceinline__ static int beginOf(const Segments &docs, int document) {
    return documentBegin(docs, max(document, 0));
  }

  int token_, document_, begin_, following_;
};

/// kSaved: rstd of q and k is there; else it is computed again.
template <typename T, typename W, int N, int kPieces, int kFull, int kSaved>
__global__ void __launch_bounds__(kQkNormRopeGradWarps * 32, kPieces == 1 ? 2 : 1)
    qkNormRopeGrad(const __grid_constant__ QkNormRopeParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  using Rotation = QkRotation<N, kPieces>;
  constexpr int kHeads = kQkNormRopeHeads, kStages = kQkNormRopeGradStages, kRotated = Rotation::kRotated;
  constexpr int kWarps = kQkNormRopeGradWarps;
  __shared__ typename Rotation::Shared rotations[kWarps];
  // Each warp's sums of q and of k.
  __shared__ float warpSums[kWarps][2][32 * kPieces * N];
  PieceStages<T, N, kWarps * 32, 2 * kHeads * kPieces, kStages> stages;
  int warp = warpIndex(), lane = threadIdx.x % 32;
  auto inside = [&](int i) { return kFull != 0 || (lane + i * 32) * N < p.width; };

  int first = (static_cast<int>(blockIdx.x) * kWarps + warp) * p.itemsPerWarp;
  int count = min(p.itemsPerWarp, p.docs.tokens * p.items - first);
  QkItem item{first / p.items, first % p.items}, ahead = item;
  // Head h of an item; where a side has no more, its last once more, so that nothing branches.
  auto headAt = [](const QkHeads &heads, int head, int h) { return h == 0 ? head : min(head + h, heads.heads - 1); };
  auto fetch = [&](int step) {
    if (step < count) {
      // Of tokens in no document too, unused.
      const QkHeads &heads = p.sides[ahead.side(p)];
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        int head = headAt(heads, ahead.head(p), h);
        const T *x = pieceOf<N, const T>(heads.in, ahead.token, head);
        const T *d = pieceOf<N, const T>(heads.out, ahead.token, head);
#pragma unroll
        for (int i = 0; i < kPieces; ++i) {
          if (inside(i)) {
            stages.fetch(step, (h * 2) * kPieces + i, x + i * 32 * N);
            stages.fetch(step, (h * 2 + 1) * kPieces + i, d + i * 32 * N);
          }
        }
      }
      ahead.next(p);
    }
    stages.end();
  };
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i)
    fetch(i);

  // rstd of the next item, on their way while the one at hand is worked on.
  QkItem following = item;
  float nextRstds[kHeads] = {};
  auto fetchRstds = [&](int step) {
    if (kSaved != 0 && step < count) {
      const QkHeads &heads = p.sides[following.side(p)];
#pragma unroll
      for (int h = 0; h < kHeads; ++h)
        nextRstds[h] =
            as<const float>(heads.rstd)[following.token * heads.rstdToken + headAt(heads, following.head(p), h)];
      following.next(p);
    }
  };
  fetchRstds(0);
  QkPositions positions(p.docs, item.token);
  // Of both sides, for a warp changes sides twice a token. weights: 1 + w.
  float weights[2][kPieces][N], sums[2][kPieces][N] = {};
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    Piece<W, N> pieces[kPieces];
    loadWeight(p.sides[side].weight, p.width, pieces);
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      unpack(pieces[i], weights[side][i]);
#pragma unroll
      for (int j = 0; j < N; ++j)
        weights[side][i][j] += 1.0f;
    }
  }

  Rotation rotation;
  int lastToken = -1, position = -1;
  // The item at hand with its side's registers. Its heads go side by side, for one alone is a chain of waits.
  auto work = [&](int step, const QkHeads &heads, const float (&weight)[kPieces][N], float (&sum)[kPieces][N],
                  const float (&saved)[kHeads]) {
    Piece<T, N> pieces[kHeads][kPieces];
    float x[kHeads][kPieces][N], d[kHeads][kPieces][N], totals[kHeads] = {}, squares[kHeads] = {};
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      int head = headAt(heads, item.head(p), h);
      const T *xFrom = pieceOf<N, const T>(heads.in, item.token, head);
      const T *dFrom = pieceOf<N, const T>(heads.out, item.token, head);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        Piece<T, N> piece = {};
        pieces[h][i] = {};
        if (inside(i)) {
          piece = stages.take(step, (h * 2) * kPieces + i, xFrom + i * 32 * N);
          pieces[h][i] = stages.take(step, (h * 2 + 1) * kPieces + i, dFrom + i * 32 * N);
        }
        unpack(piece, x[h][i]);
        unpack(pieces[h][i], d[h][i]);
      }
    }
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float partner[kRotated][N];
      rotation.partners(p, pieces[h], partner, rotations[warp]);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
#pragma unroll
        for (int j = 0; j < N; ++j) {
          if (i < kRotated)
            d[h][i][j] = d[h][i][j] * rotation.cosine[i][j] + partner[i][j] * rotation.sine[i][j];
          totals[h] += d[h][i][j] * weight[i][j] * x[h][i][j];
          if constexpr (kSaved == 0)
            squares[h] += x[h][i][j] * x[h][i][j];
        }
      }
    }
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      totals[h] = warpSum(totals[h]);
      if constexpr (kSaved == 0)
        squares[h] = warpSum(squares[h]);
    }
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      bool isThere = item.head(p) + h < heads.heads;
      float rstd = kSaved != 0 ? saved[h] : approximateInverseRoot(squares[h] * p.inverseWidth + p.eps);
      if (!isThere)
        rstd = 0; // adds nothing
      float slope = totals[h] * p.inverseWidth * rstd * rstd * rstd;
      T *to = pieceOf<N, T>(heads.din, item.token, item.head(p) + h);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
#pragma unroll
        for (int j = 0; j < N; ++j) {
          float scaled = d[h][i][j] * rstd;
          sum[i][j] += scaled * x[h][i][j];
          d[h][i][j] = scaled * weight[i][j] - slope * x[h][i][j];
        }
        if (isThere && inside(i))
          storePiece(to + i * 32 * N, pack<T>(d[h][i]));
      }
    }
  };
  auto clear = [&](const QkHeads &heads) {
#pragma unroll
    for (int h = 0; h < kHeads; ++h)
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
        if (item.head(p) + h < heads.heads && inside(i))
          storePiece(pieceOf<N, T>(heads.din, item.token, item.head(p) + h) + i * 32 * N, Piece<T, N>{});
  };
  for (int step = 0; step < count; ++step, item.next(p)) {
    fetch(step + kStages - 1);
    if (item.token != lastToken) {
      lastToken = item.token;
      position = positions.take(p.docs);
      rotation.set(p, max(position, 0), -1.0f, rotations[warp]);
    }
    float rstds[kHeads];
#pragma unroll
    for (int h = 0; h < kHeads; ++h)
      rstds[h] = nextRstds[h];
    fetchRstds(step + 1);
    stages.wait();
    if (position < 0)
      clear(p.sides[item.side(p)]);
    else if (item.side(p) == 0)
      work(step, p.sides[0], weights[0], sums[0], rstds);
    else
      work(step, p.sides[1], weights[1], sums[1], rstds);
  }

  // The warps' sums, in order.
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
#pragma unroll
      for (int j = 0; j < N; ++j)
        warpSums[warp][side][(i * N + j) * 32 + lane] = sums[side][i][j];
  __syncthreads();
  for (int at = threadIdx.x; at < 2 * p.width; at += kWarps * 32) {
    int side = at >= p.width, col = at - side * p.width, piece = col / N;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w)
      sum += warpSums[w][side][(piece / 32 * N + col % N) * 32 + piece % 32];
    as<float>(p.lines)[static_cast<i64>(blockIdx.x) * 2 * p.width + at] = sum;
  }
}

} // namespace qrt::device
