// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal attention of bf16 heads of 64, 128 or 256 on tensor cores.
//
// A block takes one tile of 64 queries for two query heads that read the same key head: a warpgroup a head, which share
// the keys and values that one thread of a third warpgroup brings in (copy engine, rings of two). A warpgroup keeps its
// scores, the softmax (base 2, f32) and the output in registers; the products of one tile of keys run while the softmax
// of the next is made, and the warpgroups take turns in issuing products so that one computes while the other
// multiplies. Tiles of keys go from the diagonal back to the document's begin, on a grid that starts there.
//
// Blocks are numbered heads first; those past the tiles of the table write the zeros of the tail.
#include "AttentionWarpgroup.cuh"

namespace qrt::device {

/// Places of the block's barriers.
struct ForwardBarriers {
  enum {
    kQueriesFull,
    kQueriesEmpty,
    kGateFull = 3,
    kKeysFull = 5,
    kKeysEmpty = 7,
    kValuesFull = 9,
    kValuesEmpty = 11
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

/// One tile of 64 queries and two heads.
template <int kWidth, int kKeys>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    attentionForward(const __grid_constant__ AttentionForwardParams p) {
  using Shared = ForwardShared<kWidth, kKeys>;
  using Barriers = ForwardBarriers;
  SharedAddress shared = sharedAddress(sharedMemory<unsigned char>());
  auto barrier = [&](int place) { return shared + Shared::kBarriers + 8 * place; };
  if (threadIdx.x == 0) {
    prefetchMap(p.q);
    prefetchMap(p.k);
    prefetchMap(p.v);
    initBarrier(barrier(Barriers::kQueriesFull), 1);
    for (int i = 0; i < 2; ++i) {
      initBarrier(barrier(Barriers::kQueriesEmpty + i), 4);
      initBarrier(barrier(Barriers::kGateFull + i), 1);
      initBarrier(barrier(Barriers::kKeysFull + i), 1);
      initBarrier(barrier(Barriers::kKeysEmpty + i), 8);
      initBarrier(barrier(Barriers::kValuesFull + i), 1);
      initBarrier(barrier(Barriers::kValuesEmpty + i), 8);
    }
    fenceBarriers();
  }
  int pairs = (p.ratio + 1) / 2, blocksOfTile = pairs * p.keyHeads;
  int keyHead = blockIdx.x % blocksOfTile / pairs, firstOfPair = blockIdx.x % pairs * 2;
  // Both lookups at once: past the tiles the second is not used.
  int index = blockIdx.x / blocksOfTile, tiles = segmentTiles(p.docs);
  int begin = tileBegin(p.docs, min(index, p.docs.maxTiles - 1));
  if (index >= tiles) {
    int part = index - tiles, parts = gridDim.x / blocksOfTile - tiles;
    for (int i = firstOfPair; i < min(firstOfPair + 2, p.ratio); ++i) {
      int head = keyHead * p.ratio + i;
      zeroTail<bf16>(p.docs, p.y, head, kWidth, part, parts);
      zeroTail<bf16>(p.docs, p.o, head, kWidth, part, parts);
      zeroTail<float>(p.docs, p.lse, head, 1, part, parts);
    }
    return;
  }
  AttentionTile tile(p.docs, begin);
  int keyTiles = (tile.begin + tile.count - tile.documentBegin + kKeys - 1) / kKeys;
  // Without a second head both warpgroups do the same, and the first alone writes.
  auto headOf = [&](int group) { return keyHead * p.ratio + min(firstOfPair + group, p.ratio - 1); };

  __syncthreads();

  int group = warpgroupIndex() - 1;
  if (group < 0) {
    giveRegisters<kLoadRegisters>();
    if (threadIdx.x != 0)
      return;
    arriveAndExpect(barrier(Barriers::kQueriesFull), 2 * Shared::kQueryBytes);
    for (int i = 0; i < 2; ++i)
      copyRows<kWidth, kAttentionTile>(shared + Shared::kQueries + i * Shared::kQueryBytes, p.q,
                                       barrier(Barriers::kQueriesFull), headOf(i), tile.begin);
    for (int i = 0; i < keyTiles; ++i) {
      int stage = i % 2, parity = i / 2 % 2 ^ 1, key = tile.documentBegin + (keyTiles - 1 - i) * kKeys;
      wait(barrier(Barriers::kKeysEmpty + stage), parity);
      arriveAndExpect(barrier(Barriers::kKeysFull + stage), Shared::kKeyBytes);
      copyRows<kWidth, kKeys>(shared + Shared::kKeysAt + stage * Shared::kKeyBytes, p.k,
                              barrier(Barriers::kKeysFull + stage), keyHead, key);
      wait(barrier(Barriers::kValuesEmpty + stage), parity);
      arriveAndExpect(barrier(Barriers::kValuesFull + stage), Shared::kKeyBytes);
      copyRows<kWidth, kKeys>(shared + Shared::kValues + stage * Shared::kKeyBytes, p.v,
                              barrier(Barriers::kValuesFull + stage), keyHead, key);
    }
    for (int i = 0; i < 2 && p.gated; ++i) {
      wait(barrier(Barriers::kQueriesEmpty + i), 0);
      arriveAndExpect(barrier(Barriers::kGateFull + i), Shared::kQueryBytes);
      copyRows<kWidth, kAttentionTile>(shared + Shared::kQueries + i * Shared::kQueryBytes, p.gate,
                                       barrier(Barriers::kGateFull + i), headOf(i), tile.begin);
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
  SoftmaxRows softmax;
#pragma unroll
  for (float &x : out)
    x = 0;

  // Scores of the queries and the i-th tile of keys that lie after the query are no scores.
  auto mask = [&](int i) {
    int key = tile.documentBegin + (keyTiles - 1 - i) * kKeys - tile.begin;
    if (key + kKeys - 1 <= 0)
      return;
#pragma unroll
    for (int j = 0; j < kKeys / 2; ++j)
      if (key + j / 4 * 8 + column + j % 2 > row + j % 4 / 2 * 8)
        s[j] = -QRT_INFINITY;
  };
  // Values past the document's end are multiplied by zero, which is not enough if they are not finite.
  auto waitValues = [&](int i) {
    wait(barrier(Barriers::kValuesFull + i % 2), i / 2 % 2);
    int rows = tile.documentEnd - (tile.documentBegin + (keyTiles - 1 - i) * kKeys);
    if (rows < kKeys) {
      zeroRows<kWidth, kKeys>(values + i % 2 * Shared::kKeyBytes, rows);
      syncThreads(3 + group, 128);
    }
  };

  // Turns: barrier 1 is waited for by the first warpgroup, barrier 2 by the second.
  if (group == 1)
    arriveThreads(1, 256);
  wait(barrier(Barriers::kQueriesFull), 0);
  wait(barrier(Barriers::kKeysFull), 0);
  pin(s);
  beginProducts();
  multiplyRows<kWidth, kKeys>(s, queries, keys);
  endProducts();
  waitProducts();
  pin(s);
  release(barrier(Barriers::kKeysEmpty));
  mask(0);
  softmax.add(s, scale2);
  roundPairs(s, probabilities);

  for (int i = 1; i < keyTiles; ++i) {
    int stage = i % 2;
    wait(barrier(Barriers::kKeysFull + stage), i / 2 % 2);
    waitValues(i - 1);
    syncThreads(1 + group, 256);
    pin(s);
    pin(out);
    beginProducts();
    multiplyRows<kWidth, kKeys>(s, queries, keys + stage * Shared::kKeyBytes);
    endProducts();
    accumulateRows<kWidth, kKeys>(out, probabilities, values + (stage ^ 1) * Shared::kKeyBytes);
    endProducts();
    arriveThreads(2 - group, 256);
    waitProducts<1>();
    pin(s);
    release(barrier(Barriers::kKeysEmpty + stage));
    mask(i);
    softmax.add(s, scale2);
    waitProducts();
    pin(out);
    release(barrier(Barriers::kValuesEmpty + (stage ^ 1)));
    roundPairs(s, probabilities);
    if (__any_sync(0xFFFFFFFFu, softmax.rescale[0] != 1.0f || softmax.rescale[1] != 1.0f)) {
#pragma unroll
      for (int j = 0; j < kWidth / 2; ++j)
        out[j] *= softmax.rescale[j % 4 / 2];
    }
  }
  release(barrier(Barriers::kQueriesEmpty + group));
  waitValues(keyTiles - 1);
  pin(out);
  beginProducts();
  accumulateRows<kWidth, kKeys>(out, probabilities, values + (keyTiles - 1) % 2 * Shared::kKeyBytes);
  endProducts();
  softmax.finish();
  waitProducts();
  pin(out);

  if (firstOfPair + group >= p.ratio)
    return;
  int head = headOf(group);
  float factor[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    factor[i] = 1.0f / softmax.sum[i];
    if (p.lse.data && lane % 4 == 0 && row + 8 * i < tile.count)
      *headRow<float>(p.lse, tile.begin + row + 8 * i, head) =
          (softmax.largest[i] * scale2 + log2f(softmax.sum[i])) * kLn2;
  }
  if (p.gated) {
    wait(barrier(Barriers::kGateFull + group), 0);
    storeFragments<kWidth>(
        out, queries, 3 + group, p.y, head, tile.begin, tile.count, [&](SharedAddress pair, float a, float b, int i) {
          unsigned gate = loadShared4(pair);
          return packBf16(a * factor[i] * sigmoid(lowBf16(gate)), b * factor[i] * sigmoid(highBf16(gate)));
        });
  }
  const HeadTensor &plain = p.gated ? p.o : p.y;
  if (plain.data)
    storeFragments<kWidth>(
        out, queries, 3 + group, plain, head, tile.begin, tile.count,
        [&](SharedAddress, float a, float b, int i) { return packBf16(a * factor[i], b * factor[i]); });
}

} // namespace qrt::device
