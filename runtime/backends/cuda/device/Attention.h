// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTION_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTION_H

#include "Types.h"

namespace qrt::device {

/// Tokens of a tile of the segment table (kTileTokens).
constexpr int kAttentionTile = 64;

/// The forward pass. lse has heads of width 1.
struct AttentionParams {
  Segments docs;
  HeadTensor q, k, v, gate, y, o, lse;
  /// `ratio` query heads read one key head.
  int heads, ratio, width;
  /// Of the products q.k.
  float scale;
};

/// The forward pass of AttentionForward.cuh. Maps are of boxes of 64 columns of one head: of 64 rows (q, gate) or of as
/// many as the function's tile of keys (k, v). Without a gate its map is undefined.
struct AttentionForwardParams {
  TensorMap q, k, v, gate;
  Segments docs;
  HeadTensor y, o, lse;
  int keyHeads, ratio;
  bool gated;
  float scale;
};

/// A query's row of the statistics the gradient works from, [heads, statisticsRows(docs)]: a document's rows follow one
/// another from a multiple of 64, and the last are filled up to one with queries that see nothing.
struct QueryStatistics {
  /// Of the scores in base 2; infinity past the document's end.
  float lse2;
  /// The sum of dO * o.
  float delta;
};

/// Rows of statistics of one head: document d begins at (begin / 64 + d) * 64.
inline int statisticsRows(const Segments &docs) {
  return (docs.tokens / kAttentionTile + docs.documents + 1) * kAttentionTile;
}

/// The gradient's second and third pass in AttentionBackward.cuh. Maps are of boxes of 64 columns of 64 rows of one
/// head.
struct AttentionBackwardParams {
  TensorMap q, k, v, dO;
  Segments docs;
  HeadTensor dq, dk, dv;
  Ptr statistics;
  int statisticsRows, keyHeads, ratio;
  float scale;
};

/// The gradient's first pass: statistics, dgate, and dO = dy * sigmoid(gate) where there is a gate.
struct AttentionGradRowsParams {
  Segments docs;
  HeadTensor gate, lse, o, dy, dO, dgate;
  Ptr statistics;
  int statisticsRows, heads, width;
};

/// dk and dv of tiles of keys, or dq of tiles of queries. dO is dy where there is no gate.
struct AttentionGradParams {
  Segments docs;
  HeadTensor q, k, v, dO, dq, dk, dv;
  Ptr statistics;
  int statisticsRows, heads, ratio, width;
  float scale;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTION_H
