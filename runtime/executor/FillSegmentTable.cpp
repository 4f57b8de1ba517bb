// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/FillSegmentTable.h"

#include <algorithm>
#include <cassert>

namespace qrt {

static Status checkDocuments(const BucketShape &bucket, std::span<const int32_t> documentOffsets) {
  if (documentOffsets.empty() || documentOffsets[0] != 0)
    return error(StatusCode::InvalidData, "documents: expected the first offset to be 0, got {}",
                 documentOffsets.empty() ? "none" : std::to_string(documentOffsets[0]));
  auto documents = static_cast<int64_t>(documentOffsets.size()) - 1;
  if (documents > bucket.documents)
    return error(StatusCode::ResourceExhausted, "{} documents in a bucket of {} ({})", documents, bucket.documents,
                 printBucket(bucket));
  for (int64_t d = 0; d < documents; ++d) {
    int64_t length = int64_t{documentOffsets[d + 1]} - documentOffsets[d];
    if (length < 0)
      return error(StatusCode::InvalidData, "document {}: ends at {}, before its begin at {}", d,
                   documentOffsets[d + 1], documentOffsets[d]);
    if (length > bucket.longest)
      return error(StatusCode::ResourceExhausted, "document {}: {} tokens in a bucket for documents of {} ({})", d,
                   length, bucket.longest, printBucket(bucket));
  }
  if (documentOffsets.back() > bucket.tokens)
    return error(StatusCode::ResourceExhausted, "{} tokens in a bucket of {} ({})", documentOffsets.back(),
                 bucket.tokens, printBucket(bucket));
  return Status();
}

static Status checkTrainedRows(const BucketShape &bucket, std::span<const int32_t> trainedRows, int64_t tokens) {
  if (static_cast<int64_t>(trainedRows.size()) > bucket.trained)
    return error(StatusCode::ResourceExhausted, "{} trained rows in a bucket of {} ({})", trainedRows.size(),
                 bucket.trained, printBucket(bucket));
  int64_t previous = -1;
  for (int32_t row : trainedRows) {
    if (row <= previous || row >= tokens)
      return error(StatusCode::InvalidData, "trained row {}: expected it behind {} and before the {} tokens", row,
                   previous, tokens);
    previous = row;
  }
  return Status();
}

Status fillSegmentTable(const SegmentLayout &layout, std::span<const int32_t> documentOffsets,
                        std::span<const int32_t> trainedRows, std::span<int32_t> table) {
  assert(static_cast<int64_t>(table.size()) == layout.size() && "the table of another bucket");
  const BucketShape &bucket = layout.bucket;
  QRT_RETURN_IF_ERROR(checkDocuments(bucket, documentOffsets));
  auto documents = static_cast<int64_t>(documentOffsets.size()) - 1;
  int32_t tokens = documentOffsets.back();
  QRT_RETURN_IF_ERROR(checkTrainedRows(bucket, trainedRows, tokens));

  std::fill(table.begin(), table.end(), -1);
  int32_t *offsets = table.data() + layout.documentOffsets(), *documentOf = table.data() + layout.tokenDocument();
  int32_t *chunkStart = table.data() + layout.chunkStart(), *tileStart = table.data() + layout.tileStart();
  std::copy(documentOffsets.begin(), documentOffsets.end(), offsets);
  std::fill(offsets + documents, offsets + bucket.documents + 1, tokens);
  int32_t chunks = 0, tiles = 0;
  for (int64_t d = 0; d < documents; ++d) {
    int64_t begin = documentOffsets[d], end = documentOffsets[d + 1];
    std::fill(documentOf + begin, documentOf + end, static_cast<int32_t>(d));
    for (int64_t token = begin; token < end; token += kChunkTokens)
      chunkStart[chunks++] = static_cast<int32_t>(token);
    for (int64_t token = begin; token < end; token += kTileTokens)
      tileStart[tiles++] = static_cast<int32_t>(token);
  }
  // The last query of a tile sees the most keys: its position in its document, plus one.
  auto keys = [&](int32_t token) {
    int32_t document = documentOf[token];
    return std::min<int64_t>(token + kTileTokens, documentOffsets[document + 1]) - documentOffsets[document];
  };
  std::sort(tileStart, tileStart + tiles, [&](int32_t a, int32_t b) {
    int64_t keysA = keys(a), keysB = keys(b);
    return keysA != keysB ? keysA > keysB : a < b;
  });
  std::copy(trainedRows.begin(), trainedRows.end(), table.data() + layout.trainedRows());
  table[0] = tokens;
  table[1] = static_cast<int32_t>(documents);
  table[2] = chunks;
  table[3] = tiles;
  table[4] = static_cast<int32_t>(trainedRows.size());
  return Status();
}

} // namespace qrt
