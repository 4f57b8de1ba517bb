// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/VectorMath.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace qrt::cpu::plain;

namespace {

/// Distance of `got` from the exact value, in units of the last place of a float of that size.
double ulps(float got, double exact) {
  double scale = std::fabs(exact) < 1.18e-38 ? 1.4e-45 : std::ldexp(1.0, std::ilogb(exact) - 23);
  return std::fabs(got - exact) / scale;
}

template <typename Fast, typename Exact> double worst(float low, float high, Fast fast, Exact exact) {
  double worst = 0;
  constexpr int kSteps = 200000;
  for (int i = 0; i <= kSteps; ++i) {
    float x = low + (high - low) * (static_cast<float>(i) / kSteps);
    worst = std::max(worst, ulps(fast(x), exact(static_cast<double>(x))));
  }
  return worst;
}

} // namespace

TEST(VectorMath, ExpIsAccurate) {
  EXPECT_LT(worst(-87, 88.7f, [](float x) { return fastExp(x); }, [](double x) { return std::exp(x); }), 1.5);
  EXPECT_LT(worst(-1, 1, [](float x) { return fastExp(x); }, [](double x) { return std::exp(x); }), 1.5);
  EXPECT_LT(worst(-104, -87, [](float x) { return fastExp(x); }, [](double x) { return std::exp(x); }), 1.5);
  EXPECT_EQ(fastExp(0), 1.0f);
  EXPECT_EQ(fastExp(89), std::numeric_limits<float>::infinity());
  EXPECT_EQ(fastExp(std::numeric_limits<float>::infinity()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(fastExp(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_EQ(fastExp(-110), 0.0f);
  EXPECT_TRUE(std::isnan(fastExp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(VectorMath, SigmoidSiluSoftplusAreAccurate) {
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(worst(-80, 80, [](float x) { return fastSigmoid(x); }, sigmoid), 3);
  EXPECT_LT(worst(-80, 80, [](float x) { return fastSilu(x); }, [&](double x) { return x * sigmoid(x); }), 3);
  auto softplus = [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); };
  EXPECT_LT(worst(-80, 80, [](float x) { return fastSoftplus(x); }, softplus), 3);
  EXPECT_LT(worst(-2, 2, [](float x) { return fastSoftplus(x); }, softplus), 3);
  EXPECT_EQ(fastSoftplus(100), 100.0f);
  EXPECT_EQ(fastSigmoid(-1000), 0.0f);
  EXPECT_EQ(fastSilu(-1000), 0.0f);
}

// Angles as large as the longest context's positions.
TEST(VectorMath, SinCosAreAccurate) {
  double worst = 0;
  for (int64_t i = -1000; i < 262144; i += 7) {
    for (double factor : {1.0, 0.33333, 1e-3, 0.01234567}) {
      double angle = static_cast<double>(i) * factor;
      float s, c;
      fastSinCos(angle, s, c);
      worst = std::max({worst, std::fabs(s - std::sin(angle)), std::fabs(c - std::cos(angle))});
    }
  }
  EXPECT_LT(worst, 1.2e-7);
}

TEST(VectorMath, BF16RoundsToNearestEven) {
  EXPECT_EQ(toBF16(1.0f).bits, 0x3f80);
  EXPECT_EQ(toBF16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80); // tie, to even
  EXPECT_EQ(toBF16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82); // tie, to even
  EXPECT_EQ(toBF16(std::bit_cast<float>(0x3f808001u)).bits, 0x3f81);
  EXPECT_EQ(toBF16(std::bit_cast<float>(0x7f7fffffu)).bits, 0x7f80); // the largest float becomes infinity
  EXPECT_TRUE(std::isnan(toFloat(toBF16(std::bit_cast<float>(0x7fffffffu)))));
  EXPECT_TRUE(std::isnan(toFloat(toBF16(std::bit_cast<float>(0xff800001u)))));
  EXPECT_EQ(toFloat(BF16{0xc040}), -3.0f);
}
