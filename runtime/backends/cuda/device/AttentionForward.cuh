// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal attention of bf16 heads of 64, 128 or 256 on tensor cores.
//
// An item of a block is one tile of 64 queries for two query heads that read the same key head: a warpgroup a head,
// which share the keys and values that one thread of a third warpgroup brings in (copy engine, rings of two). A
// warpgroup keeps its scores, the softmax (base 2, f32) and the output in registers; the products of one tile of keys
// run while the softmax of the next is made, and the warpgroups take turns in issuing products so that one computes
// while the other multiplies. Tiles of keys go from the diagonal back to the document's begin, on a grid that starts
// there.
//
// There are as many blocks as multiprocessors (at most); each works through its items, the next of which is being
// loaded while the last is stored. Other warps of the third warpgroup write the zeros of the tail.
#include "AttentionWarpgroup.cuh"

namespace qrt::device {

/// Places of the block's barriers; each of two.
struct ForwardBarriers {
  enum {
    kQueriesFull,
    kQueriesRead = 2,
    kQueriesFree = 4,
    kGateFull = 6,
    kKeysFull = 8,
    kKeysEmpty = 10,
    kValuesFull = 12,
    kValuesEmpty = 14
  };
};

/// The softmax of a thread's two rows of a fragment.
struct SoftmaxRows {
  float largest[2] = {-QRT_INFINITY, -QRT_INFINITY};
  /// Of this thread's columns.
  float sum[2] = {0, 0};
  /// What earlier sums and outputs are multiplied by.
  float rescale[2];

  /// Scores become e^(scale * (score - largest)), with `scale2` the scale in base 2.
  template <int kCount> __device__ __forceinline__ void add(float (&s)[kCount], float scale2) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float m = largest[row];
#pragma unroll
      for (int i = 0; i < kCount; i += 4)
        m = fmaxf(m, fmaxf(s[i + 2 * row], s[i + 2 * row + 1]));
      m = fmaxf(m, __shfl_xor_sync(0xFFFFFFFFu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xFFFFFFFFu, m, 2));
      // A row may see none of the diagonal tile's keys.
      float shift = m == -QRT_INFINITY ? 0.0f : m * scale2;
      rescale[row] = m == largest[row] ? 1.0f : approximateExp2(largest[row] * scale2 - shift);
      largest[row] = m;
      float total = sum[row] * rescale[row];
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        s[i + 2 * row] = approximateExp2(s[i + 2 * row] * scale2 - shift);
        s[i + 2 * row + 1] = approximateExp2(s[i + 2 * row + 1] * scale2 - shift);
        total += s[i + 2 * row] + s[i + 2 * row + 1];
      }
      sum[row] = total;
    }
  }
  /// Completes the sums over the threads of a row.
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      sum[row] += __shfl_xor_sync(0xFFFFFFFFu, sum[row], 1);
      sum[row] += __shfl_xor_sync(0xFFFFFFFFu, sum[row], 2);
    }
  }
};

