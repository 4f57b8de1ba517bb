// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/Footprint.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace qcc {

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

void IntervalSet::add(int64_t begin, int64_t end) {
  // The first that touches [begin, end), and the first beyond.
  auto first = partition_point(intervals_, [&](auto &interval) { return interval.second < begin; });
  auto last = first;
  for (; last != intervals_.end() && last->first <= end; ++last) {
    begin = std::min(begin, last->first);
    end = std::max(end, last->second);
  }
  first = intervals_.erase(first, last);
  intervals_.insert(first, {begin, end});
}

bool IntervalSet::contains(int64_t begin, int64_t end) const {
  auto it = partition_point(intervals_, [&](auto &interval) { return interval.second <= begin; });
  return it != intervals_.end() && it->first <= begin && end <= it->second;
}

bool IntervalSet::intersects(int64_t begin, int64_t end) const {
  auto it = partition_point(intervals_, [&](auto &interval) { return interval.second <= begin; });
  return it != intervals_.end() && it->first < end;
}

//===----------------------------------------------------------------------===//
// Footprints
//===----------------------------------------------------------------------===//

bool Footprint::intersects(const Footprint &other) const {
  return rowBegin < other.rowEnd && other.rowBegin < rowEnd &&
         any_of(other.columns.intervals(), [&](auto &i) { return columns.intersects(i.first, i.second); });
}

/// The merged dimensions, the innermost a run of elements (stride 1).
static SmallVector<std::pair<int64_t, int64_t>> runsOf(const BufferView &view) {
  SmallVector<std::pair<int64_t, int64_t>> dims = mergedDims(view);
  if (dims.empty() || dims.back().second != 1)
    dims.push_back({1, 1});
  return dims;
}

static void addRuns(ArrayRef<std::pair<int64_t, int64_t>> dims, int64_t offset, IntervalSet &columns) {
  auto [size, stride] = dims.front();
  if (dims.size() == 1)
    return columns.add(offset, offset + size);
  for (int64_t i = 0; i < size; ++i)
    addRuns(dims.drop_front(), offset + i * stride, columns);
}

std::optional<Footprint> footprintOf(const BufferView &view, int64_t pitch) {
  SmallVector<std::pair<int64_t, int64_t>> dims = runsOf(view);
  int64_t row = view.offset / pitch, column = view.offset % pitch;
  Footprint footprint{row, row + 1, {}};
  ArrayRef<std::pair<int64_t, int64_t>> inner = dims;
  if (dims.size() == 1 && column == 0 && dims[0].first % pitch == 0) { // whole rows
    footprint.rowEnd = row + dims[0].first / pitch;
    footprint.columns.add(0, pitch);
    return footprint;
  }
  if (dims.size() > 1 && dims[0].second == pitch) {
    footprint.rowEnd = row + dims[0].first;
    inner = inner.drop_front();
  }
  int64_t end = column + 1;
  for (auto [size, stride] : inner)
    end += (size - 1) * stride;
  if (end > pitch)
    return std::nullopt;
  addRuns(inner, column, footprint.columns);
  return footprint;
}

int64_t commonPitch(ArrayRef<BufferView> views, int64_t elements) {
  int64_t pitch = 0;
  for (const BufferView &view : views)
    if (auto dims = runsOf(view); dims.size() > 1)
      pitch = std::max(pitch, dims[0].second);
  if (pitch == 0)
    return elements;
  return all_of(views, [&](const BufferView &view) { return footprintOf(view, pitch).has_value(); }) ? pitch : elements;
}

//===----------------------------------------------------------------------===//
// Sets of elements
//===----------------------------------------------------------------------===//

ElementSet::ElementSet(ArrayRef<Footprint> footprints) {
  for (const Footprint &footprint : footprints) {
    bounds_.push_back(footprint.rowBegin);
    bounds_.push_back(footprint.rowEnd);
  }
  llvm::sort(bounds_);
  bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  bands_.resize(bounds_.size());
}

std::pair<size_t, size_t> ElementSet::bandsOf(const Footprint &footprint) const {
  return {lower_bound(bounds_, footprint.rowBegin) - bounds_.begin(),
          lower_bound(bounds_, footprint.rowEnd) - bounds_.begin()};
}

void ElementSet::add(const Footprint &footprint) {
  auto [begin, end] = bandsOf(footprint);
  for (size_t band = begin; band < end; ++band)
    for (auto [first, last] : footprint.columns.intervals())
      bands_[band].add(first, last);
}

bool ElementSet::contains(const Footprint &footprint) const {
  auto [begin, end] = bandsOf(footprint);
  for (size_t band = begin; band < end; ++band)
    for (auto [first, last] : footprint.columns.intervals())
      if (!bands_[band].contains(first, last))
        return false;
  return true;
}

bool ElementSet::intersects(const Footprint &footprint) const {
  auto [begin, end] = bandsOf(footprint);
  for (size_t band = begin; band < end; ++band)
    for (auto [first, last] : footprint.columns.intervals())
      if (bands_[band].intersects(first, last))
        return true;
  return false;
}

} // namespace qcc
