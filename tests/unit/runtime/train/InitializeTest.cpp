// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Initialize.h"

#include "runtime/base/NameKey.h"
#include "runtime/base/Philox.h"
#include "runtime/train/NormalNumbers.h"
#include "tests/unit/runtime/support/TinySession.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace qrt {
namespace {

using namespace test;

Parameter parameterOf(InitKind init, double a, double b, const std::string &name = "model.w") {
  Parameter parameter;
  parameter.name = "w";
  parameter.checkpointNames = {name};
  parameter.init = init;
  parameter.initA = a;
  parameter.initB = b;
  return parameter;
}

std::vector<float> drawn(const Parameter &parameter, uint64_t seed, int64_t first, size_t count) {
  std::vector<float> values(count);
  initialValues(parameter, seed, first, values);
  return values;
}

TEST(Initialize, NormalNumbersAreNormal) {
  constexpr size_t kCount = 200000;
  std::vector<float> values = drawn(parameterOf(InitKind::Normal, 1, 0.02), 5, 0, kCount);
  double moments[5] = {};
  for (float value : values)
    for (int k = 1; k <= 4; ++k)
      moments[k] += std::pow((value - 1) / 0.02, k) / kCount;
  // Five standard errors of each.
  EXPECT_NEAR(moments[1], 0, 5 / std::sqrt(kCount));
  EXPECT_NEAR(moments[2], 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(moments[3], 0, 5 * std::sqrt(15.0 / kCount));
  EXPECT_NEAR(moments[4], 3, 5 * std::sqrt(96.0 / kCount));
  // The two numbers of a pair, and neighbouring pairs, are not correlated.
  for (size_t lag : {1, 2}) {
    double sum = 0;
    for (size_t i = 0; i + lag < kCount; ++i)
      sum += (values[i] - 1) / 0.02 * (values[i + lag] - 1) / 0.02;
    EXPECT_NEAR(sum / kCount, 0, 5 / std::sqrt(kCount)) << lag;
  }
}

TEST(Initialize, LogarithmsOfUniformNumbers) {
  constexpr size_t kCount = 100000;
  std::vector<float> values = drawn(parameterOf(InitKind::LogUniform, 0.01, 16), 5, 0, kCount);
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*low, std::log(0.01F));
  EXPECT_LE(*high, std::log(16.0F));
  double mean = 0;
  for (float value : values)
    mean += std::exp(double{value}) / kCount;
  EXPECT_NEAR(mean, 8.005, 5 * 16 / std::sqrt(12.0 * kCount));
  EXPECT_EQ(drawn(parameterOf(InitKind::Zeros, 0, 0), 1, 0, 2), (std::vector<float>{0, 0}));
  EXPECT_EQ(drawn(parameterOf(InitKind::Ones, 0, 0), 1, 0, 2), (std::vector<float>{1, 1}));
}

TEST(Initialize, ANumberDependsOnSeedNameAndElement) {
  Parameter parameter = parameterOf(InitKind::Normal, 0, 1);
  std::vector<float> all = drawn(parameter, 9, 0, 100);
  for (int64_t first : {1, 2, 7, 50})
    for (size_t count : {1, 2, 5, 30}) {
      std::vector<float> piece = drawn(parameter, 9, first, count);
      EXPECT_TRUE(std::equal(piece.begin(), piece.end(), all.begin() + first)) << first << " " << count;
    }
  EXPECT_NE(drawn(parameter, 10, 0, 1), drawn(parameter, 9, 0, 1));
  EXPECT_NE(drawn(parameter, uint64_t{9} << 32, 0, 1), drawn(parameter, 9, 0, 1));
  EXPECT_NE(drawn(parameterOf(InitKind::Normal, 0, 1, "model.v"), 9, 0, 1), drawn(parameter, 9, 0, 1));
  // Element 2^33 does not repeat element 0.
  EXPECT_NE(drawn(parameter, 9, int64_t{1} << 34, 1), drawn(parameter, 9, 0, 1));
}

// The logarithm, sine and cosine are our own: against the library's, to the last bit of f32 but for ties.
TEST(Initialize, NormalNumbersAreThoseOfTheLibrarysFunctions) {
  constexpr uint64_t kPairs = 200000, kFirst = (uint64_t{1} << 40) + 1;
  std::vector<float> got(2 * kPairs);
  normalNumbers(3, 77, kFirst, 0, 1, got);
  size_t different = 0;
  for (uint64_t i = 0; i < kPairs; ++i) {
    uint64_t pair = kFirst + i;
    PhiloxCounter words = philox4x32({static_cast<uint32_t>(pair), static_cast<uint32_t>(pair >> 32), 77, 0}, {3, 0});
    auto uniform = [&](int at) {
      return static_cast<double>((uint64_t{words[at + 1]} << 32 | words[at]) >> 11) * 0x1p-53;
    };
    double radius = std::sqrt(-2 * std::log(1 - uniform(0))), angle = 2 * std::numbers::pi * uniform(2);
    double expected[2] = {radius * std::cos(angle), radius * std::sin(angle)};
    for (int half = 0; half < 2; ++half) {
      float value = got[2 * i + static_cast<uint64_t>(half)];
      EXPECT_NEAR(value, expected[half], std::abs(expected[half]) * 0x1.01p-24);
      different += value != static_cast<float>(expected[half]);
    }
  }
  EXPECT_LE(different, 1u);
}

// The stream as it is spelled, so that it stays: element 0 by hand.
TEST(Initialize, TheFirstNumberByHand) {
  uint64_t key = static_cast<uint64_t>(nameKey("model.w"));
  PhiloxCounter words = philox4x32({0, 0, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}, {9, 0});
  double u = static_cast<double>(((uint64_t{words[1]} << 32) | words[0]) >> 11) / 9007199254740992.0;
  double v = static_cast<double>(((uint64_t{words[3]} << 32) | words[2]) >> 11) / 9007199254740992.0;
  double radius = std::sqrt(-2 * std::log(1 - u)), angle = 6.283185307179586 * v;
  EXPECT_EQ(
      drawn(parameterOf(InitKind::Normal, 0, 1), 9, 0, 2),
      (std::vector<float>{static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))}));
  // FNV-1a's published value of "a", without its lowest bit.
  EXPECT_EQ(static_cast<uint64_t>(nameKey("a")), 0xaf63dc4c8601ec8c >> 1);
}

