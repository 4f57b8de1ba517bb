// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_DATA_SHUFFLE_H
#define RUNTIME_DATA_SHUFFLE_H

#include <cstdint>
#include <vector>

namespace qrt {

/// What a random order is for: the same seed gives unrelated orders.
enum class ShuffleUse : uint32_t { Rows = 1, Packing = 2 };

/// The numbers 0 to count - 1 in a random order that depends on the arguments alone, on every machine: Fisher-Yates
/// over Philox, whose counter is (index, index, round, use). `round` tells orders of one use apart (the epoch).
std::vector<int64_t> shuffledIndices(int64_t count, uint64_t seed, ShuffleUse use, uint32_t round);

} // namespace qrt

#endif // RUNTIME_DATA_SHUFFLE_H
