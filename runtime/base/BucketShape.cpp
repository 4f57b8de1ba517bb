// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/BucketShape.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace qrt {

std::string printBucket(const BucketShape &bucket) {
  if (bucket == BucketShape::anyOf(bucket.tokens))
    return fmt::format("{}", bucket.tokens);
  return fmt::format("{}x{}x{}x{}", bucket.tokens, bucket.documents, bucket.longest, bucket.trained);
}

StatusOr<BucketShape> parseBucket(std::string_view text) {
  std::array<int64_t, 4> numbers{};
  size_t count = 0;
  std::string_view rest = text;
  bool ok = true;
  do {
    if (count > 0)
      rest.remove_prefix(1);
    // from_chars would take a minus sign; such a number is below 1.
    auto [stop, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), numbers[count]);
    ok = failure == std::errc() && numbers[count] >= 1 && numbers[count] <= BucketShape::kMaxTokens;
    rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
    ++count;
  } while (ok && count < numbers.size() && rest.starts_with('x'));
  if (!ok || !rest.empty() || (count != 1 && count != 4))
    return error(StatusCode::InvalidUsage,
                 "bucket '{}': expected TOKENS or TOKENSxDOCUMENTSxLONGESTxTRAINED, each from 1 to {}", text,
                 BucketShape::kMaxTokens);
  if (count == 1)
    return BucketShape::anyOf(numbers[0]);
  BucketShape bucket{numbers[0], numbers[1], numbers[2], numbers[3]};
  if (std::max({bucket.documents, bucket.longest, bucket.trained}) > bucket.tokens)
    return error(StatusCode::InvalidUsage, "bucket '{}': documents, longest and trained must not exceed the {} tokens",
                 text, bucket.tokens);
  return bucket;
}

StatusOr<std::vector<BucketShape>> parseBuckets(std::string_view text) {
  std::vector<BucketShape> buckets;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    QRT_ASSIGN_OR_RETURN(BucketShape bucket, parseBucket(text.substr(begin, end - begin)));
    if (std::find(buckets.begin(), buckets.end(), bucket) != buckets.end())
      return error(StatusCode::InvalidUsage, "buckets '{}': {} is there twice", text, printBucket(bucket));
    buckets.push_back(bucket);
    begin = end + 1;
  }
  return buckets;
}

} // namespace qrt
