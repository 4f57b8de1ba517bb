// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_NAMEKEY_H
#define RUNTIME_BASE_NAMEKEY_H

#include <cstdint>
#include <string_view>

namespace qrt {

/// What stands for a parameter in the keys and counters of random numbers: the upper 63 bits of the FNV-1a hash
/// (Fowler, Noll, Vo) of its preferred checkpoint name. The same in every program, on every machine.
constexpr int64_t nameKey(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name)
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return static_cast<int64_t>(hash >> 1);
}

} // namespace qrt

#endif // RUNTIME_BASE_NAMEKEY_H
