// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of the scans of the gated delta rule on tensor cores: its documents, its roles, and the ring of stages
// through which chunks come into shared memory.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128SCANBLOCK_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128SCANBLOCK_CUH

#include "GatedDelta128.cuh"

namespace qrt::device {

/// The document of rank `rank`, the longest first: tokens [begin, end), first chunk. Empty past the last.
struct Delta128Document {
  int begin, end, firstChunk, unused;
  __device__ __forceinline__ int chunks() const { return (end - begin + kDeltaChunk - 1) / kDeltaChunk; }
};

/// Calls work(document) for every document of a block of the scans: ranks blockIdx.y, blockIdx.y + gridDim.y, ...
template <typename Work>
__device__ __forceinline__ void delta128Documents(const DeltaShape &shape, const Delta128Workspace &workspace,
                                                  Work work) {
  for (int rank = blockIdx.y; rank < shape.docs.documents; rank += gridDim.y) {
    Delta128Document document = as<const Delta128Document>(workspace.order)[rank];
    if (document.begin == document.end)
      return;
    work(document);
  }
}

/// Of a ring of stages.
struct Delta128Barriers {
  Barrier full[kDelta128ScanStages], empty[kDelta128ScanStages];
};
static_assert(sizeof(Delta128Barriers) == kDelta128BarrierBytes);

/// A block of the scans: kHalves halves of a value head's dv, a warpgroup each, and the thread after them, which loads.
/// It fills a ring of kStages stages in turns, one a chunk. Shared memory holds the stages, what is on its way out, and
/// the ring's barriers. Grid: W * (2 / kHalves), and as many documents as are worked on at once.
template <int kHalves, int kStages> struct Delta128ScanBlock {
  /// Threads that compute.
  static constexpr int kComputing = 128 * kHalves;

  /// Makes the ring ready; all threads of the block. `layout` is that of a stage.
  __device__ __forceinline__ Delta128ScanBlock(const DeltaShape &shape, const Delta128Stage &layout, int outgoingBytes)
      : layout(layout) {
    constexpr int kBlocks = 2 / kHalves;
    head = blockIdx.x / kBlocks, firstHalf = blockIdx.x % kBlocks;
    keyHead = head / (shape.valueHeads / shape.keyHeads);
    stages = sharedMemory<unsigned char>(), outgoing = stages + kStages * layout.bytes;
    barriers = reinterpret_cast<Delta128Barriers *>(outgoing + outgoingBytes);
    if (threadIdx.x == 0) {
      for (int i = 0; i < kStages; ++i) {
        initBarrier(&barriers->full[i], 1);
        initBarrier(&barriers->empty[i], kComputing);
      }
      fenceBarriers();
    }
    __syncthreads();
  }

  __device__ __forceinline__ bool computes() const { return threadIdx.x < kComputing; }
  __device__ __forceinline__ bool loads() const { return threadIdx.x == kComputing; }
  // Where two warpgroups compute, most registers of the third are theirs.
  __device__ __forceinline__ void giveRegisters() const {
    if constexpr (kHalves > 1)
      device::giveRegisters<24>();
  }
  __device__ __forceinline__ void takeRegisters() const {
    if constexpr (kHalves > 1)
      device::takeRegisters<240>();
  }

  /// The stage of a turn.
  __device__ __forceinline__ static int slot(unsigned turn) { return turn % kStages; }
  /// The barrier that the turn's copies count for.
  __device__ __forceinline__ Barrier *full(unsigned turn) const { return &barriers->full[slot(turn)]; }
  /// Waits until the turn's stage is free, and announces the bytes of a stage.
  __device__ __forceinline__ void beginLoad(unsigned turn) const {
    wait(&barriers->empty[slot(turn)], (turn / kStages + 1) & 1);
    arriveAndExpect(full(turn), layout.bytes);
  }
  __device__ __forceinline__ void waitLoad(unsigned turn) const { wait(full(turn), turn / kStages & 1); }
  /// This thread needs the turn's stage no longer.
  __device__ __forceinline__ void release(unsigned turn) const {
    // Ordinary accesses come before those of the copy engine.
    fenceShared();
    arrive(&barriers->empty[slot(turn)]);
  }

  /// Zeros in rows n and on of `keyPanels` panels, the keys' and those after them, and of the values: the rows are
  /// another document's, or have no meaning at all. All that compute call it; products may follow.
  __device__ __forceinline__ void zeroRows(unsigned char *stage, int keyPanels, int n) const {
    delta128ZeroRows(stage + layout.keys, keyPanels, n, threadIdx.x, kComputing);
    delta128ZeroRows(stage + layout.values, kHalves, n, threadIdx.x, kComputing);
    fenceShared();
    syncThreads(1, kComputing);
  }

  Delta128Stage layout;
  int head, keyHead, firstHalf;
  unsigned char *stages, *outgoing;
  Delta128Barriers *barriers;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128SCANBLOCK_CUH
