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

struct Delta128Workspace {
  /// [documents] of four i32, the longest first: first token, end, first chunk, unused.
  Ptr order;
  /// [chunk, W] of kDelta128ChunkBytes, kDelta128StateBytes twice, kDelta128ValueBytes.
  Ptr chunks, states, stateGradients, values;
};

/// Rows past the documents that are to be zero: [T, heads, width] of elements of `bytes` bytes.
struct DeltaTail {
  DeltaRows rows;
  int heads, width, bytes, unused;
};
constexpr int kDeltaTails = 5;

// The maps are of [T, heads, 128] in boxes of 64 tokens, 1 head, 64 columns (innermost last).

struct Delta128PrepareParams {
  TensorMap q, k;
  DeltaShape shape;
  Delta128Workspace workspace;
  DeltaRows g, beta;
  /// [T, W, 64] f32, if wanted.
  DeltaRows inverse;
  DeltaTail tails[kDeltaTails];
};

struct Delta128ScanParams {
  TensorMap q, k, v;
  DeltaShape shape;
  Delta128Workspace workspace;
  DeltaRows out;
};

struct Delta128ScanBackParams {
  TensorMap q, k, dOut;
  DeltaShape shape;
  Delta128Workspace workspace;
  DeltaRows dV;
};

struct Delta128GradParams {
  TensorMap q, k, dOut, dV;
  DeltaShape shape;
  Delta128Workspace workspace;
  DeltaRows dQ, dK, dG, dBeta;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128_H
