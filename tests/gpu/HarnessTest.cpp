// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the comparisons of the harness find. Needs no GPU.
#include "tests/gpu/DeviceHarness.h"

#include <gtest/gtest-spi.h>

using namespace qrt;
using namespace qrt::cuda::test;

namespace {

/// 4,099 tokens of 2 heads of 256 in bf16, equal to `expected`.
struct Rows {
  static constexpr int64_t kWidth = 256;
  HostTensor got{DType::BF16, {4099, 2, kWidth}};
  std::vector<double> expected;
  Rows() {
    std::mt19937 random(3);
    got.randomize(random);
    expected = got.values();
  }
};

} // namespace

TEST(Harness, PassesRoundingErrors) {
  Rows x;
  for (int64_t i = 0; i < x.got.elements(); ++i)
    x.got.set(i, x.expected[static_cast<size_t>(i)] * (i % 3 ? 1 + 0x1p-8 : 1 - 0x1p-8));
  expectNear(x.got, x.expected, 8e-3, "x");
}

// 85 zeros among two million numbers are 6.4e-3 of the whole.
TEST(Harness, FindsAThirdOfARow) {
  Rows x;
  for (int64_t i = 0; i < Rows::kWidth / 3; ++i)
    x.got.set(4098 * 2 * Rows::kWidth + i, 0);
  EXPECT_NONFATAL_FAILURE(expectNear(x.got, x.expected, 8e-3, "x"), "x: 1 of 8198 rows are off");
  EXPECT_NONFATAL_FAILURE(expectNear(x.got, x.expected, 8e-3, "x"), "the first at [4098, 0, 0]");
}

TEST(Harness, FindsAnElementOfAVector) {
  HostTensor got(DType::F32, {100000});
  std::mt19937 random(4);
  std::vector<double> expected = got.randomize(random, 0.1, 1).values();
  got.set(777, 0);
  EXPECT_NONFATAL_FAILURE(expectNear(got, expected, 4e-3, "x"), "the first at [777]");
}

TEST(Harness, ATensorOfZerosIsHeldToItsNorm) {
  HostTensor got(DType::F32, {4, 8});
  got.fill(std::vector<double>(32, 0));
  expectNear(got, std::vector<double>(32, 0), 1e-6, "x");
  got.set(9, 1e-3);
  EXPECT_NONFATAL_FAILURE(expectNear(got, std::vector<double>(32, 0), 1e-6, "x"),
                          "the largest difference is at [1, 1]");
}

TEST(Harness, TheBoundOfOneStorageAllowsAUnitInOneElement) {
  HostTensor x(DType::BF16, {4});
  x.fill({1, 0.5, -0.25, 2});
  std::vector<double> expected = x.values();
  x.set(3, 2 + 0x1p-6);
  expectNear(x, expected, sameStorageBound(x, 1e-6), "x");
  x.set(3, 2 + 0x1p-5);
  EXPECT_NONFATAL_FAILURE(expectNear(x, expected, sameStorageBound(x, 1e-6), "x"), "the largest difference is at [3]");
}
