// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warpgroup of the attention kernels on tensor cores does with tiles of bf16 in shared memory (panels, see
// Hopper.cuh) and fragments in registers.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTIONWARPGROUP_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTIONWARPGROUP_CUH

#include "AttentionTile.cuh"
#include "Hopper.cuh"

namespace qrt::device {

/// Registers of the threads that load and of those that compute. A block is launched with 168 a thread, the most that
/// 384 threads can have.
constexpr int kLoadRegisters = 40, kComputeRegisters = 232;
static_assert(kLoadRegisters + 2 * kComputeRegisters <= 3 * 168);

/// Starts the copy of a tile, kRows rows of a head from `row`, as panels. Its bytes count for the barrier.
template <int kWidth, int kRows>
__device__ __forceinline__ void copyRows(SharedAddress to, const TensorMap &map, SharedAddress barrier, int head,
                                         int row) {
#pragma unroll
  for (int panel = 0; panel < kWidth / 64; ++panel)
    copyBox(to + panel * kRows * 128, map, barrier, panel * 64, head, row);
}

/// One item of a block: a tile of queries and two of the query heads of a key head, one for each warpgroup.
struct PairItem {
  /// The `round`-th item of this block. Items are in the order of the table, so the largest come first; every other
  /// round hands them out backwards, so that blocks get equal shares.
  __device__ __forceinline__ PairItem(const Segments &docs, int keyHeads, int ratio, int round) : ratio(ratio) {
    int pairs = (ratio + 1) / 2, itemsOfTile = pairs * keyHeads;
    int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    int item = round * blocks + (round % 2 ? blocks - 1 - block : block);
    exists = item < segmentTiles(docs) * itemsOfTile;
    tile = item / itemsOfTile;
    keyHead = item % itemsOfTile / pairs;
    head = keyHead * ratio + item % pairs * 2;
  }
  /// Of a warpgroup. Without a second head both do the same, and the first alone writes.
  __device__ __forceinline__ int headOf(int group) const { return min(head + group, (keyHead + 1) * ratio - 1); }
  bool exists;
  int tile, keyHead, head, ratio;
};

/// What a warpgroup is told of its item, in shared memory.
struct PairPlace {
  __device__ __forceinline__ explicit PairPlace(SharedAddress from) {
    uint4 x = loadShared16(from);
    begin = static_cast<int>(x.x), count = static_cast<int>(x.y);
    documentBegin = static_cast<int>(x.z), documentEnd = static_cast<int>(x.w);
  }
  /// The tile; no items are left where it is empty.
  int begin, count, documentBegin, documentEnd;
};

/// A warp no longer reads what the barrier guards.
__device__ __forceinline__ void release(SharedAddress barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    arrive(barrier);
}

/// d[64, kOthers] = a b^T over kWidth columns: a [64, kWidth] and b [kOthers, kWidth] in panels.
template <int kWidth, int kOthers>
__device__ __forceinline__ void multiplyRows(float (&d)[kOthers / 2], SharedAddress a, SharedAddress b) {
  constexpr unsigned kPanelA = kAttentionTile * 128, kPanelB = kOthers * 128;
  unsigned long long tileA = operand<Major::K>(a, kPanelA), tileB = operand<Major::K>(b, kPanelB);
#pragma unroll
  for (int step = 0; step < kWidth / 16; ++step)
    product<kOthers, Major::K, Major::K>(d, advanced(tileA, step / 4 * kPanelA + step % 4 * 32),
                                         advanced(tileB, step / 4 * kPanelB + step % 4 * 32), step > 0);
}

/// d[64, kWidth] += a b over kRows rows of b [kRows, kWidth] in panels; a is fragments.
template <int kWidth, int kRows>
__device__ __forceinline__ void accumulateRows(float (&d)[kWidth / 2], const unsigned (&a)[kRows / 4],
                                               SharedAddress b) {
  unsigned long long tile = operand<Major::MN>(b, kRows * 128);
#pragma unroll
  for (int step = 0; step < kRows / 16; ++step)
    product<kWidth, Major::MN>(d, a + 4 * step, advanced(tile, step * 2048), 1);
}

/// Makes rows of a tile in panels zero, from `begin` to kRows. A warpgroup calls it; the rows are ready for products
/// after its next barrier.
template <int kWidth, int kRows> __device__ __forceinline__ void zeroRows(SharedAddress tile, int begin) {
  for (int i = begin * (kWidth / 8) + threadIdx.x % 128; i < kRows * (kWidth / 8); i += 128) {
    int row = i / (kWidth / 8), chunk = i % (kWidth / 8);
    storeShared16(tile + chunk / 8 * (kRows * 128) + row * 128 + chunk % 8 * 16, make_uint4(0, 0, 0, 0));
  }
  fenceShared();
}

/// Writes zeros to every row in no document of all heads. Block b takes every gridDim.x-th row from the b-th, with
/// `threads` threads.
template <int kWidth>
__device__ __forceinline__ void zeroTailVectors(const Segments &docs, const HeadTensor &x, int heads, int thread,
                                                int threads) {
  if (!x.data)
    return;
  for (int row = segmentTokens(docs) + static_cast<int>(blockIdx.x); row < docs.tokens; row += gridDim.x)
    for (int i = thread; i < heads * (kWidth / 8); i += threads)
      *reinterpret_cast<uint4 *>(rowOfHead<bf16>(x, row, i / (kWidth / 8)) + i % (kWidth / 8) * 8) =
          make_uint4(0, 0, 0, 0);
}

/// Writes a warpgroup's fragments d[64, kWidth] through `tile` (its own memory, in panels) to the first `count` rows of
/// a head: for two neighbours a and b of this thread's row i (0 or 1), the pair change(where it goes in the tile, a, b,
/// i). Barrier `id` is the warpgroup's.
template <int kWidth, typename Change>
__device__ __forceinline__ void storeFragments(const float (&d)[kWidth / 2], SharedAddress tile, int id,
                                               const HeadTensor &to, int head, int begin, int count, Change change) {
  int thread = threadIdx.x % 128, g = thread % 32 / 4, t = thread % 4, row = thread / 32 * 16 + g;
  constexpr int kPanel = kAttentionTile * 128;
  // The tile may have been an operand of products that only this warp has waited for.
  syncThreads(id, 128);
#pragma unroll
  for (int i = 0; i < kWidth / 2; i += 2) {
    int column = i / 4 * 8 + 2 * t;
    SharedAddress pair = tile + column / 64 * kPanel + panelOffset(row + i % 4 / 2 * 8, column % 64);
    storeShared4(pair, change(pair, d[i], d[i + 1], i % 4 / 2));
  }
  syncThreads(id, 128);
  constexpr int kChunks = kWidth / 8, kRowsAtOnce = 128 / kChunks;
  int chunk = thread % kChunks;
#pragma unroll 4
  for (int r = thread / kChunks; r < count; r += kRowsAtOnce) {
    uint4 values = loadShared16(tile + chunk / 8 * kPanel + panelOffset(r, chunk % 8 * 8));
    *reinterpret_cast<uint4 *>(rowOfHead<bf16>(to, begin + r, head) + chunk * 8) = values;
  }
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTIONWARPGROUP_CUH
