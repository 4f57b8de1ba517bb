// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of the states of the gated delta rule on tensor cores (GatedDelta128.cuh), from the last chunk of a
// document to the first:
//   dV' = P' dO + K^ dS'; dX = T' dV'; dV = beta dX; dS = e^gamma_C dS' + Q' (e^gamma dO) - K' (e^gamma beta dX)
#include "GatedDelta128Fragments.cuh"
#include "GatedDelta128ScanBlock.cuh"

namespace qrt::device {

/// Writes the gradient of S after each chunk, and dV. Blocks and grid: Delta128ScanBlock.
template <int kHalves>
__global__ void __launch_bounds__(delta128ScanThreads(kHalves), 1)
    gatedDelta128ScanBack(const __grid_constant__ Delta128ScanBackParams p) {
  awaitEarlierGrids();
  constexpr Delta128Stage kStage = delta128ScanBackStage(kHalves);
  const DeltaShape &shape = p.shape;
  Delta128ScanBlock<kHalves, kDelta128ScanBackStages> block(shape, kStage, 2 * kHalves * kPanel);
  if (!block.computes()) {
    block.giveRegisters();
    if (!block.loads())
      return;
    unsigned turn = 0;
    delta128Documents(shape, p.workspace, [&](const Delta128Document &document) {
      for (int c = document.chunks(); c-- > 0; ++turn) {
        int row = document.begin + c * kDeltaChunk;
        unsigned char *stage = block.stages + block.slot(turn) * kStage.bytes;
        Barrier *full = block.full(turn);
        block.beginLoad(turn);
        for (int j = 0; j < 2; ++j)
          copyBox(stage + kStage.keys + j * kPanel, p.k, full, 64 * j, block.keyHead, row);
        for (int j = 0; j < kHalves; ++j)
          copyBox(stage + kStage.values + j * kPanel, p.dOut, full, 64 * (block.firstHalf + j), block.head, row);
        copyBytes(stage + kStage.transform,
                  delta128At(p.workspace.chunks, shape, document.firstChunk + c, block.head, kDelta128ChunkBytes),
                  kDelta128ChunkBytes, full);
        for (int j = 0; j < 2; ++j)
          copyBox(stage + kStage.queries + j * kPanel, p.q, full, 64 * j, block.keyHead, row);
      }
    });
    return;
  }
  block.takeRegisters();

  int group = threadIdx.x / 128, half = block.firstHalf + group, t2 = threadIdx.x % 4 * 2;
  bool elected = threadIdx.x % 128 == 0;
  unsigned char *outgoingState = block.outgoing + group * 2 * kPanel;
  unsigned turn = 0;
  delta128Documents(shape, p.workspace, [&](const Delta128Document &document) {
    float dState[64] = {};
    for (int c = document.chunks(); c-- > 0; ++turn) {
      int row = document.begin + c * kDeltaChunk;
      int n = min(kDeltaChunk, document.end - row);
      unsigned char *stage = block.stages + block.slot(turn) * kStage.bytes,
                    *dOutPanel = stage + kStage.values + group * kPanel;
      const float *gates = reinterpret_cast<const float *>(stage + kStage.gates);
      block.waitLoad(turn);
      if (n < kDeltaChunk)
        block.zeroRows(stage, 4, n);
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
        storeBytes(
            delta128At(p.workspace.stateGradients, shape, document.firstChunk + c, block.head, kDelta128StateBytes) +
                half * 2 * kPanel,
            outgoingState, 2 * kPanel);
        endStores();
      }
      unsigned scaled[16];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float2 decay = gatePair(gates, kGateDecay, 8 * j + t2);
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
        float2 toEnd = gatePair(gates, kGateToEnd, 8 * j + t2);
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
        float2 beta = gatePair(gates, kGateBeta, 8 * j + t2);
        float2 decay = gatePair(gates, kGateDecay, 8 * j + t2);
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
      copyRows(rowOfHead<bf16>(p.dV, row, block.head) + 64 * half, p.dV.row, dOutPanel, n);
      waitProducts();
      pin(dState);
      block.release(turn);
    }
  });
  if (elected)
    waitStoresRead();
}

} // namespace qrt::device
