// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_H

#include "HeadStages.h"

namespace qrt::device {

/// Warps of a block. Wide heads: a warp takes one head, a block neighbouring ones.
constexpr int kDeltaInputWarps = 4;
/// Tokens that a warp takes forward: 32 or 64.
constexpr int kDeltaInputTokens = 32;
/// Tokens of a block of the gradient where widths are general, which leaves one line of sums.
constexpr int kDeltaInputGradTokens = 256;
/// The gradient of wide heads: blocks that a multiprocessor has at once; groups that a warp has on their way; tokens of
/// a block of the gates; ranges of blocks at most.
constexpr int kDeltaInputGradBlocksOfOne = 4, kDeltaInputGradStages = 2;
constexpr int kDeltaInputGateTokens = 32, kDeltaGradRanges = 6;
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

/// Blocks of the gradient of wide heads from `firstBlock` on: a block takes kDeltaInputWarps * `tokens` tokens of one
/// of the heads [firstHead, firstHead + heads), each warp `tokens` of them, the first of all `firstToken`. The heads of
/// the same tokens follow one another; the first tokens leave the heads' line `line`, the next the line after it.
struct DeltaGradRange {
  int firstBlock, firstHead, heads, firstToken, tokens, line;
};

/// `lines`: f32 [lines, C * taps], whose sum is conv_weight's gradient; `gateLines`: f32 [parts of the gates, 2 * W],
/// whose sum is a_log's beside dt_bias's. Wide heads: the maps are of qkv, dq, dk and dv as [T, heads, 128]; the first
/// `headBlocks` blocks are those of the ranges, the others take kDeltaInputGateTokens tokens of the gates each. General
/// widths: `du`: f32 [T, C], the cotangent of the convolution's output.
struct GatedDeltaInputsGradParams {
  TensorMap qkvMap, cotangentMaps[3];
  DeltaInputs in;
  HeadTensor dq, dk, dv, dg, dbeta, dqkv, db, da;
  Ptr lines, gateLines, du;
  int headBlocks, rangeCount;
  DeltaGradRange ranges[kDeltaGradRanges];
  int dbetaBytes;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_H
