// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Convert.h"

#include "runtime/base/BFloat16.h"

#include <cassert>
#include <cmath>
#include <cstring>

namespace qrt {
namespace {

/// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
float f32FromF16(uint16_t bits) {
  uint32_t sign = (bits & 0x8000U) << 16, exponent = (bits >> 10) & 0x1FU, fraction = bits & 0x3FFU;
  if (exponent == 0x1F)
    return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent == 0) {
    // Subnormal: fraction times 2^-24, exact.
    float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t f16FromF32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U)
    return static_cast<uint16_t>(sign | 0x7E00U | (magnitude >> 13 & 0x3FFU));
  // 65520 and more round to infinity.
  if (magnitude >= 0x477FF000U)
    return static_cast<uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x38800000U) {
    // Below 2^-14 a unit is 2^-24: the addition rounds to it, since 0.5 has a unit of 2^-24.
    float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(0.5F)));
  }
  uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
  return static_cast<uint16_t>(sign | (rounded - (112U << 23)) >> 13);
}

template <typename T> T load(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

} // namespace

bool isFloatType(DType dtype) {
  return dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16 || dtype == DType::F64;
}

void floatsFromBytes(DType dtype, std::span<const uint8_t> bytes, std::span<float> values) {
  assert(isFloatType(dtype) && bytes.size() == values.size() * static_cast<size_t>(byteSize(dtype)));
  switch (dtype) {
  case DType::F32:
    if (!values.empty())
      std::memcpy(values.data(), bytes.data(), bytes.size());
    return;
  case DType::BF16:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = f32FromBF16(load<uint16_t>(bytes.data() + 2 * i));
    return;
  case DType::F16:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = f32FromF16(load<uint16_t>(bytes.data() + 2 * i));
    return;
  default:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(load<double>(bytes.data() + 8 * i));
  }
}

void bytesFromFloats(DType dtype, std::span<const float> values, std::span<uint8_t> bytes) {
  assert(isFloatType(dtype) && bytes.size() == values.size() * static_cast<size_t>(byteSize(dtype)));
  auto store = [&](auto convert) {
    for (size_t i = 0; i < values.size(); ++i) {
      auto value = convert(values[i]);
      std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
    }
  };
  switch (dtype) {
  case DType::F32:
    return store([](float value) { return value; });
  case DType::BF16:
    return store([](float value) { return bf16FromF32(value); });
  case DType::F16:
    return store([](float value) { return f16FromF32(value); });
  default:
    return store([](float value) { return static_cast<double>(value); });
  }
}

} // namespace qrt
