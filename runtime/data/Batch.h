// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a packed row to the arrays of a micro-batch.
#ifndef RUNTIME_DATA_BATCH_H
#define RUNTIME_DATA_BATCH_H

#include "runtime/base/BucketShape.h"
#include "runtime/base/Status.h"
#include "runtime/data/TokenData.h"

#include <cstdint>
#include <vector>

namespace qrt {

/// One row in the bucket it runs in. T = bucket.tokens.
struct HostBatch {
  BucketShape bucket;
  /// [T] token ids, 0 in the tail.
  std::vector<int32_t> ids;
  /// [T] shifted: the id at t + 1 if that token is a target of the same document, otherwise -100.
  std::vector<int32_t> labels;
  /// [documents + 1] first token of each document, then the end of the last; the row's own, not padded.
  std::vector<int32_t> documentOffsets;
  /// The positions with a label, rising; not padded.
  std::vector<int32_t> trainedRows;
  /// [T] the positions of the row's tokens, sorted by (id, position), then -1: the order in which the embedding's
  /// gradient sums equal ids.
  std::vector<int32_t> embeddingOrder;

  int64_t tokens() const { return documentOffsets.back(); }
  int64_t documents() const { return static_cast<int64_t>(documentOffsets.size()) - 1; }
  int64_t trained() const { return static_cast<int64_t>(trainedRows.size()); }
};

/// The exact extents of a row.
BucketShape rowShapeOf(const TokenRow &row);

/// Fills `batch`, whose memory is used again. A row is a batch: rows are never merged. ResourceExhausted, naming the
/// limit, if the row does not fit the bucket.
Status fillBatch(const TokenRow &row, const BucketShape &bucket, HostBatch &batch);

} // namespace qrt

#endif // RUNTIME_DATA_BATCH_H
