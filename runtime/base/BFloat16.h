// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f32 and bf16, the upper half of an f32.
#ifndef RUNTIME_BASE_BFLOAT16_H
#define RUNTIME_BASE_BFLOAT16_H

#include <bit>
#include <cstdint>

namespace qrt {

/// The bits of the bf16 nearest to `value`, ties to even; too large a value gives infinity. A NaN stays one: its sign
/// and the upper bits of its payload are kept and it is made quiet, since dropping the payload's low bits alone could
/// leave an infinity.
constexpr uint16_t bf16FromF32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/// The f32 with the value of these bf16 bits; exact.
constexpr float f32FromBF16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

} // namespace qrt

#endif // RUNTIME_BASE_BFLOAT16_H
