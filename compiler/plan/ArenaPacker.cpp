// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/ArenaPacker.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace qcc {
namespace {

/// A buffer that has its place.
struct Placed {
  int64_t begin, end;  // bytes
  int64_t first, last; // instructions
};

/// The buffers placed so far in ascending order of offset, and the search for a free place.
class Arena {
public:
  explicit Arena(size_t capacity) { placed_.reserve(capacity); }

  /// Places a buffer into the smallest gap that takes it (`bestFit`) or the lowest, and returns its offset.
  int64_t place(const ArenaBuffer &buffer, bool bestFit) {
    int64_t size = alignToArena(buffer.bytes);
    int64_t free = 0; // end of the highest buffer seen so far that is alive at the same time
    int64_t offset = -1, smallest = std::numeric_limits<int64_t>::max();
    for (const Placed &other : placed_) {
      if (other.last < buffer.first || other.first > buffer.last)
        continue;
      int64_t gap = other.begin - free;
      if (gap >= size && gap < smallest) {
        offset = free;
        smallest = gap;
        if (!bestFit || gap == size)
          break;
      }
      free = std::max(free, other.end);
    }
    if (offset < 0)
      offset = free;
    Placed placed{offset, offset + size, buffer.first, buffer.last};
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), placed,
                                    [](const Placed &a, const Placed &b) { return a.begin < b.begin; }),
                   placed);
    peak_ = std::max(peak_, placed.end);
    return offset;
  }

  int64_t peak() const { return peak_; }

private:
  std::vector<Placed> placed_;
  int64_t peak_ = 0;
};

/// Bytes alive at each instant where that changes.
std::map<int64_t, int64_t> liveProfile(std::span<const ArenaBuffer> buffers) {
  std::map<int64_t, int64_t> profile;
  for (const ArenaBuffer &buffer : buffers) {
    profile[buffer.first] += alignToArena(buffer.bytes);
    profile[buffer.last + 1] -= alignToArena(buffer.bytes);
  }
  int64_t live = 0;
  for (auto &[time, bytes] : profile)
    bytes = live += bytes;
  return profile;
}

/// The most bytes alive at any time of a buffer's life.
std::vector<int64_t> contention(std::span<const ArenaBuffer> buffers) {
  std::map<int64_t, int64_t> profile = liveProfile(buffers);
  std::vector<int64_t> times, bytes;
  for (auto [time, live] : profile) {
    times.push_back(time);
    bytes.push_back(live);
  }
  // A sparse table: level k holds the maximum over 2^k instants.
  std::vector<std::vector<int64_t>> table{bytes};
  for (size_t width = 1; 2 * width <= bytes.size(); width *= 2) {
    const std::vector<int64_t> &half = table.back();
    std::vector<int64_t> level(bytes.size() - 2 * width + 1);
    for (size_t i = 0; i < level.size(); ++i)
      level[i] = std::max(half[i], half[i + width]);
    table.push_back(std::move(level));
  }
  std::vector<int64_t> result;
  for (const ArenaBuffer &buffer : buffers) {
    size_t begin = std::lower_bound(times.begin(), times.end(), buffer.first) - times.begin();
    size_t end = std::upper_bound(times.begin(), times.end(), buffer.last) - times.begin();
    int level = 63 - __builtin_clzll(end - begin);
    result.push_back(std::max(table[level][begin], table[level][end - (size_t{1} << level)]));
  }
  return result;
}

std::vector<size_t> sorted(std::span<const ArenaBuffer> buffers, ArenaOrder order) {
  std::vector<int64_t> crowd;
  if (order == ArenaOrder::Contention)
    crowd = contention(buffers);
  // Descending keys; ties fall to the earlier, then to the lower index, so the order is total.
  auto key = [&](size_t i) {
    const ArenaBuffer &b = buffers[i];
    int64_t life = b.last - b.first + 1;
    switch (order) {
    case ArenaOrder::Size:
      return std::tuple(static_cast<double>(b.bytes), static_cast<double>(life));
    case ArenaOrder::Area:
      return std::tuple(static_cast<double>(b.bytes) * static_cast<double>(life), static_cast<double>(b.bytes));
    case ArenaOrder::Lifetime:
      return std::tuple(static_cast<double>(life), static_cast<double>(b.bytes));
    case ArenaOrder::Start:
      return std::tuple(-static_cast<double>(b.first), static_cast<double>(b.bytes));
    case ArenaOrder::Contention:
      return std::tuple(static_cast<double>(crowd[i]), static_cast<double>(b.bytes));
    }
    return std::tuple(0.0, 0.0);
  };
  std::vector<size_t> indices(buffers.size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  std::sort(indices.begin(), indices.end(), [&](size_t a, size_t b) {
    auto ka = key(a), kb = key(b);
    if (ka != kb)
      return ka > kb;
    return std::tuple(buffers[a].first, a) < std::tuple(buffers[b].first, b);
  });
  return indices;
}

} // namespace

