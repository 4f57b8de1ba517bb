// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first launch of the gated delta rule on tensor cores (GatedDelta128.cuh).
#include "GatedDelta128.cuh"

namespace qrt::device {

constexpr int kPrepareThreads = kDelta128PrepareThreads;
/// Value heads worked on at once, a warp each.
constexpr int kPrepareHeads = 3;
/// Row length of the f32 matrices: rows begin on 16 bytes, columns of neighbouring rows in other banks.
constexpr int kWide = 68;
constexpr int kWideBytes = kDeltaChunk * kWide * 4;

struct Delta128PrepareShared {
  unsigned char keys[2 * kPanel], queries[2 * kPanel];
  /// P on its way out; T goes out from where its inverse was.
  unsigned char scores[kPanel];
  float kk[kDeltaChunk * kWide];
  float inverse[kPrepareHeads][kDeltaChunk * kWide];
  float gates[kPrepareHeads][kDelta128Gates][kDeltaChunk];
  Barrier full, met;
  int counts[kPrepareThreads / 32];
};
static_assert(sizeof(Delta128PrepareShared) == kDelta128PrepareBytes);

/// The documents in the order of the scans: the tiles of the segment table come with the most keys first, so the last
/// tiles of the documents come with the longest document first.
__device__ __forceinline__ void delta128Order(const Segments &docs, Ptr order, int *counts) {
  int *out = as<int>(order), tiles = segmentTiles(docs), lane = threadIdx.x % 32, warp = threadIdx.x / 32, found = 0;
  for (int first = 0; first < tiles; first += kPrepareThreads) {
    int tile = first + static_cast<int>(threadIdx.x), begin = 0, end = 0;
    bool last = false;
    if (tile < tiles) {
      int row = tileBegin(docs, tile), document = documentOf(docs, row);
      begin = documentBegin(docs, document), end = documentBegin(docs, document + 1);
      last = row + kDeltaChunk >= end;
    }
    unsigned ballot = __ballot_sync(0xFFFFFFFFu, last);
    if (lane == 0)
      counts[warp] = __popc(ballot);
    __syncthreads();
    int rank = found + __popc(ballot & ((1u << lane) - 1));
    for (int w = 0; w < kPrepareThreads / 32; ++w) {
      rank += w < warp ? counts[w] : 0;
      found += counts[w];
    }
    __syncthreads();
    if (last) {
      out[4 * rank] = begin;
      out[4 * rank + 1] = end;
      out[4 * rank + 2] = deltaChunkAt(docs, begin);
    }
  }
  for (int rank = found + static_cast<int>(threadIdx.x); rank < docs.documents; rank += kPrepareThreads)
    out[4 * rank] = out[4 * rank + 1] = out[4 * rank + 2] = 0;
}

/// deltaChunk() from loads that do not wait for one another: documents follow one another without a gap, so a chunk
/// ends where the next begins.
__device__ __forceinline__ DeltaChunk delta128Chunk(const Segments &docs, int chunk, int chunks) {
  int row = chunkBegin(docs, chunk), end = chunk + 1 == chunks ? segmentTokens(docs) : chunkBegin(docs, chunk + 1);
  return {row, end - row};
}

/// The gates of a chunk and value head, by a warp: two tokens a lane.
template <typename TBeta>
__device__ __forceinline__ void delta128Gates(const Delta128PrepareParams &p, const DeltaChunk &chunk, int head,
                                              float (&gates)[kDelta128Gates][kDeltaChunk], float *out) {
  int lane = opaque(threadIdx.x % 32), t = 2 * lane;
  float g[2], beta[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    bool real = t + i < chunk.n;
    g[i] = real ? *rowOfHead<const float>(p.g, chunk.row + t + i, head) : 0.0f;
    beta[i] = real ? fmaxf(toFloat(*rowOfHead<const TBeta>(p.beta, chunk.row + t + i, head)), kLeastBeta) : 0.0f;
  }
  // In double: a strong decay early in the chunk must not cost the digits of what follows.
  double first = static_cast<double>(g[0]), both = first + static_cast<double>(g[1]), sum = both;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    double before = __shfl_up_sync(0xFFFFFFFFu, sum, offset);
    sum += lane >= offset ? before : 0.0;
  }
  double end = __shfl_sync(0xFFFFFFFFu, sum, 31);
  double gamma[2] = {sum - both + first, sum};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    float values[kDelta128Gates];
    values[kGateBeta] = beta[i];
    values[kGateDecay] = exp2f(static_cast<float>(gamma[i] * kLog2EInF64));
    values[kGateToEnd] = t + i < chunk.n ? exp2f(static_cast<float>((end - gamma[i]) * kLog2EInF64)) : 0.0f;
    values[kGateGamma] = static_cast<float>(gamma[i] * kLog2EInF64);
#pragma unroll
    for (int gate = 0; gate < kDelta128Gates; ++gate) {
      gates[gate][t + i] = values[gate];
      out[gate * kDeltaChunk + t + i] = values[gate];
    }
  }
}

