// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of causal attention of bf16 heads of 64, 128 or 256 on tensor cores, without atomics: every gradient is
// summed by one block, in one order.
//
// Three launches. Rows: dO = dy * sigmoid(gate), dgate, and the statistics of every query (its lse, and delta = dO .
// o). Keys: dk and dv of 64 keys; one warpgroup makes P^T = e^(scale K Q^T - lse) and sums dv += P^T dO, the other dP^T
// = V dO^T and, with the P^T that the first hands over, dS^T = P^T (dP^T - delta) and dk += dS^T Q. The query heads of
// a key head follow one another, each with its queries from the diagonal on. Queries: dq of 64 queries of two heads
// that read the same key head, a warpgroup each: S = Q K^T, dP = dO V^T, dq += dS K.
//
// In both, single threads of a third warpgroup bring tiles in. Rows past a document's end are made zero where they are
// summed over, whatever they hold. Of the keys' blocks, those past the tiles of the table write the zeros of the tail.
// The queries' blocks are as many as multiprocessors and work through items, as in the forward pass.
#include "AttentionWarpgroup.cuh"

namespace qrt::device {

constexpr int kRowsThreads = 256;

/// A group of kWidth / 8 threads takes a query and head.
template <int kWidth>
__global__ void __launch_bounds__(kRowsThreads)
    attentionBackwardRows(const __grid_constant__ AttentionGradRowsParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kLanes = kWidth / 8;
  // Below 2^32 where the threads of all items are not.
  unsigned item = blockIdx.x * (kRowsThreads / kLanes) + threadIdx.x / kLanes;
  int row = static_cast<int>(item / p.heads), head = static_cast<int>(item % p.heads), lane = threadIdx.x % kLanes;
  // The threads of a group leave together, and groups exchange nothing.
  if (row >= p.docs.tokens)
    return;
  if (row >= segmentTokens(p.docs)) {
    if (p.dgate.data)
      storeVector(rowOfHead<bf16>(p.dgate, row, head) + lane * 8, {0, 0, 0, 0, 0, 0, 0, 0});
    return;
  }
  float o[8], dO[8];
  loadVector(rowOfHead<const bf16>(p.o, row, head) + lane * 8, o);
  loadVector(rowOfHead<const bf16>(p.dy, row, head) + lane * 8, dO);
  if (p.gate.data) {
    float gate[8], dgate[8];
    loadVector(rowOfHead<const bf16>(p.gate, row, head) + lane * 8, gate);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float s = sigmoid(gate[i]);
      dO[i] *= s;
      dgate[i] = dO[i] * o[i] * (1.0f - s);
    }
    storeVector(rowOfHead<bf16>(p.dgate, row, head) + lane * 8, dgate);
    storeVector(rowOfHead<bf16>(p.dO, row, head) + lane * 8, dO);
  }
  float delta = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    delta += dO[i] * o[i];
  unsigned group = kLanes == 32 ? 0xFFFFFFFFu : ((1u << kLanes % 32) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    delta += __shfl_xor_sync(group, delta, offset);
  storeStatistics(p, row, head, lane, kLanes, delta);
}

/// The statistics of columns 8 j + 2 t and the next of a fragment whose columns are queries.
struct StatisticsPair {
  float lse2[2], delta[2];
};
__device__ __forceinline__ StatisticsPair statisticsPair(SharedAddress statistics, int column) {
  uint4 x = loadShared16(statistics + column * static_cast<int>(sizeof(QueryStatistics)));
  return {{__uint_as_float(x.x), __uint_as_float(x.z)}, {__uint_as_float(x.y), __uint_as_float(x.w)}};
}

/// Places of the block's barriers. The P^T handed over have one for each warp and its counterpart.
struct BackwardKeysBarriers {
  enum {
    kKeysFull,
    kValuesFull,
    kQueriesFull,
    kQueriesEmpty = 4,
    kGradientsFull = 6,
    kGradientsEmpty = 8,
    kProbabilitiesFull = 10,
    kProbabilitiesEmpty = 18
  };
};

template <int kWidth>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    attentionBackwardKeys(const __grid_constant__ AttentionBackwardParams p) {
  awaitEarlierGrids();
  using Shared = BackwardKeysShared<kWidth>;
  constexpr int kTile = kAttentionTile;
  using Barriers = BackwardKeysBarriers;
  SharedAddress shared = sharedAddress(sharedMemory<unsigned char>());
  auto barrier = [&](int place) { return shared + Shared::kBarriers + 8 * place; };
  if (threadIdx.x == 0) {
    prefetchMap(p.q);
    prefetchMap(p.k);
    prefetchMap(p.v);
    prefetchMap(p.dO);
    initBarrier(barrier(Barriers::kKeysFull), 1);
    initBarrier(barrier(Barriers::kValuesFull), 1);
    for (int i = 0; i < 2; ++i) {
      initBarrier(barrier(Barriers::kQueriesFull + i), 1);
      initBarrier(barrier(Barriers::kQueriesEmpty + i), 8);
      initBarrier(barrier(Barriers::kGradientsFull + i), 1);
      initBarrier(barrier(Barriers::kGradientsEmpty + i), 8);
      for (int warp = 0; warp < 4; ++warp) {
        initBarrier(barrier(Barriers::kProbabilitiesFull + 4 * i + warp), 1);
        initBarrier(barrier(Barriers::kProbabilitiesEmpty + 4 * i + warp), 1);
      }
    }
    fenceBarriers();
  }
  int keyHead = blockIdx.x % p.keyHeads, index = blockIdx.x / p.keyHeads, tiles = segmentTiles(p.docs);
  if (index >= tiles) {
    int part = index - tiles, parts = gridDim.x / p.keyHeads - tiles;
    zeroTail<bf16>(p.docs, p.dk, keyHead, kWidth, part, parts);
    zeroTail<bf16>(p.docs, p.dv, keyHead, kWidth, part, parts);
    return;
  }
  // The last tiles of the table are the first of their documents, with the most queries.
  AttentionTile tile(p.docs, tileBegin(p.docs, tiles - 1 - index));
  int queryTiles = (tile.documentEnd - tile.begin + kTile - 1) / kTile, rounds = queryTiles * p.ratio;

  __syncthreads();

  int group = warpgroupIndex() - 1;
  if (group < 0) {
    giveRegisters<kLoadRegisters>();
    if (threadIdx.x != 0)
      return;
    arriveAndExpect(barrier(Barriers::kKeysFull), Shared::kTileBytes);
    copyRows<kWidth, kTile>(shared + Shared::kKeys, p.k, barrier(Barriers::kKeysFull), keyHead, tile.begin);
    arriveAndExpect(barrier(Barriers::kValuesFull), Shared::kTileBytes);
    copyRows<kWidth, kTile>(shared + Shared::kValues, p.v, barrier(Barriers::kValuesFull), keyHead, tile.begin);
    int head = keyHead * p.ratio, query = tile.begin;
    for (int i = 0; i < rounds; ++i) {
      int stage = i % 2, parity = i / 2 % 2 ^ 1;
      const QueryStatistics *statistics =
          as<const QueryStatistics>(p.statistics) + i64(head) * p.statisticsRows + tile.statisticsRow(query);
      wait(barrier(Barriers::kQueriesEmpty + stage), parity);
      arriveAndExpect(barrier(Barriers::kQueriesFull + stage), Shared::kTileBytes + Shared::kStatisticsBytes);
      copyRows<kWidth, kTile>(shared + Shared::kQueries + stage * Shared::kTileBytes, p.q,
                              barrier(Barriers::kQueriesFull + stage), head, query);
      copyBytes(shared + Shared::kStatistics + stage * Shared::kStatisticsBytes, statistics, Shared::kStatisticsBytes,
                barrier(Barriers::kQueriesFull + stage));
      wait(barrier(Barriers::kGradientsEmpty + stage), parity);
      arriveAndExpect(barrier(Barriers::kGradientsFull + stage), Shared::kTileBytes);
      copyRows<kWidth, kTile>(shared + Shared::kGradients + stage * Shared::kTileBytes, p.dO,
                              barrier(Barriers::kGradientsFull + stage), head, query);
      query += kTile;
      if (query >= tile.documentEnd)
        query = tile.begin, ++head;
    }
    return;
  }

  takeRegisters<kComputeRegisters>();
  int thread = threadIdx.x % 128, lane = thread % 32, warp = thread / 32;
  int row = warp * 16 + lane / 4, column = lane % 4 * 2;
  SharedAddress queries = shared + Shared::kQueries, gradients = shared + Shared::kGradients;
  float sums[kWidth / 2], s[kTile / 2];
  unsigned rounded[kTile / 4];
#pragma unroll
  for (float &x : sums)
    x = 0;
  // Rows of the i-th round that lie in the document.
  auto rowsOf = [&](int i) { return min(tile.documentEnd - tile.begin - i % queryTiles * kTile, kTile); };
  auto acquire = [&](int full, SharedAddress tiles, int i) {
    wait(barrier(full + i % 2), i / 2 % 2);
    int rows = rowsOf(i);
    if (rows < kTile) {
      zeroRows<kWidth, kTile>(tiles + i % 2 * Shared::kTileBytes, rows);
      syncThreads(3 + group, 128);
    }
  };
  // This thread's part of the P^T that is handed over.
  auto handedOver = [&](int i) {
    return shared + Shared::kProbabilities + i % 2 * Shared::kProbabilitiesBytes + thread * 16;
  };
  auto statisticsOf = [&](int i) { return shared + Shared::kStatistics + i % 2 * Shared::kStatisticsBytes; };
  static_assert(kTile * kTile * 2 == 128 * 4 * sizeof(uint4));

  if (group == 0) {
    float scale2 = p.scale * kLog2E;
    SharedAddress keys = shared + Shared::kKeys;
    wait(barrier(Barriers::kKeysFull), 0);
    acquire(Barriers::kQueriesFull, queries, 0);
    pin(s);
    beginProducts();
    multiplyRows<kWidth, kTile>(s, keys, queries);
    endProducts();
    waitProducts();
    pin(s);
    for (int i = 0; i < rounds; ++i) {
      int stage = i % 2;
      SharedAddress statistics = statisticsOf(i);
      bool diagonal = i % queryTiles == 0;
#pragma unroll
      for (int j = 0; j < kTile / 2; j += 4) {
        StatisticsPair q = statisticsPair(statistics, j * 2 + column);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          s[j + e] = approximateExp2(s[j + e] * scale2 - q.lse2[e % 2]);
          if (diagonal && row + e / 2 * 8 > j * 2 + column + e % 2)
            s[j + e] = 0;
        }
      }
      roundPairs(s, rounded);
      release(barrier(Barriers::kQueriesEmpty + stage));
      wait(barrier(Barriers::kProbabilitiesEmpty + 4 * stage + warp), i / 2 % 2 ^ 1);
      SharedAddress to = handedOver(i);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        storeShared16(to + 2048 * j,
                      make_uint4(rounded[4 * j], rounded[4 * j + 1], rounded[4 * j + 2], rounded[4 * j + 3]));
      release(barrier(Barriers::kProbabilitiesFull + 4 * stage + warp));
      acquire(Barriers::kGradientsFull, gradients, i);
      pin(sums);
      beginProducts();
      accumulateRows<kWidth, kTile>(sums, rounded, gradients + stage * Shared::kTileBytes);
      endProducts();
      if (i + 1 < rounds) {
        acquire(Barriers::kQueriesFull, queries, i + 1);
        pin(s);
        beginProducts();
        multiplyRows<kWidth, kTile>(s, keys, queries + (stage ^ 1) * Shared::kTileBytes);
        endProducts();
        waitProducts<1>();
      } else {
        waitProducts();
      }
      release(barrier(Barriers::kGradientsEmpty + stage));
      waitProducts();
      pin(s);
      pin(sums);
    }
    storeFragments<kWidth>(sums, shared + Shared::kKeys, 3, p.dv, keyHead, tile.begin, tile.count,
                           [](SharedAddress, float a, float b, int) { return packBf16(a, b); });
  } else {
    SharedAddress values = shared + Shared::kValues;
    wait(barrier(Barriers::kValuesFull), 0);
    acquire(Barriers::kGradientsFull, gradients, 0);
    pin(s);
    beginProducts();
    multiplyRows<kWidth, kTile>(s, values, gradients);
    endProducts();
    waitProducts();
    pin(s);
    release(barrier(Barriers::kGradientsEmpty));
    for (int i = 0; i < rounds; ++i) {
      int stage = i % 2;
      acquire(Barriers::kQueriesFull, queries, i);
      SharedAddress statistics = statisticsOf(i);
      wait(barrier(Barriers::kProbabilitiesFull + 4 * stage + warp), i / 2 % 2);
      SharedAddress from = handedOver(i);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        uint4 x = loadShared16(from + 2048 * j);
        rounded[4 * j] = x.x, rounded[4 * j + 1] = x.y, rounded[4 * j + 2] = x.z, rounded[4 * j + 3] = x.w;
      }
      release(barrier(Barriers::kProbabilitiesEmpty + 4 * stage + warp));
#pragma unroll
      for (int j = 0; j < kTile / 2; j += 4) {
        StatisticsPair q = statisticsPair(statistics, j * 2 + column);
#pragma unroll
        for (int e = 0; e < 4; e += 2) {
          unsigned &pair = rounded[(j + e) / 2];
          pair = packBf16(lowBf16(pair) * (s[j + e] - q.delta[0]), highBf16(pair) * (s[j + e + 1] - q.delta[1]));
        }
      }
      pin(sums);
      beginProducts();
      accumulateRows<kWidth, kTile>(sums, rounded, queries + stage * Shared::kTileBytes);
      endProducts();
      if (i + 1 < rounds) {
        acquire(Barriers::kGradientsFull, gradients, i + 1);
        pin(s);
        beginProducts();
        multiplyRows<kWidth, kTile>(s, values, gradients + (stage ^ 1) * Shared::kTileBytes);
        endProducts();
        waitProducts<1>();
      } else {
        waitProducts();
      }
      release(barrier(Barriers::kQueriesEmpty + stage));
      waitProducts();
      pin(s);
      pin(sums);
      if (i + 1 < rounds)
        release(barrier(Barriers::kGradientsEmpty + (stage ^ 1)));
    }
    storeFragments<kWidth>(sums, shared + Shared::kValues, 4, p.dk, keyHead, tile.begin, tile.count,
                           [&](SharedAddress, float a, float b, int) { return packBf16(a * p.scale, b * p.scale); });
  }
}

