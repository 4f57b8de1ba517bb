// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Static memory: buffers with known sizes and lifetimes in, byte offsets in one arena out. A pure algorithm.
#ifndef COMPILER_PLAN_ARENAPACKER_H
#define COMPILER_PLAN_ARENAPACKER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace qcc {

/// Every buffer begins at a multiple of this many bytes.
constexpr int64_t kArenaAlignment = 256;

constexpr int64_t alignToArena(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/// `bytes` > 0, needed from instruction `first` to instruction `last`, both included.
struct ArenaBuffer {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

/// In what order the greedy packer places buffers.
enum class ArenaOrder : uint8_t {
  Size,       ///< largest first
  Area,       ///< largest bytes times lifetime first
  Lifetime,   ///< longest-lived first
  Start,      ///< in the order of their first use
  Contention, ///< those alive where most bytes are alive first, largest first
};

struct ArenaPacking {
  std::vector<int64_t> offsets;
  /// Bytes of the arena.
  int64_t bytes = 0;
  /// No packing is smaller: the most bytes (aligned) alive at one time.
  int64_t bound = 0;
  /// The order that gave it, before single buffers changed places in it.
  ArenaOrder order = ArenaOrder::Size;
};

/// The most bytes alive at one time, each buffer rounded up to the alignment.
int64_t arenaBound(std::span<const ArenaBuffer> buffers);

/// Packs greedily in several orders and tries to improve the smallest result. The same buffers give the same offsets.
ArenaPacking packArena(std::span<const ArenaBuffer> buffers);

/// Two buffers that share bytes while both are alive.
struct ArenaConflict {
  size_t a = 0;
  size_t b = 0;
};

/// Checks a packing, in O(n log n): the first conflict in the order of time, or nothing.
std::optional<ArenaConflict> findArenaConflict(std::span<const ArenaBuffer> buffers, std::span<const int64_t> offsets);

} // namespace qcc

#endif // COMPILER_PLAN_ARENAPACKER_H