/// d [16, 16] += a b, rows of kWide floats, rounded to tf32, by a warp.
__device__ __forceinline__ void addBlocks(float (&d)[2][4], const float *a, const float *b) {
  int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int k = 0; k < 16; k += 8) {
    unsigned left[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      left[i] = toTf32(a[(g + i % 2 * 8) * kWide + k + t + i / 2 * 4]);
#pragma unroll
    for (int n = 0; n < 2; ++n)
      warpProductTf32(d[n], left, toTf32(b[(k + t) * kWide + 8 * n + g]), toTf32(b[(k + t + 4) * kWide + 8 * n + g]));
  }
}
/// The block times a factor for each row.
__device__ __forceinline__ void storeBlock(float *to, const float (&d)[2][4], float first, float second) {
  int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    *reinterpret_cast<float2 *>(to + g * kWide + 8 * n + 2 * t) = make_float2(first * d[n][0], first * d[n][1]);
    *reinterpret_cast<float2 *>(to + (g + 8) * kWide + 8 * n + 2 * t) = make_float2(second * d[n][2], second * d[n][3]);
  }
}

/// x = (I + L)^-1, L = strictlower(beta_i kk_ij), in the blocks of 16 x 16 on and below the diagonal, by a warp. Blocks
/// on the diagonal by forward substitution in f32; then X_21 = -X_22 L_21 X_11 for halves of 32 and of 64.
__device__ __forceinline__ void delta128Invert(const float *kk, const float *beta, float *x) {
  int lane = opaque(threadIdx.x % 32), g = lane / 4, column = lane % 16;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    int block = (2 * pass + lane / 16) * 16;
    const float *rows = kk + block * kWide + block;
    float *out = x + block * kWide + block + column;
    float values[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float sum = 0.0f;
#pragma unroll
      for (int j = 0; j < i; j += 4) {
        float4 k = *reinterpret_cast<const float4 *>(rows + i * kWide + j);
        sum = fmaf(k.x, values[j], sum);
        if (j + 1 < i)
          sum = fmaf(k.y, values[j + 1], sum);
        if (j + 2 < i)
          sum = fmaf(k.z, values[j + 2], sum);
        if (j + 3 < i)
          sum = fmaf(k.w, values[j + 3], sum);
      }
      values[i] = (i == column ? 1.0f : 0.0f) - beta[block + i] * sum;
      out[i * kWide] = values[i];
    }
  }
  __syncwarp();
  auto at = [&](int row, int col) { return x + row * kWide + col; };
  auto storeLeft = [&](int row, int col, const float (&d)[2][4]) {
    storeBlock(at(row, col), d, -beta[row + g], -beta[row + g + 8]);
  };
#pragma unroll
  for (int half = 0; half < 64; half += 32) {
    float d[2][4] = {};
    addBlocks(d, kk + (half + 16) * kWide + half, at(half, half));
    storeLeft(half + 16, half, d);
  }
  __syncwarp();
  float halves[2][2][4] = {};
#pragma unroll
  for (int h = 0; h < 2; ++h)
    addBlocks(halves[h], at(32 * h + 16, 32 * h + 16), at(32 * h + 16, 32 * h));
  __syncwarp();
#pragma unroll
  for (int h = 0; h < 2; ++h)
    storeBlock(at(32 * h + 16, 32 * h), halves[h], 1.0f, 1.0f);
  __syncwarp();
#pragma unroll 1
  for (int row = 32; row < 64; row += 16)
#pragma unroll
    for (int col = 0; col < 32; col += 16) {
      float d[2][4] = {};
#pragma unroll
      for (int k = col; k < 32; k += 16)
        addBlocks(d, kk + row * kWide + k, at(k, col));
      storeLeft(row, col, d);
    }
  __syncwarp();
#pragma unroll 1
  for (int col = 0; col < 32; col += 16) {
    float d[2][2][4] = {};
#pragma unroll
    for (int row = 0; row < 2; ++row)
#pragma unroll
      for (int k = 0; k <= row; ++k)
        addBlocks(d[row], at(32 + 16 * row, 32 + 16 * k), at(32 + 16 * k, col));
    __syncwarp();
#pragma unroll
    for (int row = 0; row < 2; ++row)
      storeBlock(at(32 + 16 * row, col), d[row], 1.0f, 1.0f);
  }
  __syncwarp();
}

