// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of the states of the gated delta rule on tensor cores (GatedDelta128.cuh), from the last chunk of a
// document to the first:
//   dV' = P' dO + K^ dS'; dX = T' dV'; dV = beta dX; dS = e^gamma_C dS' + Q' (e^gamma dO) - K' (e^gamma beta dX)
#include "GatedDelta128.cuh"

namespace qrt::device {

/// Writes the gradient of S after each chunk, and dV. Blocks as in gatedDelta128Scan.
template <int kHalves>
__global__ void __launch_bounds__(delta128ScanThreads(kHalves), 1)
    gatedDelta128ScanBack(const __grid_constant__ Delta128ScanBackParams p) {
  awaitEarlierGrids();
  constexpr Delta128Stage kStage = delta128ScanBackStage(kHalves);
  const DeltaShape &shape = p.shape;
  constexpr int kBlocks = 2 / kHalves;
  int head = blockIdx.x / kBlocks, firstHalf = blockIdx.x % kBlocks;
  int keyHead = head / (shape.valueHeads / shape.keyHeads);
  unsigned char *stages = sharedMemory<unsigned char>(), *outgoing = stages + kDelta128ScanBackStages * kStage.bytes;
  Delta128Barriers &barriers = *reinterpret_cast<Delta128Barriers *>(outgoing + 2 * kHalves * kPanel);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kDelta128ScanBackStages; ++i) {
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
      for (int c = document.chunks(); c-- > 0; ++turn) {
        int slot = turn % kDelta128ScanBackStages, row = document.begin + c * kDeltaChunk;
        unsigned char *stage = stages + slot * kStage.bytes;
        Barrier *full = &barriers.full[slot];
        wait(&barriers.empty[slot], (turn / kDelta128ScanBackStages + 1) & 1);
        arriveAndExpect(full, kStage.bytes);
        for (int j = 0; j < 2; ++j)
          copyBox(stage + kStage.keys + j * kPanel, p.k, full, 64 * j, keyHead, row);
        for (int j = 0; j < kHalves; ++j)
          copyBox(stage + kStage.values + j * kPanel, p.dOut, full, 64 * (firstHalf + j), head, row);
        copyBytes(stage + kStage.transform,
                  delta128At(p.workspace.chunks, shape, document.firstChunk + c, head, kDelta128ChunkBytes),
                  kDelta128ChunkBytes, full);
        for (int j = 0; j < 2; ++j)
          copyBox(stage + kStage.queries + j * kPanel, p.q, full, 64 * j, keyHead, row);
      }
    });
    return;
  }
  if constexpr (kHalves > 1)
    takeRegisters<240>();

  int group = threadIdx.x / 128, half = firstHalf + group, t2 = threadIdx.x % 4 * 2;
  bool elected = threadIdx.x % 128 == 0;
  unsigned char *outgoingState = outgoing + group * 2 * kPanel;
  unsigned turn = 0;
  delta128Documents(shape, p.workspace, [&](const Delta128Document &document) {
    float dState[64] = {};
    for (int c = document.chunks(); c-- > 0; ++turn) {
      int slot = turn % kDelta128ScanBackStages, row = document.begin + c * kDeltaChunk;
      int n = min(kDeltaChunk, document.end - row);
      unsigned char *stage = stages + slot * kStage.bytes, *dOutPanel = stage + kStage.values + group * kPanel;
      const float *gates = reinterpret_cast<const float *>(stage + kStage.gates);
      wait(&barriers.full[slot], turn / kDelta128ScanBackStages & 1);
      if (n < kDeltaChunk) {
        delta128ZeroRows(stage + kStage.keys, 4, n, threadIdx.x, 128 * kHalves);
        delta128ZeroRows(stage + kStage.values, kHalves, n, threadIdx.x, 128 * kHalves);
        fenceShared();
        syncThreads(1, 128 * kHalves);
      }
      unsigned roundedState[32], dOut[16];
      roundPairs(dState, roundedState);
      loadTransposed(dOut, dOutPanel);

      // Before any product runs: their registers are not to be touched while others do.
      float total = gates[kGateDecay * kDeltaChunk + kDeltaChunk - 1];
#pragma unroll
      for (int j = 0; j < 64; ++j)
        dState[j] *= total;

      // K dS', and P' dO.
      float dValues[32], read[32];
      beginProducts();
      multiplyRows(read, roundedState, stage + kStage.keys);
      multiplyUpper(dValues, dOut, stage + kStage.scores);
      endProducts();
      if (elected)
        waitStoresRead();
      syncThreads(2 + group, 128);
      storeState(outgoingState, roundedState);
      fenceShared();
      syncThreads(2 + group, 128);
      if (elected) {
        storeBytes(delta128At(p.workspace.stateGradients, shape, document.firstChunk + c, head, kDelta128StateBytes) +
                       half * 2 * kPanel,
                   outgoingState, 2 * kPanel);
        endStores();
      }
      unsigned scaled[16];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float2 decay = *reinterpret_cast<const float2 *>(gates + kGateDecay * kDeltaChunk + 8 * j + t2);
        decay.x *= shape.scale, decay.y *= shape.scale;
#pragma unroll
        for (int h = 0; h < 2; ++h)
          scaled[2 * j + h] = packBf16(decay.x * lowBf16(dOut[2 * j + h]), decay.y * highBf16(dOut[2 * j + h]));
      }
      waitProducts();
      pin(read);
      pin(dValues);

      unsigned rounded[16];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float2 toEnd = *reinterpret_cast<const float2 *>(gates + kGateToEnd * kDeltaChunk + 8 * j + t2);
#pragma unroll
        for (int h = 0; h < 2; ++h)
          rounded[2 * j + h] = packBf16(fmaf(toEnd.x, read[4 * j + 2 * h], dValues[4 * j + 2 * h]),
                                        fmaf(toEnd.y, read[4 * j + 2 * h + 1], dValues[4 * j + 2 * h + 1]));
      }
      float dX[32];
      beginProducts();
      multiplyUpper(dX, rounded, stage + kStage.transform);
      endProducts();
      addOuter(dState, scaled, stage + kStage.queries);
      endProducts();
      waitProducts<1>();
      pin(dX);

      unsigned dV[16], y[16];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float2 beta = *reinterpret_cast<const float2 *>(gates + kGateBeta * kDeltaChunk + 8 * j + t2);
        float2 decay = *reinterpret_cast<const float2 *>(gates + kGateDecay * kDeltaChunk + 8 * j + t2);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          float low = beta.x * dX[4 * j + 2 * h], high = beta.y * dX[4 * j + 2 * h + 1];
          dV[2 * j + h] = packBf16(low, high);
          y[2 * j + h] = packBf16(-decay.x * low, -decay.y * high);
        }
      }
      beginProducts();
      addOuter(dState, y, stage + kStage.keys);
      endProducts();
      // The warp's columns of dO were read by it alone.
      __syncwarp();
      storeTransposed(dOutPanel, dV);
      copyRows(rowOfHead<bf16>(p.dV, row, head) + 64 * half, p.dV.row, dOutPanel, n);
      waitProducts();
      pin(dState);
      // Ordinary accesses come before those of the copy engine.
      fenceShared();
      arrive(&barriers.empty[slot]);
    }
  });
  if (elected)
    waitStoresRead();
}

} // namespace qrt::device
