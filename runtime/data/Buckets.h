// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which buckets a set of packed rows is compiled for, and which of them a row runs in.
#ifndef RUNTIME_DATA_BUCKETS_H
#define RUNTIME_DATA_BUCKETS_H

#include "runtime/base/BucketShape.h"
#include "runtime/base/Status.h"
#include "runtime/data/Manifest.h"

#include <cstddef>
#include <span>
#include <vector>

namespace qrt {

/// The bucket of `tokens` tokens, at least those of the row, that a row and similar ones fit: documents rounded up to a
/// power of two, the longest document to a multiple of 64, the trained rows to a multiple of 1,024; at least one step
/// of each, at most the tokens.
BucketShape roundedBucket(const BucketShape &row, int64_t tokens);

/// At most four buckets that together take every row of the (packed) manifest, in the order of their trained rows. All
/// have the row length as their tokens. The head computes all trained rows of a bucket and is the widest matrix product
/// there is, so buckets differ by it: the rows' trained counts, rounded up (roundedBucket), are parted into as many
/// ranges as there are buckets so that the sum over all rows of their bucket's trained rows is least. A bucket more is
/// taken only if it lowers that sum by 2 %. Documents and the longest document cover the rows of the range and all
/// earlier ones: they cost little, and a later bucket then takes whatever an earlier one does.
std::vector<BucketShape> chooseBuckets(const Manifest &manifest);

/// The index of the bucket with the least work that holds a row: least in (tokens, trained, longest, documents).
/// ResourceExhausted if none does.
StatusOr<size_t> findBucket(std::span<const BucketShape> buckets, const BucketShape &row);

} // namespace qrt

#endif // RUNTIME_DATA_BUCKETS_H