/// Four warps: the lower triangle of value(i, j) D_ij to `panel`, and on to `out`. value gives the columns j and j + 1
/// of row i; n counts the block of columns 8 n. With kInPlace the panel lies where value reads: all is read before it
/// is written.
template <bool kInPlace, typename Value>
__device__ __forceinline__ void delta128Store(unsigned char *panel, unsigned char *out, const float *gamma, int barrier,
                                              Value value) {
  int lane = opaque(threadIdx.x % 32), t = lane % 4, first = threadIdx.x / 32 % 4 * 16 + lane / 4;
  bool elected = threadIdx.x % 128 == 0;
  float own[2] = {gamma[first], gamma[first + 8]};
  auto pairAt = [&](int n, int half) {
    int i = first + 8 * half, j = 8 * n + 2 * t;
    float2 other = *reinterpret_cast<const float2 *>(gamma + j), x = value(i, j, n, half);
    // Masked before the exponential: above the diagonal the difference may be large and positive.
    float low = j <= i ? approximateExp2(own[half] - other.x) : 0.0f;
    float high = j + 1 <= i ? approximateExp2(own[half] - other.y) : 0.0f;
    return packBf16(j <= i ? x.x * low : 0.0f, j + 1 <= i ? x.y * high : 0.0f);
  };
  auto store = [&](int n, int half, unsigned pair) {
    *reinterpret_cast<unsigned *>(panel + panelOffset(first + 8 * half, 8 * n + 2 * t)) = pair;
  };
  unsigned pairs[16];
  if constexpr (kInPlace)
#pragma unroll
    for (int k = 0; k < 16; ++k)
      pairs[k] = pairAt(k / 2, k % 2);
  if (elected)
    waitStoresRead();
  syncThreads(barrier, 128);
#pragma unroll
  for (int k = 0; k < 16; ++k)
    store(k / 2, k % 2, kInPlace ? pairs[k] : pairAt(k / 2, k % 2));
  fenceShared();
  syncThreads(barrier, 128);
  if (elected) {
    storeBytes(out, panel, kDelta128MatrixBytes);
    endStores();
  }
}

/// d[n] = columns [8 n, 8 n + 8) of rows [16 w, 16 w + 16) of a b', w the warp's place among four, a and b [64, 128] in
/// two panels: the blocks of 16 x 16 on and below the diagonal, zeros above.
__device__ __forceinline__ void delta128Products(float (&d)[8][4], const unsigned char *left,
                                                 const unsigned char *right) {
  int lane = opaque(threadIdx.x % 32), warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int i = 0; i < 32; ++i)
    d[i / 4][i % 4] = 0.0f;
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    int panel = step / 4 * kPanel, column = step % 4 * 16;
    unsigned a[4];
    loadMatrices<false>(a, left + panel + panelOffset(warp * 16 + lane % 16, column + lane / 16 * 8));
#pragma unroll
    for (int block = 0; block < 4; ++block) {
      if (block > warp)
        continue;
      unsigned b[4];
      loadMatrices<false>(b, right + panel +
                                 panelOffset(16 * block + lane / 16 * 8 + lane % 8, column + lane / 8 % 2 * 8));
      warpProduct(d[2 * block], a, b[0], b[1]);
      warpProduct(d[2 * block + 1], a, b[2], b[3]);
    }
  }
}

