// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTARULE_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTARULE_H

#include "Types.h"

namespace qrt::device {

/// Threads of a block of the general functions.
constexpr int kDeltaThreads = 256;
constexpr int kDeltaChunk = 64;
/// Row length of a [64, 64] matrix in shared memory.
constexpr int kDeltaPitch = kDeltaChunk + 1;
/// Columns of dv that a block of the scans takes, and the row length of its matrices of tokens in shared memory.
constexpr int kDeltaSlice = 32, kDeltaSlicePitch = kDeltaSlice + 1;

/// The heads of a call, and where the documents lie.
struct DeltaShape {
  Segments docs;
  int keyHeads, valueHeads, dk, dv;
  float scale;
};

/// What the general functions leave for one another, f32; "chunk" counts the chunks of the segment table. Addresses of
/// what a call does not need are 0.
struct DeltaWorkspace {
  /// [chunk, W, kDeltaGates, 64]: see DeltaGate.
  Ptr gates;
  /// [chunk, W, 64, 64]: T = A_r . D and P = (Q K') . D with the scale.
  Ptr inverse, scores;
  /// [chunk, W, dk, dv]: S before the chunk, and the gradient of S after it.
  Ptr states, stateGradients;
  /// [T, W, dv]: V', R = V - e^gamma (K S), and the gradient of X = beta R.
  Ptr values, residuals, dX;
  /// [T, W, dk]: what a value head adds to dq / scale and to dk.
  Ptr dQ, dK;
};

enum DeltaGate { kDeltaBeta, kDeltaDecay, kDeltaToEnd, kDeltaHigh, kDeltaLow, kDeltaGates };

/// Floats of shared memory.
constexpr int kDeltaPrepareFloats = (kDeltaGates + 2 * kDeltaPitch) * kDeltaChunk;
constexpr int deltaScanFloats(int dk) {
  return dk * kDeltaSlice + 2 * kDeltaChunk * kDeltaSlicePitch + kDeltaGates * kDeltaChunk;
}
constexpr int deltaGradFloats(int dk) {
  return 4 * kDeltaChunk * kDeltaPitch + kDeltaChunk * (dk + 1) + (kDeltaGates + 3) * kDeltaChunk + kDeltaThreads / 32;
}

struct DeltaPrepareParams {
  DeltaShape shape;
  DeltaWorkspace workspace;
  HeadTensor q, k, g, beta;
  /// [T, W, 64] f32, read if given; else made, and written if wanted.
  HeadTensor inverseIn, inverseOut;
};

struct DeltaScanParams {
  DeltaShape shape;
  DeltaWorkspace workspace;
  HeadTensor q, k, v, out;
};

struct DeltaScanBackParams {
  DeltaShape shape;
  DeltaWorkspace workspace;
  HeadTensor q, k, dOut, dV;
};

struct DeltaGradParams {
  DeltaShape shape;
  DeltaWorkspace workspace;
  HeadTensor q, k, dOut, dG, dBeta;
};

struct DeltaReduceParams {
  DeltaShape shape;
  DeltaWorkspace workspace;
  HeadTensor dQ, dK;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTARULE_H
