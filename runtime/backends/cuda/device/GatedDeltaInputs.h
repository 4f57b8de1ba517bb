// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_H

#include "HeadStages.h"

namespace qrt::device {

/// Warps of a block.
constexpr int kDeltaInputWarps = 4;
/// Tokens that a warp takes one after another, forward and backward: 32 or 64.
constexpr int kDeltaInputTokens = 32, kDeltaInputWarpGradTokens = 64;
/// Tokens of a block of the gradient, which leaves one line of sums.
constexpr int kDeltaInputGradTokens = kDeltaInputWarps * kDeltaInputWarpGradTokens;
/// Groups of tokens that a warp has in hand, backward; forward it has all of its tokens.
constexpr int kDeltaInputGradStages = 4;
constexpr int kDeltaInputGroups = kDeltaInputTokens / kHeadGroup;
constexpr int kDeltaInputBytes = kDeltaInputWarps * headStageBytes(1, kDeltaInputGroups);
constexpr int kDeltaInputGradBytes = kDeltaInputWarps * headStageBytes(2, kDeltaInputGradStages);

/// What the forward pass reads. qkv [T, C] and b, a [T, W] have rows `row` apart; conv_weight [C, 1, taps] rows
/// `weightRow` apart. a_log and dt_bias [W] are of elements of 2 (bf16) or 4 bytes (f32).
struct DeltaInputs {
  Segments docs;
  HeadTensor qkv, b, a;
  Ptr convWeight, aLog, dtBias;
  i64 weightRow;
  int aLogBytes, dtBiasBytes;
  int tokens, keyHeads, valueHeads, dk, dv, taps;
  float eps;
};

/// The map is of qkv as [T, heads, 128]; only for wide heads.
struct GatedDeltaInputsParams {
  TensorMap qkvMap;
  DeltaInputs in;
  HeadTensor q, k, v, g, beta;
};

/// `lines`: f32, a line of `line` elements a block of tokens; [C, taps] of conv_weight's gradient, then [W] of a_log's
/// and [W] of dt_bias's. The maps are of qkv, dq, dk and dv as [T, heads, 128]; only for wide heads. `du`: f32 [T, C],
/// the cotangent of the convolution's output; only where widths are general.
struct GatedDeltaInputsGradParams {
  TensorMap qkvMap, cotangentMaps[3];
  DeltaInputs in;
  HeadTensor dq, dk, dv, dg, dbeta, dqkv, db, da;
  Ptr lines, du;
  i64 line;
  int dbetaBytes;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_H
