// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The states of the gated delta rule on tensor cores (GatedDelta128.cuh), from the first chunk of a document to the
// last.
#include "GatedDelta128.cuh"

namespace qrt::device {

/// With kOut: O; without: S before each chunk, and V'. A block has kHalves halves of dv, a warpgroup each, and a warp
/// that loads. Grid: W * (2 / kHalves), and as many documents as are worked on at once.
template <int kHalves, int kOut>
__global__ void __launch_bounds__(delta128ScanThreads(kHalves), 1)
    gatedDelta128Scan(const __grid_constant__ Delta128ScanParams p) {
  awaitEarlierGrids();
  constexpr Delta128Stage kStage = delta128ScanStage(kHalves, kOut);
  const DeltaShape &shape = p.shape;
  constexpr int kBlocks = 2 / kHalves;
  int head = blockIdx.x / kBlocks, firstHalf = blockIdx.x % kBlocks;
  int keyHead = head / (shape.valueHeads / shape.keyHeads);
  unsigned char *stages = sharedMemory<unsigned char>(), *outgoing = stages + kDelta128ScanStages * kStage.bytes;
  Delta128Barriers &barriers = *reinterpret_cast<Delta128Barriers *>(outgoing + (kOut ? 0 : 3 * kHalves * kPanel));
  if (threadIdx.x == 0) {
    for (int i = 0; i < kDelta128ScanStages; ++i) {
      initBarrier(&barriers.full[i], 1);
      initBarrier(&barriers.empty[i], 128 * kHalves);
    }
    fenceBarriers();
  }
  __syncthreads();

  if (threadIdx.x >= 128 * kHalves) {
    if constexpr (kHalves > 1)
      giveRegisters<24>();
    if (threadIdx.x != 128 * kHalves)
      return;
    unsigned turn = 0;
    delta128Documents(shape, p.workspace, [&](const Delta128Document &document) {
      for (int c = 0, chunks = document.chunks(); c < chunks; ++c, ++turn) {
        int slot = turn % kDelta128ScanStages, row = document.begin + c * kDeltaChunk;
        unsigned char *stage = stages + slot * kStage.bytes;
        Barrier *full = &barriers.full[slot];
        wait(&barriers.empty[slot], (turn / kDelta128ScanStages + 1) & 1);
        arriveAndExpect(full, kStage.bytes);
        const unsigned char *matrices =
            delta128At(p.workspace.chunks, shape, document.firstChunk + c, head, kDelta128ChunkBytes);
        for (int i = 0; i < 2; ++i)
          copyBox(stage + kStage.keys + i * kPanel, p.k, full, 64 * i, keyHead, row);
        for (int i = 0; i < kHalves; ++i)
          copyBox(stage + kStage.values + i * kPanel, p.v, full, 64 * (firstHalf + i), head, row);
        if constexpr (kOut) {
          for (int i = 0; i < 2; ++i)
            copyBox(stage + kStage.queries + i * kPanel, p.q, full, 64 * i, keyHead, row);
          copyBytes(stage + kStage.transform, matrices, kDelta128ChunkBytes, full);
        } else {
          copyBytes(stage + kStage.transform, matrices, kDelta128MatrixBytes, full);
          copyBytes(stage + kStage.gates, matrices + 2 * kDelta128MatrixBytes, kDelta128GateBytes, full);
        }
      }
    });
    return;
  }
  if constexpr (kHalves > 1)
    takeRegisters<240>();

  int group = threadIdx.x / 128, half = firstHalf + group, t2 = threadIdx.x % 4 * 2;
  bool elected = threadIdx.x % 128 == 0;
  unsigned char *outgoingState = outgoing + group * 3 * kPanel, *outgoingValues = outgoingState + 2 * kPanel;
  unsigned turn = 0;
  delta128Documents(shape, p.workspace, [&](const Delta128Document &document) {
    float state[64] = {};
    for (int c = 0, chunks = document.chunks(); c < chunks; ++c, ++turn) {
      int slot = turn % kDelta128ScanStages, row = document.begin + c * kDeltaChunk,
          n = min(kDeltaChunk, document.end - row);
      unsigned char *stage = stages + slot * kStage.bytes, *values = stage + kStage.values + group * kPanel;
      const float *gates = reinterpret_cast<const float *>(stage + kStage.gates);
      wait(&barriers.full[slot], turn / kDelta128ScanStages & 1);
      if (n < kDeltaChunk) {
        // Another document's rows, or rows of no meaning at all.
        delta128ZeroRows(stage + kStage.keys, 2, n, threadIdx.x, 128 * kHalves);
        delta128ZeroRows(stage + kStage.values, kHalves, n, threadIdx.x, 128 * kHalves);
        fenceShared();
        syncThreads(1, 128 * kHalves);
      }
      unsigned roundedState[32];
      roundPairs(state, roundedState);

      // Before any product runs: their registers are not to be touched while others do.
      float total = gates[kGateDecay * kDeltaChunk + kDeltaChunk - 1];
#pragma unroll
      for (int i = 0; i < 64; ++i)
        state[i] *= total;

      // K S, and Q S.
      float ks[32], out[32];
      beginProducts();
      multiplyRows(ks, roundedState, stage + kStage.keys);
      endProducts();
      if constexpr (kOut) {
        multiplyRows(out, roundedState, stage + kStage.queries);
        endProducts();
      } else {
        if (elected)
          waitStoresRead();
        syncThreads(2 + group, 128);
        storeState(outgoingState, roundedState);
      }
      unsigned v[16];
      loadTransposed(v, values);
      waitProducts<kOut>();
      pin(ks);

      // X = beta (V - e^gamma K S); V' = T X
      unsigned x[16];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float2 beta = *reinterpret_cast<const float2 *>(gates + kGateBeta * kDeltaChunk + 8 * j + t2);
        float2 decay = *reinterpret_cast<const float2 *>(gates + kGateDecay * kDeltaChunk + 8 * j + t2);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          unsigned pair = v[2 * j + i];
          x[2 * j + i] = packBf16(beta.x * (lowBf16(pair) - decay.x * ks[4 * j + 2 * i]),
                                  beta.y * (highBf16(pair) - decay.y * ks[4 * j + 2 * i + 1]));
        }
      }
      float added[32];
      beginProducts();
      multiplyLower<false>(added, x, stage + kStage.transform);
      endProducts();
      waitProducts();
      pin(added);
      if constexpr (kOut)
        pin(out);

      // O = e^gamma Q S + P V'; S' = e^gamma_C S + (e^(gamma_C - gamma) K)' V'
      unsigned roundedAdded[16], toEnd[16];
      roundPairs(added, roundedAdded);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float2 factor = *reinterpret_cast<const float2 *>(gates + kGateToEnd * kDeltaChunk + 8 * j + t2);
        float2 decay = *reinterpret_cast<const float2 *>(gates + kGateDecay * kDeltaChunk + 8 * j + t2);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          toEnd[2 * j + i] = packBf16(factor.x * added[4 * j + 2 * i], factor.y * added[4 * j + 2 * i + 1]);
          if constexpr (kOut) {
            out[4 * j + 2 * i] *= shape.scale * decay.x;
            out[4 * j + 2 * i + 1] *= shape.scale * decay.y;
          }
        }
      }
      beginProducts();
      if constexpr (kOut) {
        multiplyLower<true>(out, roundedAdded, stage + kStage.scores);
        endProducts();
      }
      addOuter(state, toEnd, stage + kStage.keys);
      endProducts();
      if constexpr (kOut) {
        waitProducts<1>();
        pin(out);
        unsigned rounded[16];
        roundPairs(out, rounded);
        // The warp's columns of the values were read by it alone.
        __syncwarp();
        storeTransposed(values, rounded);
        copyRows(rowOfHead<bf16>(p.out, row, head) + 64 * half, p.out.row, values, n);
      } else {
        storeTransposed(outgoingValues, roundedAdded);
        fenceShared();
        syncThreads(2 + group, 128);
        if (elected) {
          int chunk = document.firstChunk + c;
          storeBytes(delta128At(p.workspace.states, shape, chunk, head, kDelta128StateBytes) + half * 2 * kPanel,
                     outgoingState, 2 * kPanel);
          storeBytes(delta128At(p.workspace.values, shape, chunk, head, kDelta128ValueBytes) + half * kPanel,
                     outgoingValues, kPanel);
          endStores();
        }
      }
      waitProducts();
      pin(state);
      // Ordinary accesses come before those of the copy engine.
      fenceShared();
      arrive(&barriers.empty[slot]);
    }
  });
  if (!kOut && elected)
    waitStoresRead();
}

} // namespace qrt::device
