// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_SCHEMA_DIGEST_H
#define RUNTIME_SCHEMA_DIGEST_H

#include "runtime/base/File.h"
#include "runtime/base/Sha256.h"

namespace qrt {

/// What stands in a program for its digest while that is computed.
inline constexpr std::string_view kNoDigest = "0000000000000000000000000000000000000000000000000000000000000000";

/// The SHA-256 of a program's file with kNoDigest in the place of `digest`, its own characters in it.
inline StatusOr<std::string> programDigest(std::span<const uint8_t> file, std::string_view digest) {
  auto begin = static_cast<size_t>(reinterpret_cast<const uint8_t *>(digest.data()) - file.data());
  Sha256 hash;
  hash.update(file.first(begin));
  hash.update(asBytes(kNoDigest));
  hash.update(file.subspan(begin + digest.size()));
  return hash.finish();
}

} // namespace qrt

#endif // RUNTIME_SCHEMA_DIGEST_H