template <int kWidth, int kKeys>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    attentionForward(const __grid_constant__ AttentionForwardParams p) {
  awaitEarlierGrids();
  using Shared = ForwardShared<kWidth, kKeys>;
  using Barriers = ForwardBarriers;
  SharedAddress shared = sharedAddress(sharedMemory<unsigned char>());
  auto barrier = [&](int place) { return shared + Shared::kBarriers + 8 * place; };
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      initBarrier(barrier(Barriers::kQueriesFull + i), 1);
      initBarrier(barrier(Barriers::kQueriesRead + i), 4);
      initBarrier(barrier(Barriers::kQueriesFree + i), 4);
      initBarrier(barrier(Barriers::kGateFull + i), 1);
      initBarrier(barrier(Barriers::kKeysFull + i), 1);
      initBarrier(barrier(Barriers::kKeysEmpty + i), 8);
      initBarrier(barrier(Barriers::kValuesFull + i), 1);
      initBarrier(barrier(Barriers::kValuesEmpty + i), 8);
    }
    fenceBarriers();
  }
  __syncthreads();

  int group = warpgroupIndex() - 1;
  if (group < 0) {
    giveRegisters<kLoadRegisters>();
    if (threadIdx.x == 0) {
      // Keys and values.
      int stage = 0, parity = 1;
      for (int round = 0;; ++round) {
        PairItem item(p.docs, p.keyHeads, p.ratio, round);
        if (!item.exists)
          return;
        AttentionTile tile(p.docs, tileBegin(p.docs, item.tile));
        int keyTiles = (tile.begin + tile.count - tile.documentBegin + kKeys - 1) / kKeys;
        for (int key = tile.documentBegin + (keyTiles - 1) * kKeys; key >= tile.documentBegin; key -= kKeys) {
          wait(barrier(Barriers::kKeysEmpty + stage), parity);
          arriveAndExpect(barrier(Barriers::kKeysFull + stage), Shared::kKeyBytes);
          copyRows<kWidth, kKeys>(shared + Shared::kKeysAt + stage * Shared::kKeyBytes, p.k,
                                  barrier(Barriers::kKeysFull + stage), item.keyHead, key);
          wait(barrier(Barriers::kValuesEmpty + stage), parity);
          arriveAndExpect(barrier(Barriers::kValuesFull + stage), Shared::kKeyBytes);
          copyRows<kWidth, kKeys>(shared + Shared::kValues + stage * Shared::kKeyBytes, p.v,
                                  barrier(Barriers::kValuesFull + stage), item.keyHead, key);
          stage ^= 1;
          parity ^= stage ^ 1;
        }
      }
    } else if (threadIdx.x == 32) {
      // Queries and gates.
      for (int round = 0;; ++round) {
        PairItem item(p.docs, p.keyHeads, p.ratio, round);
        int begin = 0, count = 0, documentBegin = 0, documentEnd = 0;
        if (item.exists) {
          AttentionTile tile(p.docs, tileBegin(p.docs, item.tile));
          begin = tile.begin, count = tile.count;
          documentBegin = tile.documentBegin, documentEnd = tile.documentEnd;
        }
        for (int i = 0; i < 2; ++i) {
          SharedAddress full = barrier(Barriers::kQueriesFull + i);
          wait(barrier(Barriers::kQueriesFree + i), round % 2 ^ 1);
          storeShared16(shared + Shared::kPlaces + i * 16, make_uint4(begin, count, documentBegin, documentEnd));
          if (!item.exists) {
            arrive(full);
            continue;
          }
          arriveAndExpect(full, Shared::kQueryBytes);
          copyRows<kWidth, kAttentionTile>(shared + Shared::kQueries + i * Shared::kQueryBytes, p.q, full,
                                           item.headOf(i), begin);
        }
        if (!item.exists)
          return;
        for (int i = 0; i < 2 && p.gated; ++i) {
          wait(barrier(Barriers::kQueriesRead + i), round % 2);
          arriveAndExpect(barrier(Barriers::kGateFull + i), Shared::kQueryBytes);
          copyRows<kWidth, kAttentionTile>(shared + Shared::kQueries + i * Shared::kQueryBytes, p.gate,
                                           barrier(Barriers::kGateFull + i), item.headOf(i), begin);
        }
      }
    } else if (threadIdx.x >= 64) {
      int heads = p.keyHeads * p.ratio;
      zeroTailVectors<kWidth>(p.docs, p.y, heads, threadIdx.x - 64, 64);
      zeroTailVectors<kWidth>(p.docs, p.o, heads, threadIdx.x - 64, 64);
      if (p.lse.data)
        for (int row = segmentTokens(p.docs) + blockIdx.x; row < p.docs.tokens; row += gridDim.x)
          for (int head = threadIdx.x - 64; head < heads; head += 64)
            *rowOfHead<float>(p.lse, row, head) = 0;
    }
    return;
  }

  takeRegisters<kComputeRegisters>();
  int thread = threadIdx.x % 128, lane = thread % 32;
  int row = thread / 32 * 16 + lane / 4, column = lane % 4 * 2;
  SharedAddress queries = shared + Shared::kQueries + group * Shared::kQueryBytes;
  SharedAddress keys = shared + Shared::kKeysAt, values = shared + Shared::kValues;
  float scale2 = p.scale * kLog2E;
  float s[kKeys / 2], out[kWidth / 2];
  unsigned probabilities[kKeys / 4];
  // Turns: barrier 1 is waited for by the first warpgroup, barrier 2 by the second.
  if (group == 1)
    arriveThreads(1, 256);
  // The place in the rings of the tile of keys that is next, and which time round it is.
  int stage = 0, parity = 0;
  for (int round = 0;; ++round) {
    wait(barrier(Barriers::kQueriesFull + group), round % 2);
    PairPlace tile(shared + Shared::kPlaces + group * 16);
    if (tile.count == 0)
      return;
    // The tile of keys that is worked on, relative to the queries.
    int first = tile.documentBegin - tile.begin;
    int key = first + (tile.count - 1 - first) / kKeys * kKeys;

    // Scores of keys that lie after the query are no scores.
    auto mask = [&] {
      if (key + kKeys - 1 <= 0)
        return;
#pragma unroll
      for (int j = 0; j < kKeys / 2; ++j)
        if (key + j / 4 * 8 + column + j % 2 > row + j % 4 / 2 * 8)
          s[j] = -QRT_INFINITY;
    };
    // Values past the document's end are multiplied by zero, which is not enough if they are not finite.
    auto waitValues = [&](int stage, int parity, int key) {
      wait(barrier(Barriers::kValuesFull + stage), parity);
      int rows = tile.documentEnd - tile.begin - key;
      if (rows < kKeys) {
        zeroRows<kWidth, kKeys>(values + stage * Shared::kKeyBytes, rows);
        syncThreads(3 + group, 128);
      }
    };

    SoftmaxRows softmax;
#pragma unroll
    for (float &x : out)
      x = 0;
    wait(barrier(Barriers::kKeysFull + stage), parity);
    pin(s);
    beginProducts();
    multiplyRows<kWidth, kKeys>(s, queries, keys + stage * Shared::kKeyBytes);
    endProducts();
    waitProducts();
    pin(s);
    release(barrier(Barriers::kKeysEmpty + stage));
    mask();
    softmax.add(s, scale2);
    roundPairs(s, probabilities);

    while (key > first) {
      int before = stage, parityBefore = parity;
      stage ^= 1;
      parity ^= before;
      wait(barrier(Barriers::kKeysFull + stage), parity);
      waitValues(before, parityBefore, key);
      key -= kKeys;
      syncThreads(1 + group, 256);
      pin(s);
      pin(out);
      beginProducts();
      multiplyRows<kWidth, kKeys>(s, queries, keys + stage * Shared::kKeyBytes);
      endProducts();
      accumulateRows<kWidth, kKeys>(out, probabilities, values + before * Shared::kKeyBytes);
      endProducts();
      arriveThreads(2 - group, 256);
      waitProducts<1>();
      pin(s);
      release(barrier(Barriers::kKeysEmpty + stage));
      mask();
      softmax.add(s, scale2);
      waitProducts();
      pin(out);
      release(barrier(Barriers::kValuesEmpty + before));
      roundPairs(s, probabilities);
      if (__any_sync(0xFFFFFFFFu, softmax.rescale[0] != 1.0f || softmax.rescale[1] != 1.0f)) {
#pragma unroll
        for (int j = 0; j < kWidth / 2; ++j)
          out[j] *= softmax.rescale[j % 4 / 2];
      }
    }
    release(barrier(Barriers::kQueriesRead + group));
    waitValues(stage, parity, key);
    pin(out);
    beginProducts();
    accumulateRows<kWidth, kKeys>(out, probabilities, values + stage * Shared::kKeyBytes);
    endProducts();
    softmax.finish();
    waitProducts();
    pin(out);
    release(barrier(Barriers::kValuesEmpty + stage));
    parity ^= stage;
    stage ^= 1;

    PairItem item(p.docs, p.keyHeads, p.ratio, round);
    int head = item.headOf(group), count = item.head + group == head ? tile.count : 0;
    float factor[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      factor[i] = 1.0f / softmax.sum[i];
      if (p.lse.data && lane % 4 == 0 && row + 8 * i < count)
        *rowOfHead<float>(p.lse, tile.begin + row + 8 * i, head) =
            (softmax.largest[i] * scale2 + log2f(softmax.sum[i])) * kLn2;
    }
    if (p.gated) {
      wait(barrier(Barriers::kGateFull + group), round % 2);
      storeFragments<kWidth>(
          out, queries, 3 + group, p.y, head, tile.begin, count, [&](SharedAddress pair, float a, float b, int i) {
            unsigned gate = loadShared4(pair);
            return packBf16(a * factor[i] * sigmoid(lowBf16(gate)), b * factor[i] * sigmoid(highBf16(gate)));
          });
    }
    const HeadTensor &plain = p.gated ? p.o : p.y;
    if (plain.data)
      storeFragments<kWidth>(
          out, queries, 3 + group, plain, head, tile.begin, count,
          [&](SharedAddress, float a, float b, int i) { return packBf16(a * factor[i], b * factor[i]); });
    fenceShared();
    release(barrier(Barriers::kQueriesFree + group));
  }
}

} // namespace qrt::device
