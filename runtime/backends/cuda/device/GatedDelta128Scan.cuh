// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The states of the gated delta rule on tensor cores (GatedDelta128.cuh), from the first chunk of a document to the
// last.
#include "GatedDelta128Fragments.cuh"
#include "GatedDelta128ScanBlock.cuh"

namespace qrt::device {

/// With kOut: O; without: S before each chunk, and V'. Blocks and grid: Delta128ScanBlock.
template <int kHalves, int kOut>
__global__ void __launch_bounds__(delta128ScanThreads(kHalves), 1)
    gatedDelta128Scan(const __grid_constant__ Delta128ScanParams p) {
  awaitEarlierGrids();
  constexpr Delta128Stage kStage = delta128ScanStage(kHalves, kOut);
  const DeltaShape &shape = p.shape;
  Delta128ScanBlock<kHalves, kDelta128ScanStages> block(shape, kStage, kOut ? 0 : 3 * kHalves * kPanel);
  if (!block.computes()) {
    block.giveRegisters();
    if (!block.loads())
      return;
    unsigned turn = 0;
    delta128Documents(shape, p.workspace, [&](const Delta128Document &document) {
      for (int c = 0, chunks = document.chunks(); c < chunks; ++c, ++turn) {
        int row = document.begin + c * kDeltaChunk;
        unsigned char *stage = block.stages + block.slot(turn) * kStage.bytes;
        Barrier *full = block.full(turn);
        block.beginLoad(turn);
        const unsigned char *matrices =
            delta128At(p.workspace.chunks, shape, document.firstChunk + c, block.head, kDelta128ChunkBytes);
        for (int i = 0; i < 2; ++i)
          copyBox(stage + kStage.keys + i * kPanel, p.k, full, 64 * i, block.keyHead, row);
        for (int i = 0; i < kHalves; ++i)
          copyBox(stage + kStage.values + i * kPanel, p.v, full, 64 * (block.firstHalf + i), block.head, row);
        if constexpr (kOut) {
          for (int i = 0; i < 2; ++i)
            copyBox(stage + kStage.queries + i * kPanel, p.q, full, 64 * i, block.keyHead, row);
          copyBytes(stage + kStage.transform, matrices, kDelta128ChunkBytes, full);
        } else {
          copyBytes(stage + kStage.transform, matrices, kDelta128MatrixBytes, full);
          copyBytes(stage + kStage.gates, matrices + 2 * kDelta128MatrixBytes, kDelta128GateBytes, full);
        }
      }
    });
    return;
  }
  block.takeRegisters();

  int group = threadIdx.x / 128, half = block.firstHalf + group, t2 = threadIdx.x % 4 * 2;
  bool elected = threadIdx.x % 128 == 0;
  unsigned char *outgoingState = block.outgoing + group * 3 * kPanel, *outgoingValues = outgoingState + 2 * kPanel;
  unsigned turn = 0;
  delta128Documents(shape, p.workspace, [&](const Delta128Document &document) {
    float state[64] = {};
    for (int c = 0, chunks = document.chunks(); c < chunks; ++c, ++turn) {
      int row = document.begin + c * kDeltaChunk, n = min(kDeltaChunk, document.end - row);
      unsigned char *stage = block.stages + block.slot(turn) * kStage.bytes,
                    *values = stage + kStage.values + group * kPanel;
      const float *gates = reinterpret_cast<const float *>(stage + kStage.gates);
      block.waitLoad(turn);
      if (n < kDeltaChunk)
        block.zeroRows(stage, 2, n);
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
        float2 beta = gatePair(gates, kGateBeta, 8 * j + t2);
        float2 decay = gatePair(gates, kGateDecay, 8 * j + t2);
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
        float2 factor = gatePair(gates, kGateToEnd, 8 * j + t2);
        float2 decay = gatePair(gates, kGateDecay, 8 * j + t2);
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
        copyRows(rowOfHead<bf16>(p.out, row, block.head) + 64 * half, p.out.row, values, n);
      } else {
        storeTransposed(outgoingValues, roundedAdded);
        fenceShared();
        syncThreads(2 + group, 128);
        if (elected) {
          int chunk = document.firstChunk + c;
          storeBytes(delta128At(p.workspace.states, shape, chunk, block.head, kDelta128StateBytes) + half * 2 * kPanel,
                     outgoingState, 2 * kPanel);
          storeBytes(delta128At(p.workspace.values, shape, chunk, block.head, kDelta128ValueBytes) + half * kPanel,
                     outgoingValues, kPanel);
          endStores();
        }
      }
      waitProducts();
      pin(state);
      block.release(turn);
    }
  });
  if (!kOut && elected)
    waitStoresRead();
}

} // namespace qrt::device
