// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_AUTODIFF_MEMBERKEY_H
#define COMPILER_AUTODIFF_MEMBERKEY_H

#include <cstdint>

#include "llvm/ADT/StringRef.h"

namespace qcc {

/// What keys a parameter's random numbers in stochastic rounding: the upper 63 bits of the 64-bit FNV-1a hash (Fowler,
/// Noll, Vo) of its preferred checkpoint name. It is the same in every build, pack and shard, so it must never change.
inline int64_t memberKey(llvm::StringRef name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 0x100000001b3;
  return static_cast<int64_t>(hash >> 1);
}

} // namespace qcc

#endif // COMPILER_AUTODIFF_MEMBERKEY_H
