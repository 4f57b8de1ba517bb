// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_BUCKETSHAPE_H
#define RUNTIME_BASE_BUCKETSHAPE_H

#include "runtime/base/Status.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

/// The static extents of a program: a packed row fits if none of its own is larger.
struct BucketShape {
  /// Positions are 32-bit in the programs.
  static constexpr int64_t kMaxTokens = (int64_t{1} << 31) - 1;

  /// Tokens of the row, tail included.
  int64_t tokens = 0;
  /// Documents in the row, empty ones not counted.
  int64_t documents = 0;
  /// Tokens of the longest document.
  int64_t longest = 0;
  /// Trained rows: tokens whose successor is a target.
  int64_t trained = 0;

  auto operator<=>(const BucketShape &) const = default;

  /// Whether a row of these extents fits.
  bool holds(const BucketShape &row) const {
    return row.tokens <= tokens && row.documents <= documents && row.longest <= longest && row.trained <= trained;
  }

  /// The bucket that takes any row of at most `tokens` tokens.
  static BucketShape anyOf(int64_t tokens) { return {tokens, tokens, tokens, tokens}; }
};

/// "8192x16x8192x4096" (tokens, documents, longest, trained), or "8192" for BucketShape::anyOf(8192).
std::string printBucket(const BucketShape &bucket);

/// The inverse of printBucket. Each number is at least 1, and none exceeds the tokens. InvalidUsage otherwise.
StatusOr<BucketShape> parseBucket(std::string_view text);

/// A comma-separated, non-empty list of buckets without repetition, in the order given. InvalidUsage otherwise.
StatusOr<std::vector<BucketShape>> parseBuckets(std::string_view text);

} // namespace qrt

#endif // RUNTIME_BASE_BUCKETSHAPE_H
