// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exactly which elements of a buffer a strided view covers, and sets of them.
#ifndef COMPILER_PLAN_FOOTPRINT_H
#define COMPILER_PLAN_FOOTPRINT_H

#include "compiler/plan/Views.h"

namespace qcc {

/// Disjoint, ascending intervals [begin, end).
class IntervalSet {
public:
  /// Adds [begin, end), not empty; what touches it becomes one interval with it.
  void add(int64_t begin, int64_t end);
  /// Whether all of [begin, end), not empty, is in the set.
  bool contains(int64_t begin, int64_t end) const;
  /// Whether any of [begin, end), not empty, is in the set.
  bool intersects(int64_t begin, int64_t end) const;
  /// The intervals, ascending; between two of them lies at least one number that is in none.
  llvm::ArrayRef<std::pair<int64_t, int64_t>> intervals() const { return intervals_; }

private:
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> intervals_;
};

/// A buffer seen as rows of `pitch` elements: the rows [rowBegin, rowEnd), of each the same columns, counted in
/// elements from the row's begin.
struct Footprint {
  int64_t rowBegin = 0;
  int64_t rowEnd = 0;
  IntervalSet columns;

  /// Whether the two share an element; both must be of the same buffer and pitch.
  bool intersects(const Footprint &other) const;
};

/// The footprint of a view in a buffer of rows of `pitch` elements; nothing if it does not cover the same columns in
/// each of its rows.
std::optional<Footprint> footprintOf(const BufferView &view, int64_t pitch);

/// A pitch in which each of the views has a footprint. In the worst case that is the whole buffer as one row of
/// `elements` columns.
int64_t commonPitch(llvm::ArrayRef<BufferView> views, int64_t elements);

/// A set of elements of one buffer, made for the footprints that will be asked about.
class ElementSet {
public:
  ElementSet() = default;
  /// An empty set. `footprints`: all that will be added or asked about, of the same pitch.
  explicit ElementSet(llvm::ArrayRef<Footprint> footprints);

  /// Adds every element of it.
  void add(const Footprint &footprint);
  /// Whether every element of it is in the set.
  bool contains(const Footprint &footprint) const;
  /// Whether any element of it is in the set.
  bool intersects(const Footprint &footprint) const;

private:
  /// The bands of rows that a footprint consists of.
  std::pair<size_t, size_t> bandsOf(const Footprint &footprint) const;

  llvm::SmallVector<int64_t> bounds_; // rows where some footprint begins or ends
  llvm::SmallVector<IntervalSet> bands_;
};

} // namespace qcc

#endif // COMPILER_PLAN_FOOTPRINT_H
