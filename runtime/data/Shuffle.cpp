// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Shuffle.h"

#include "runtime/base/Philox.h"

#include <cstddef>
#include <numeric>
#include <utility>

namespace qrt {

std::vector<int64_t> shuffledIndices(int64_t count, uint64_t seed, ShuffleUse use, uint32_t round) {
  std::vector<int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (uint64_t i = order.size(); i > 1; --i) {
    uint64_t index = i - 1;
    PhiloxCounter counter = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), round,
                             static_cast<uint32_t>(use)};
    PhiloxCounter random = philox4x32(counter, philoxKey(seed));
    std::swap(order[index], order[uniformBelow(uint64_t{random[1]} << 32 | random[0], i)]);
  }
  return order;
}

} // namespace qrt
