// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_BUCKETSHAPE_H
#define RUNTIME_BASE_BUCKETSHAPE_H

#include <compare>
#include <cstdint>

namespace qrt {

/// The static extents of a program: a packed row fits if none of its own is larger.
struct BucketShape {
  /// Tokens of the row, tail included.
  int64_t tokens = 0;
  /// Documents in the row.
  int64_t documents = 0;
  /// Tokens of the longest document.
  int64_t longest = 0;
  /// Trained rows: tokens whose successor is a target.
  int64_t trained = 0;

  auto operator<=>(const BucketShape &) const = default;
};

} // namespace qrt

#endif // RUNTIME_BASE_BUCKETSHAPE_H