/// A block takes chunks of a key head in turn; the next one's keys and queries are loaded while it makes inverses.
/// Grid: K, as many as fit.
template <typename TBeta>
__global__ void __launch_bounds__(kPrepareThreads, 2)
    gatedDelta128Prepare(const __grid_constant__ Delta128PrepareParams p) {
  awaitEarlierGrids();
  const DeltaShape &shape = p.shape;
  const Segments &docs = shape.docs;
  Delta128PrepareShared &shared = *sharedMemory<Delta128PrepareShared>();
  int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
  int keyHead = blockIdx.x, ratio = p.heads, firstHead = keyHead * ratio, chunks = segmentChunks(docs);
  auto load = [&](int index) {
    int row = chunkBegin(docs, index);
    arriveAndExpect(&shared.full, 4 * kPanel);
    for (int i = 0; i < 2; ++i) {
      copyBox(shared.keys + i * kPanel, p.k, &shared.full, 64 * i, keyHead, row);
      copyBox(shared.queries + i * kPanel, p.q, &shared.full, 64 * i, keyHead, row);
    }
  };
  if (thread == 0) {
    initBarrier(&shared.full, 1);
    initBarrier(&shared.met, kPrepareThreads);
    fenceBarriers();
    if (static_cast<int>(blockIdx.y) < chunks)
      load(blockIdx.y);
  }
  for (int i = 0; i < p.tailCount; ++i) {
    const DeltaTail &tail = p.tails[i];
    if (tail.bytes == 4)
      deltaZeroTail<float>(docs, tail.rows, tail.heads, tail.width);
    else
      deltaZeroTail<bf16>(docs, tail.rows, tail.heads, tail.width);
  }
  if (blockIdx.x == 0 && blockIdx.y == 0)
    delta128Order(docs, p.workspace.order, shared.counts);

  unsigned parity = 0;
  for (int index = blockIdx.y; index < chunks; index += gridDim.y, parity ^= 1) {
    DeltaChunk chunk = delta128Chunk(docs, index, chunks);
    auto outOf = [&](int head) { return delta128At(p.workspace.chunks, shape, index, head, kDelta128ChunkBytes); };
    // A warp for each of the heads that are worked on next.
    auto makeGates = [&](int first) {
      int head = firstHead + first + warp;
      if (warp < min(kPrepareHeads, ratio - first))
        delta128Gates<TBeta>(p, chunk, head, shared.gates[warp],
                             reinterpret_cast<float *>(outOf(head) + 2 * kDelta128MatrixBytes));
    };
    makeGates(0);
    __syncthreads();
    wait(&shared.full, parity);
    if (chunk.n < kDeltaChunk) {
      delta128ZeroRows(shared.keys, 4, chunk.n, thread, kPrepareThreads);
      // Ordinary accesses come before those of the copy engine.
      fenceShared();
      __syncthreads();
    }

    // The first four warps have K K' and the inverses, the others Q K'. Each role has its own code, for the sake of
    // registers, so they meet at a barrier in memory: one of the whole block has to be at one place. They meet an even
    // number of times a chunk.
    float products[8][4];
    auto meet = [&](unsigned parity) {
      arrive(&shared.met);
      wait(&shared.met, parity);
    };
    auto forHeads = [&](auto work) {
      for (int first = 0; first < ratio; first += kPrepareHeads) {
        if (first > 0) {
          makeGates(first);
          meet(0);
        }
        work(min(kPrepareHeads, ratio - first), firstHead + first);
        if (thread % 128 == 0)
          waitStoresRead();
        meet(1);
      }
    };
    if (warp < 4) {
      delta128Products(products, shared.keys, shared.keys);
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          *reinterpret_cast<float2 *>(shared.kk + (16 * warp + 8 * half + g) * kWide + 8 * n + 2 * t) =
              make_float2(products[n][2 * half], products[n][2 * half + 1]);
      meet(0);
      // Keys and queries have been read.
      if (thread == 0 && index + static_cast<int>(gridDim.y) < chunks)
        load(index + gridDim.y);
      forHeads([&](int heads, int head) {
        if (warp < heads)
          delta128Invert(shared.kk, shared.gates[warp][kGateBeta], shared.inverse[warp]);
        syncThreads(1, 128);
        for (int h = 0; h < heads; ++h) {
          float *inverse = shared.inverse[h];
          if (p.inverse.data)
            for (int i = thread; i < chunk.n * kDeltaChunk; i += 128) {
              int row = i / kDeltaChunk, column = i % kDeltaChunk;
              rowOfHead<float>(p.inverse, chunk.row + row, head + h)[column] =
                  column <= row ? inverse[row * kWide + column] : 0.0f;
            }
          delta128Store<true>(reinterpret_cast<unsigned char *>(inverse), outOf(head + h), shared.gates[h][kGateGamma],
                              1, [&](int i, int j, int, int) {
                                float2 x = *reinterpret_cast<const float2 *>(inverse + i * kWide + j);
                                return i < chunk.n ? x : make_float2(0.0f, 0.0f);
                              });
        }
      });
    } else {
      delta128Products(products, shared.queries, shared.keys);
      meet(0);
      forHeads([&](int heads, int head) {
        for (int h = 0; h < heads; ++h)
          delta128Store<false>(shared.scores, outOf(head + h) + kDelta128MatrixBytes, shared.gates[h][kGateGamma], 2,
                               [&](int, int, int n, int half) {
                                 return make_float2(shape.scale * products[n][2 * half],
                                                    shape.scale * products[n][2 * half + 1]);
                               });
      });
    }
  }
}

} // namespace qrt::device
