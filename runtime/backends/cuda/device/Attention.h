// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTION_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTION_H

#include "Types.h"

namespace qrt::device {

/// Tokens of a tile of the segment table (kTileTokens).
constexpr int kAttentionTile = 64;

/// Threads of a block of the functions for any type and width, and of the pass over the rows.
constexpr int kAttentionThreads = 256;
/// Threads of a block on tensor cores: one warpgroup that brings tiles in, two that compute.
constexpr int kAttentionBlock = 384;

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
  /// Of the products q.k, and the same in base 2.
  float scale, scale2;
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

// Shared memory of the functions for any type and width, in floats.

/// Keys of a group of the forward pass; rows of the other side in a group of the gradient.
constexpr int kForwardKeys = 32, kGradGroup = 16;
/// The kWidth columns of a row are padded so that the rows of a warp lie in different banks.
template <int kWidth> constexpr int kRowStride = kWidth + 4;
template <int kWidth> constexpr int attentionSharedFloats() {
  return (kAttentionTile + kForwardKeys) * kRowStride<kWidth> + kAttentionTile * (kForwardKeys + 1);
}
template <int kWidth> constexpr int attentionGradSharedFloats() {
  return 2 * (kAttentionTile + kGradGroup) * kRowStride<kWidth> + 2 * kAttentionTile * (kGradGroup + 1);
}

// Where the parts of a block's shared memory begin, in bytes, in the kernels on tensor cores.

template <int kWidth, int kKeys> struct ForwardShared {
  static constexpr int kQueryBytes = kAttentionTile * kWidth * 2, kKeyBytes = kKeys * kWidth * 2;
  static constexpr int kStages = 2;
  /// One tile a warpgroup; later its gate, then its output.
  static constexpr int kQueries = 0;
  static constexpr int kKeysAt = kQueries + 2 * kQueryBytes, kValues = kKeysAt + kStages * kKeyBytes;
  static constexpr int kBarriers = kValues + kStages * kKeyBytes;
  /// What each warpgroup is told of its item.
  static constexpr int kPlaces = kBarriers + 16 * 8;
  static constexpr int kBytes = kPlaces + 2 * 16;
  static_assert(kKeys % 16 == 0 && kBytes <= kMaxSharedBytes);
};

template <int kWidth> struct BackwardKeysShared {
  static constexpr int kTileBytes = kAttentionTile * kWidth * 2;
  static constexpr int kStatisticsBytes = kAttentionTile * sizeof(QueryStatistics);
  static constexpr int kProbabilitiesBytes = kAttentionTile * kAttentionTile * 2;
  static constexpr int kKeys = 0, kValues = kTileBytes;
  /// Two of each.
  static constexpr int kQueries = 2 * kTileBytes, kGradients = 4 * kTileBytes, kProbabilities = 6 * kTileBytes;
  static constexpr int kStatistics = kProbabilities + 2 * kProbabilitiesBytes;
  static constexpr int kBarriers = kStatistics + 2 * kStatisticsBytes;
  static constexpr int kBytes = kBarriers + 32 * 8;
  static_assert(kBytes <= kMaxSharedBytes);
};

template <int kWidth> struct BackwardQueriesShared {
  static constexpr int kTileBytes = kAttentionTile * kWidth * 2;
  /// Two heads of each, then two tiles of keys, then as many of values as there is room for.
  static constexpr int kQueries = 0, kGradients = 2 * kTileBytes, kKeys = 4 * kTileBytes, kValues = 6 * kTileBytes;
  static constexpr int kValueStages = kWidth == 256 ? 1 : 2;
  static constexpr int kBarriers = kValues + kValueStages * kTileBytes;
  /// What each warpgroup is told of its item, in even and odd rounds.
  static constexpr int kPlaces = kBarriers + 16 * 8;
  static constexpr int kBytes = kPlaces + 4 * 16;
  static_assert(kBytes <= kMaxSharedBytes);
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTION_H