TEST(Initialize, FillsTheWholeState) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    std::unique_ptr<Session> session = makeSession({.dtype = dtype});
    HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23);
    ASSERT_OK(session->loadBatch(batch));
    session->setScalars(0.1F, kTinyHyper, 7);
    ASSERT_OK(session->run(EntryKind::Step));
    ASSERT_OK(session->run(EntryKind::Accumulate));
    ASSERT_OK(initializeWeights(*session, 42));
    for (const Parameter &parameter : session->program().parameters()) {
      std::vector<float> expected(static_cast<size_t>(parameter.elements));
      initialValues(parameter, 42, 0, expected);
      if (parameter.part(ParameterPart::Master))
        EXPECT_EQ(readFloats(*session, parameter.name, ParameterPart::Master), expected);
      if (parameter.weight().dtype == DType::BF16)
        for (float &value : expected)
          value = f32FromBF16(bf16FromF32(value));
      EXPECT_EQ(readFloats(*session, parameter.name, ParameterPart::Weight), expected) << parameter.name;
      std::vector<float> zeros(expected.size());
      for (ParameterPart part : {ParameterPart::ExpAvg, ParameterPart::ExpAvgSq, ParameterPart::Gradient})
        EXPECT_EQ(readFloats(*session, parameter.name, part), zeros) << parameter.name;
    }
    EXPECT_EQ(session->readCounters()->taken, 0);
  }
}

} // namespace
} // namespace qrt