/// Places of the block's barriers; each of two.
struct BackwardQueriesBarriers {
  enum {
    kQueriesFull,
    kQueriesFree = 2,
    kGradientsFull = 4,
    kGradientsFree = 6,
    kKeysFull = 8,
    kKeysEmpty = 10,
    kValuesFull = 12,
    kValuesEmpty = 14
  };
};

template <int kWidth>
__global__ void __launch_bounds__(kAttentionBlock, 1)
    attentionBackwardQueries(const __grid_constant__ AttentionBackwardParams p) {
  awaitEarlierGrids();
  using Shared = BackwardQueriesShared<kWidth>;
  constexpr int kTile = kAttentionTile, kValueStages = Shared::kValueStages;
  using Barriers = BackwardQueriesBarriers;
  SharedAddress shared = sharedAddress(sharedMemory<unsigned char>());
  auto barrier = [&](int place) { return shared + Shared::kBarriers + 8 * place; };
  // What each warpgroup is told of its item in a round.
  auto placeOf = [&](int round, int group) { return shared + Shared::kPlaces + round % 2 * 32 + group * 16; };
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      initBarrier(barrier(Barriers::kQueriesFull + i), 1);
      initBarrier(barrier(Barriers::kQueriesFree + i), 4);
      initBarrier(barrier(Barriers::kGradientsFull + i), 1);
      initBarrier(barrier(Barriers::kGradientsFree + i), 4);
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
      // Keys and values; n counts tiles.
      for (int round = 0, n = 0;; ++round) {
        PairItem item(p.docs, p.keyHeads, p.ratio, round);
        if (!item.exists)
          return;
        AttentionTile tile(p.docs, tileBegin(p.docs, item.tile));
        for (int key = tile.begin; key >= tile.documentBegin; key -= kTile, ++n) {
          int stage = n % 2, valueStage = n % kValueStages;
          wait(barrier(Barriers::kKeysEmpty + stage), n / 2 % 2 ^ 1);
          arriveAndExpect(barrier(Barriers::kKeysFull + stage), Shared::kTileBytes);
          copyRows<kWidth, kTile>(shared + Shared::kKeys + stage * Shared::kTileBytes, p.k,
                                  barrier(Barriers::kKeysFull + stage), item.keyHead, key);
          wait(barrier(Barriers::kValuesEmpty + valueStage), n / kValueStages % 2 ^ 1);
          arriveAndExpect(barrier(Barriers::kValuesFull + valueStage), Shared::kTileBytes);
          copyRows<kWidth, kTile>(shared + Shared::kValues + valueStage * Shared::kTileBytes, p.v,
                                  barrier(Barriers::kValuesFull + valueStage), item.keyHead, key);
        }
      }
    } else if (threadIdx.x == 32) {
      // Queries and gradients of outputs.
      for (int round = 0;; ++round) {
        PairItem item(p.docs, p.keyHeads, p.ratio, round);
        int begin = 0, count = 0, documentBegin = 0, statisticsRow = 0;
        if (item.exists) {
          AttentionTile tile(p.docs, tileBegin(p.docs, item.tile));
          begin = tile.begin, count = tile.count;
          documentBegin = tile.documentBegin, statisticsRow = tile.statisticsRow(begin);
        }
        for (int i = 0; i < 2; ++i) {
          SharedAddress full = barrier(Barriers::kQueriesFull + i);
          wait(barrier(Barriers::kQueriesFree + i), round % 2 ^ 1);
          storeShared16(placeOf(round, i), make_uint4(begin, count, documentBegin, statisticsRow));
          if (!item.exists) {
            arrive(full);
            continue;
          }
          arriveAndExpect(full, Shared::kTileBytes);
          copyRows<kWidth, kTile>(shared + Shared::kQueries + i * Shared::kTileBytes, p.q, full, item.headOf(i), begin);
        }
        if (!item.exists)
          return;
        for (int i = 0; i < 2; ++i) {
          SharedAddress full = barrier(Barriers::kGradientsFull + i);
          wait(barrier(Barriers::kGradientsFree + i), round % 2 ^ 1);
          arriveAndExpect(full, Shared::kTileBytes);
          copyRows<kWidth, kTile>(shared + Shared::kGradients + i * Shared::kTileBytes, p.dO, full, item.headOf(i),
                                  begin);
        }
      }
    } else if (threadIdx.x >= 64) {
      zeroTailVectors<kWidth>(p.docs, p.dq, p.keyHeads * p.ratio, threadIdx.x - 64, 64);
    }
    return;
  }

  takeRegisters<kComputeRegisters>();
  int thread = threadIdx.x % 128, lane = thread % 32, row = thread / 32 * 16 + lane / 4, column = lane % 4 * 2;
  SharedAddress queries = shared + Shared::kQueries + group * Shared::kTileBytes;
  SharedAddress gradients = shared + Shared::kGradients + group * Shared::kTileBytes;
  SharedAddress keys = shared + Shared::kKeys, values = shared + Shared::kValues;
  float sums[kWidth / 2], s[kTile / 2], dP[kTile / 2];
  unsigned rounded[kTile / 4];

  // Of the n-th tile of keys since the block began.
  auto beginScores = [&](int n) {
    pin(s);
    beginProducts();
    multiplyRows<kWidth, kTile>(s, opaque(queries), opaque(keys) + n % 2 * Shared::kTileBytes);
    endProducts();
  };
  auto beginProbabilityGradients = [&](int n) {
    wait(barrier(Barriers::kValuesFull + n % kValueStages), n / kValueStages % 2);
    pin(dP);
    beginProducts();
    multiplyRows<kWidth, kTile>(dP, opaque(gradients), opaque(values) + n % kValueStages * Shared::kTileBytes);
    endProducts();
  };
  auto beginSum = [&](int n) {
    pin(sums);
    beginProducts();
    accumulateRows<kWidth, kTile>(sums, rounded, keys + n % 2 * Shared::kTileBytes);
    endProducts();
  };

  for (int round = 0, n = 0;; ++round) {
    wait(barrier(Barriers::kQueriesFull + group), round % 2);
    uint4 place = loadShared16(placeOf(round, group));
    if (place.y == 0)
      return;
    int last = n + static_cast<int>(place.x - place.z) / kTile;
    QueryStatistics statisticsOf[2];
    {
      PairItem item(p.docs, p.keyHeads, p.ratio, round);
      const QueryStatistics *statistics =
          as<const QueryStatistics>(p.statistics) + i64(item.headOf(group)) * p.statisticsRows + place.w + row;
      statisticsOf[0] = statistics[0], statisticsOf[1] = statistics[8];
    }
#pragma unroll
    for (float &x : sums)
      x = 0;
    wait(barrier(Barriers::kKeysFull + n % 2), n / 2 % 2);
    // Keys past the document's end are multiplied by zero, which is not enough if they are not finite.
    if (place.y < kTile) {
      zeroRows<kWidth, kTile>(keys + n % 2 * Shared::kTileBytes, place.y);
      syncThreads(3 + group, 128);
    }
    beginScores(n);
    wait(barrier(Barriers::kGradientsFull + group), round % 2);
    beginProbabilityGradients(n);
    for (bool diagonal = true;; diagonal = false) {
      waitProducts<1>();
      pin(s);
      if (n == last)
        release(barrier(Barriers::kQueriesFree + group));
#pragma unroll
      for (int j = 0; j < kTile / 2; ++j)
        s[j] = approximateExp2(s[j] * p.scale2 - statisticsOf[j % 4 / 2].lse2);
      waitProducts();
      pin(dP);
      release(barrier(Barriers::kValuesEmpty + n % kValueStages));
#pragma unroll
      for (int j = 0; j < kTile / 2; ++j) {
        s[j] *= dP[j] - statisticsOf[j % 4 / 2].delta;
      }
      if (diagonal) {
        int after = column - row;
#pragma unroll
        for (int j = 0; j < kTile / 2; ++j)
          if (j / 4 * 8 + j % 2 - j % 4 / 2 * 8 + after > 0)
            s[j] = 0;
      }
      roundPairs(s, rounded);
      beginSum(n);
      ++n;
      if (n > last)
        break;
      wait(barrier(Barriers::kKeysFull + n % 2), n / 2 % 2);
      beginScores(n);
      // Only then dP, which takes the place of the fragments of dS.
      waitProducts<1>();
      pin(sums);
      release(barrier(Barriers::kKeysEmpty + (n - 1) % 2));
      beginProbabilityGradients(n);
    }
    waitProducts();
    pin(sums);
    release(barrier(Barriers::kKeysEmpty + (n - 1) % 2));
    // Looked up again: the loop has no registers to keep them in.
    place = loadShared16(placeOf(round, group));
    PairItem item(p.docs, p.keyHeads, p.ratio, round);
    int head = item.headOf(group);
    storeFragments<kWidth>(sums, gradients, 3 + group, p.dq, head, place.x, item.head + group == head ? place.y : 0,
                           [&](SharedAddress, float a, float b, int) { return packBf16(a * p.scale, b * p.scale); });
    fenceShared();
    release(barrier(Barriers::kGradientsFree + group));
  }
}

} // namespace qrt::device
