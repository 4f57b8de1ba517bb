// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters of the gated delta rule on tensor cores, heads of 128 and 128 in bf16 (GatedDelta128.cuh).
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128_H

#include "GatedDeltaRule.h"

namespace qrt::device {

/// Of a chunk and value head, in this order: T and P, bf16 panels of [64, 64], and the gates, f32 [kDelta128Gates, 64].
constexpr int kDelta128MatrixBytes = 64 * 64 * 2;
enum Delta128Gate { kGateBeta, kGateDecay, kGateToEnd, kGateGamma, kDelta128Gates };
constexpr int kDelta128GateBytes = kDelta128Gates * 64 * 4;
constexpr int kDelta128ChunkBytes = 2 * kDelta128MatrixBytes + kDelta128GateBytes;
/// A state or its gradient: bf16 panels [half of dv][half of dk] of [64 of dv, 64 of dk].
constexpr int kDelta128StateBytes = 128 * 128 * 2;
/// V': bf16 panels [half of dv] of [64 tokens, 64 of dv].
constexpr int kDelta128ValueBytes = 64 * 128 * 2;

/// Threads of blocks. Of the scans: a warpgroup for each half of dv, and a warp that loads; where there are two, a
/// whole warpgroup of which one warp loads, so that the others can have its registers.
constexpr int kDelta128PrepareThreads = 256, kDelta128GradThreads = 384;
constexpr int delta128ScanThreads(int halves) { return halves > 1 ? 384 : 160; }

/// Stages of the scans: what of a chunk a block has in shared memory, at which bytes. `halves` are those of dv. Panels
/// begin on 1024 bytes.
struct Delta128Stage {
  int keys, queries, values, transform, scores, gates, bytes;
};
/// Without `out` there are no queries and scores.
constexpr Delta128Stage delta128ScanStage(int halves, bool out) {
  constexpr int kPanel = kDelta128MatrixBytes;
  int values = out ? 4 * kPanel : 2 * kPanel, transform = values + halves * kPanel;
  int gates = transform + (out ? 2 * kPanel : kPanel);
  return {0, 2 * kPanel, values, transform, transform + kPanel, gates, gates + kDelta128GateBytes};
}
/// `values` are the rows of dO.
constexpr Delta128Stage delta128ScanBackStage(int halves) { return delta128ScanStage(halves, true); }
constexpr int kDelta128ScanStages = 3, kDelta128ScanBackStages = 2;

/// Bytes of shared memory of a block.
constexpr int kDelta128BarrierBytes = 2 * kDelta128ScanStages * 8;
constexpr int kDelta128PrepareBytes = 113712, kDelta128GradBytes = 222448;
/// Without `out`: also S and V' on their way out.
constexpr int delta128ScanBytes(int halves, bool out) {
  return kDelta128ScanStages * delta128ScanStage(halves, out).bytes + (out ? 0 : 3 * halves * kDelta128MatrixBytes) +
         kDelta128BarrierBytes;
}
/// Also the gradient of S on its way out.
constexpr int delta128ScanBackBytes(int halves) {
  return kDelta128ScanBackStages * delta128ScanBackStage(halves).bytes + 2 * halves * kDelta128MatrixBytes +
         kDelta128BarrierBytes;
}

struct Delta128Workspace {
  /// [documents] of four i32, the longest first: first token, end, first chunk, unused.
  Ptr order;
  /// [chunk, W] of kDelta128ChunkBytes, kDelta128StateBytes twice, kDelta128ValueBytes.
  Ptr chunks, states, stateGradients, values;
};

/// Rows past the documents that are to be zero: [T, heads, width] of elements of `bytes` bytes.
struct DeltaTail {
  HeadTensor rows;
  int heads, width, bytes, unused;
};
constexpr int kDeltaTails = 5;

// The maps are of [T, heads, 128] in boxes of 64 tokens, 1 head, 64 columns (innermost last).

struct Delta128PrepareParams {
  TensorMap q, k;
  DeltaShape shape;
  Delta128Workspace workspace;
  HeadTensor g, beta;
  /// [T, W, 64] f32, if wanted.
  HeadTensor inverse;
  DeltaTail tails[kDeltaTails];
  int tailCount;
  /// Value heads of a key head.
  int heads;
};

struct Delta128ScanParams {
  TensorMap q, k, v;
  DeltaShape shape;
  Delta128Workspace workspace;
  HeadTensor out;
};

struct Delta128ScanBackParams {
  TensorMap q, k, dOut;
  DeltaShape shape;
  Delta128Workspace workspace;
  HeadTensor dV;
};

struct Delta128GradParams {
  TensorMap q, k, dOut, dV;
  DeltaShape shape;
  Delta128Workspace workspace;
  HeadTensor dQ, dK, dG, dBeta;
  /// Value heads of a key head.
  int heads;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128_H
