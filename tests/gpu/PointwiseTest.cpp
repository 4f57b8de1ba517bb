// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/ExpressionCase.h"

using namespace qrt;
using namespace qrt::cuda::test;
using cpu::test::ExpressionCase;

namespace {

/// The device's functions are within a few units in the last place, those of e^x and 1 / x too.
constexpr double kUnits = 8;

/// What makes the expressions. They are the same every time: each is a device function of its own, which may have to be
/// compiled ahead, on another machine (gpu_check.py). The numbers are others.
std::mt19937 expressions() { return std::mt19937{2}; }

void expectRightOnDevice(ExpressionCase it) {
  static std::mt19937 random{testSeed()};
  it.fill(random);
  std::vector<HostTensor> got = runOnDevice(it.call);
  if (compileOnly())
    return;
  std::vector<const HostTensor *> results;
  for (size_t i = 0; i < it.results(); ++i)
    results.push_back(&got[i]);
  it.expectRight(results, kUnits);
}

} // namespace

/// Over whole vectors, single elements, rows and columns that are repeated, gaps between rows.
TEST(PointwiseOnGpu, RandomExpressions) {
  std::mt19937 random = expressions();
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (const std::vector<int64_t> &dims : std::vector<std::vector<int64_t>>{
           {}, {1}, {700}, {19, 1}, {19, 37}, {7, 1000}, {3, 5, 4}, {33, 3, 64}, {2, 3, 4, 16}, {1, 1}, {130, 3584}})
    for (int round = 0; round < 2; ++round)
      expectRightOnDevice(
          ExpressionCase(random, dims, 1 + below(6), 1 + below(12), 1 + below(4), dims.size() > 1 ? below(2) * 8 : 0));
}

/// As many values as there may be; and none but the inputs: a cast.
TEST(PointwiseOnGpu, LargestAndSmallest) {
  std::mt19937 random = expressions();
  expectRightOnDevice(
      ExpressionCase(random, {67, 256}, kMaxExpressionInputs, kMaxExpressionSteps, kMaxExpressionResults, 8));
  expectRightOnDevice(ExpressionCase(random, {67, 256}, 1, 0, 1));
  expectRightOnDevice(ExpressionCase(random, {67, 256}, 1, 0, 4));
}

/// Short rows one behind the other, in all no whole number of pieces, and more elements than a row of single ones may
/// have.
TEST(PointwiseOnGpu, ManyShortRows) {
  std::mt19937 random = expressions();
  expectRightOnDevice(ExpressionCase(random, {301, 5}, 1, 4, 2));
}