int64_t arenaBound(std::span<const ArenaBuffer> buffers) {
  int64_t bound = 0;
  for (auto [time, live] : liveProfile(buffers))
    bound = std::max(bound, live);
  return bound;
}

namespace {

/// Places all buffers in the order of `indices`, unless that needs `limit` bytes or more: then nothing.
std::optional<ArenaPacking> packInOrder(std::span<const ArenaBuffer> buffers, std::span<const size_t> indices,
                                        bool bestFit, int64_t limit) {
  Arena arena(buffers.size());
  ArenaPacking packing;
  packing.offsets.resize(buffers.size());
  for (size_t index : indices) {
    assert(buffers[index].bytes > 0 && buffers[index].first <= buffers[index].last);
    packing.offsets[index] = arena.place(buffers[index], bestFit);
    if (arena.peak() >= limit)
      return std::nullopt;
  }
  packing.bytes = arena.peak();
  return packing;
}

/// Tries to lower a packing by placing what reaches its top earlier. Deterministic, and bounded: about half a second.
void improve(std::span<const ArenaBuffer> buffers, std::vector<size_t> indices, bool bestFit, ArenaPacking &best) {
  constexpr uint64_t kMaxPairs = 400'000'000;
  uint64_t pairs = buffers.size() * buffers.size();
  uint64_t tries = std::min<uint64_t>(2000, kMaxPairs / std::max<uint64_t>(pairs, 1));
  uint64_t random = 0x9e3779b97f4a7c15;
  for (uint64_t i = 0; i < tries && best.bytes > best.bound; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    auto top = std::find_if(indices.begin(), indices.end(), [&](size_t index) {
      return best.offsets[index] + alignToArena(buffers[index].bytes) == best.bytes;
    });
    size_t position = top - indices.begin();
    if (position == 0)
      return;
    std::vector<size_t> changed = indices;
    size_t earlier = random % position;
    std::rotate(changed.begin() + earlier, changed.begin() + position, changed.begin() + position + 1);
    // A packing as large as the best is taken too: it leads on to others.
    if (std::optional<ArenaPacking> packing = packInOrder(buffers, changed, bestFit, best.bytes + 1)) {
      best.bytes = packing->bytes;
      best.offsets = std::move(packing->offsets);
      indices = std::move(changed);
    }
  }
}

} // namespace

ArenaPacking packArena(std::span<const ArenaBuffer> buffers) {
  ArenaPacking best;
  best.bound = arenaBound(buffers);
  if (buffers.empty())
    return best;
  best.bytes = std::numeric_limits<int64_t>::max();
  std::vector<size_t> bestIndices;
  bool bestFits = false;
  for (ArenaOrder order :
       {ArenaOrder::Size, ArenaOrder::Area, ArenaOrder::Lifetime, ArenaOrder::Contention, ArenaOrder::Start}) {
    std::vector<size_t> indices = sorted(buffers, order);
    for (bool bestFit : {true, false}) {
      if (best.bytes == best.bound)
        return best;
      if (std::optional<ArenaPacking> packing = packInOrder(buffers, indices, bestFit, best.bytes)) {
        best.bytes = packing->bytes;
        best.offsets = std::move(packing->offsets);
        best.order = order;
        bestIndices = indices;
        bestFits = bestFit;
      }
    }
  }
  improve(buffers, std::move(bestIndices), bestFits, best);
  return best;
}

std::optional<ArenaConflict> findArenaConflict(std::span<const ArenaBuffer> buffers, std::span<const int64_t> offsets) {
  assert(buffers.size() == offsets.size());
  std::vector<size_t> starts(buffers.size());
  std::iota(starts.begin(), starts.end(), size_t{0});
  std::vector<size_t> ends = starts;
  std::sort(starts.begin(), starts.end(),
            [&](size_t a, size_t b) { return std::tuple(buffers[a].first, a) < std::tuple(buffers[b].first, b); });
  std::sort(ends.begin(), ends.end(),
            [&](size_t a, size_t b) { return std::tuple(buffers[a].last, a) < std::tuple(buffers[b].last, b); });
  // What is alive, by offset: as long as there is no conflict, these are disjoint, so looking at the neighbours is
  // enough.
  std::map<int64_t, size_t> alive;
  size_t ended = 0;
  for (size_t index : starts) {
    while (buffers[ends[ended]].last < buffers[index].first)
      alive.erase(offsets[ends[ended++]]);
    auto next = alive.lower_bound(offsets[index]);
    if (next != alive.end() && next->first < offsets[index] + buffers[index].bytes)
      return ArenaConflict{next->second, index};
    if (next != alive.begin()) {
      auto previous = std::prev(next);
      if (previous->first + buffers[previous->second].bytes > offsets[index])
        return ArenaConflict{previous->second, index};
    }
    alive.emplace(offsets[index], index);
  }
  return std::nullopt;
}

} // namespace qcc
