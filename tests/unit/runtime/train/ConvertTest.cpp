// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace qrt {
namespace {

float toFloat(DType dtype, uint64_t bits) {
  float value;
  floatsFromBytes(dtype, {reinterpret_cast<const uint8_t *>(&bits), static_cast<size_t>(byteSize(dtype))}, {&value, 1});
  return value;
}

uint64_t toBits(DType dtype, float value) {
  uint64_t bits = 0;
  bytesFromFloats(dtype, {&value, 1}, {reinterpret_cast<uint8_t *>(&bits), static_cast<size_t>(byteSize(dtype))});
  return bits;
}

/// A finite f16 by its definition.
double halfValue(uint32_t bits) {
  int exponent = static_cast<int>(bits >> 10 & 31);
  double fraction = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Convert, EveryHalfAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = toFloat(DType::F16, bits);
    if ((bits & 0x7C00) != 0x7C00) {
      ASSERT_EQ(value, halfValue(bits)) << bits;
    } else if (bits & 0x3FF) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(toFloat(DType::F16, toBits(DType::F16, value))));
      continue;
    } else {
      ASSERT_EQ(value, bits & 0x8000 ? -INFINITY : INFINITY);
    }
    ASSERT_EQ(toBits(DType::F16, value), bits);
  }
}

TEST(Convert, RoundsToTheNearestHalf) {
  // Between each two neighbours: their middle goes to the even one, and what lies beside it to the nearer one.
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    double low = halfValue(bits), high = halfValue(bits + 1);
    auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(toBits(DType::F16, middle), bits % 2 == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(toBits(DType::F16, std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(toBits(DType::F16, std::nextafter(middle, INFINITY)), bits + 1);
    ASSERT_EQ(toBits(DType::F16, -std::nextafter(middle, INFINITY)), (bits + 1) | 0x8000);
  }
  EXPECT_EQ(toBits(DType::F16, 65519.99F), 0x7BFFu);
  EXPECT_EQ(toBits(DType::F16, 65520.0F), 0x7C00u);
  EXPECT_EQ(toBits(DType::F16, 1e30F), 0x7C00u);
  EXPECT_EQ(toBits(DType::F16, -1e-30F), 0x8000u);
}

TEST(Convert, TheOtherTypes) {
  EXPECT_EQ(toFloat(DType::BF16, 0x3FC0), 1.5F);
  EXPECT_EQ(toBits(DType::BF16, 1.5F), 0x3FC0u);
  EXPECT_EQ(toFloat(DType::F64, std::bit_cast<uint64_t>(0.1)), 0.1F);
  EXPECT_EQ(toBits(DType::F64, 0.1F), std::bit_cast<uint64_t>(double{0.1F}));
  EXPECT_EQ(toFloat(DType::F32, std::bit_cast<uint32_t>(-2.5F)), -2.5F);
  EXPECT_TRUE(isFloatType(DType::F64));
  EXPECT_FALSE(isFloatType(DType::I32));
  EXPECT_FALSE(isFloatType(DType::F8E4M3));
}

} // namespace
} // namespace qrt
