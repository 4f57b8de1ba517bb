// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/BFloat16.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace qrt;

TEST(BFloat16, EveryValueSurvivesTheWayThroughF32) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = f32FromBF16(static_cast<uint16_t>(bits));
    uint16_t expected = std::isnan(value) ? static_cast<uint16_t>(bits | 0x40) : static_cast<uint16_t>(bits);
    EXPECT_EQ(bf16FromF32(value), expected) << bits;
  }
}

// Between any two neighbours: the nearer one wins, and in the middle the even one.
TEST(BFloat16, RoundsToNearestEven) {
  for (uint32_t high : {0x0000u, 0x0001u, 0x3F80u, 0x3F81u, 0x4049u, 0x7F7Eu, 0x8000u, 0xBF80u, 0xC123u}) {
    auto round = [&](uint32_t low) { return bf16FromF32(std::bit_cast<float>(high << 16 | low)); };
    EXPECT_EQ(round(0x7FFF), high);
    EXPECT_EQ(round(0x8000), high + (high & 1));
    EXPECT_EQ(round(0x8001), high + 1);
  }
}

TEST(BFloat16, LargeValuesAndNaN) {
  EXPECT_EQ(bf16FromF32(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(bf16FromF32(-std::numeric_limits<float>::infinity()), 0xFF80);
  // A NaN whose payload is in the lower half only must not become an infinity, nor wrap to zero.
  EXPECT_EQ(bf16FromF32(std::bit_cast<float>(0x7F800001u)), 0x7FC0);
  EXPECT_EQ(bf16FromF32(std::bit_cast<float>(0xFFFFFFFFu)), 0xFFFF);
}
