// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Batch.h"

#include "runtime/base/IgnoredLabel.h"

#include <algorithm>
#include <numeric>

namespace qrt {

BucketShape rowShapeOf(const TokenRow &row) {
  BucketShape shape;
  shape.tokens = row.tokens();
  shape.documents = row.documents();
  for (size_t d = 0; d + 1 < row.documentOffsets.size(); ++d) {
    int64_t begin = row.documentOffsets[d];
    int64_t end = row.documentOffsets[d + 1];
    shape.longest = std::max(shape.longest, end - begin);
    for (int64_t t = begin + 1; t < end; ++t)
      shape.trained += row.lossMask[static_cast<size_t>(t)];
  }
  return shape;
}

Status fillBatch(const TokenRow &row, const BucketShape &bucket, HostBatch &batch) {
  BucketShape shape = rowShapeOf(row);
  for (auto [what, has, limit] : {std::tuple{"tokens", shape.tokens, bucket.tokens},
                                  {"documents", shape.documents, bucket.documents},
                                  {"tokens in its longest document", shape.longest, bucket.longest},
                                  {"trained tokens", shape.trained, bucket.trained}})
    if (has > limit)
      return error(StatusCode::ResourceExhausted, "a row has {} {}, the bucket {} takes {}", has, what,
                   printBucket(bucket), limit);

  size_t slots = static_cast<size_t>(bucket.tokens);
  size_t used = row.ids.size();
  batch.bucket = bucket;
  batch.ids.assign(slots, 0);
  std::copy(row.ids.begin(), row.ids.end(), batch.ids.begin());
  batch.documentOffsets.assign(row.documentOffsets.begin(), row.documentOffsets.end());
  batch.labels.assign(slots, kIgnoredLabel);
  batch.trainedRows.clear();
  for (size_t d = 0; d + 1 < row.documentOffsets.size(); ++d)
    for (int64_t t = row.documentOffsets[d]; t + 1 < row.documentOffsets[d + 1]; ++t) {
      size_t next = static_cast<size_t>(t) + 1;
      if (!row.lossMask[next])
        continue;
      batch.labels[static_cast<size_t>(t)] = row.ids[next];
      batch.trainedRows.push_back(static_cast<int32_t>(t));
    }

  batch.embeddingOrder.assign(slots, -1);
  auto positions = std::span<int32_t>(batch.embeddingOrder).first(used);
  std::iota(positions.begin(), positions.end(), 0);
  std::sort(positions.begin(), positions.end(), [&](int32_t a, int32_t b) {
    return std::tie(row.ids[static_cast<size_t>(a)], a) < std::tie(row.ids[static_cast<size_t>(b)], b);
  });
  return Status();
}

} // namespace qrt
