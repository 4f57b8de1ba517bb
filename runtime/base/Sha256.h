// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256 (FIPS 180-4), as lower-case hexadecimal digits.
#ifndef RUNTIME_BASE_SHA256_H
#define RUNTIME_BASE_SHA256_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace qrt {

/// A hash in the making, for data that comes in pieces.
class Sha256 {
public:
  Sha256();
  Sha256(Sha256 &&) noexcept;
  Sha256 &operator=(Sha256 &&) noexcept;
  ~Sha256();

  void update(std::span<const uint8_t> bytes);

  /// The 64 digits of everything so far; call once. Fails (Unsupported) only where the library has no SHA-256.
  StatusOr<std::string> finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The digest of bytes in memory.
StatusOr<std::string> sha256(std::span<const uint8_t> bytes);

/// Whether `text` is 64 lower-case hexadecimal digits.
bool isSha256(std::string_view text);

} // namespace qrt

#endif // RUNTIME_BASE_SHA256_H
