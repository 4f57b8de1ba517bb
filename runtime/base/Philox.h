// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10, a counter-based random generator: a bijection of a 128-bit counter for each 64-bit key. It has no
// state, so a number depends only on what it is for (seed, step, element), never on the order in which numbers are
// drawn. Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3. SC 2011.
#ifndef RUNTIME_BASE_PHILOX_H
#define RUNTIME_BASE_PHILOX_H

#include <array>
#include <cstdint>

namespace qrt {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

/// Four independent uniform 32-bit numbers for (counter, key).
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  // A loop that draws many numbers is vectorized only if there is no loop within.
#pragma clang loop unroll(full)
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t{0xD2511F53u} * counter[0];
    uint64_t odd = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(odd),
               static_cast<uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(even)};
    // The Weyl sequences of the golden ratio and of sqrt(3) - 1 make a new key for each round.
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

/// The key of a 64-bit seed.
constexpr PhiloxKey philoxKey(uint64_t seed) {
  return {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
}

/// A uniform number below `bound` (>= 1) from 64 random bits. The bias is below bound / 2^64, far below what any amount
/// of data could show, so no number is ever redrawn and the counter of each stays its index.
constexpr uint64_t uniformBelow(uint64_t random, uint64_t bound) {
  // The upper 64 bits of the 128-bit product.
  uint64_t low = (random & 0xFFFFFFFFu) * (bound & 0xFFFFFFFFu);
  uint64_t mid = (random >> 32) * (bound & 0xFFFFFFFFu) + (low >> 32);
  uint64_t mid2 = (random & 0xFFFFFFFFu) * (bound >> 32) + (mid & 0xFFFFFFFFu);
  return (random >> 32) * (bound >> 32) + (mid >> 32) + (mid2 >> 32);
}

} // namespace qrt

#endif // RUNTIME_BASE_PHILOX_H
