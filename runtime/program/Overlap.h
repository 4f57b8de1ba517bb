// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_PROGRAM_OVERLAP_H
#define RUNTIME_PROGRAM_OVERLAP_H

#include "runtime/program/Program.h"

namespace qrt {

/// Whether two slices may share a byte. Exact for views of one matrix that start in the same row: column ranges, heads
/// of column ranges. Otherwise two that interleave may count as overlapping.
bool mayOverlap(const Slice &a, const Slice &b);

/// Whether a slice's elements are all different, by the usual sufficient condition: each dimension steps over all of
/// the smaller ones.
bool isInjective(const TensorShape &shape);

} // namespace qrt

#endif // RUNTIME_PROGRAM_OVERLAP_H
