// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cpu/ExpressionCase.h"

using namespace qrt;
using namespace qrt::cpu::test;

/// Of random inputs. Every function is within two units in the last place.
static void expectRight(std::mt19937 &random, ExpressionCase it) {
  it.fill(random);
  it.call.runDeterministic();
  std::vector<const HostTensor *> got;
  for (size_t i = 0; i < it.results(); ++i)
    got.push_back(&it.result(i));
  it.expectRight(got, 2);
}

TEST(Pointwise, RandomExpressions) {
  std::mt19937 random(1);
  std::vector<std::vector<int64_t>> shapes = {{},        {1},       {700},      {19, 1},       {19, 37},
                                              {7, 1025}, {3, 5, 4}, {5, 3, 16}, {2, 3, 4, 17}, {1, 1}};
  for (int round = 0; round < 12; ++round)
    for (const std::vector<int64_t> &dims : shapes) {
      auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
      expectRight(random, ExpressionCase(random, dims, 1 + below(6), 1 + below(16), 1 + below(4),
                                         dims.size() > 1 ? below(2) * 3 : 0));
    }
}

/// As many values as there may be; and none but the inputs: a cast.
TEST(Pointwise, LargestAndSmallest) {
  std::mt19937 random(2);
  for (auto [inputs, steps, results] : {std::tuple(kMaxExpressionInputs, kMaxExpressionSteps, kMaxExpressionResults),
                                        std::tuple(1, 0, 1), std::tuple(1, 0, 4)})
    expectRight(random, ExpressionCase(random, {9, 300}, inputs, steps, results, 5));
}

/// Each operation by itself at the ends of its range.
TEST(Pointwise, Extremes) {
  HostTensor x(DType::F32, {6}), y(DType::F32, {6});
  x.fill({-1e30, -200, -0.0, 0, 200, 1e30});
  auto run = [&](ExpressionOp op) {
    KernelCall{Kernel::Pointwise, {&y, nullptr, nullptr, nullptr, &x}, {}, {}, {}, -1, Expression{{{op}}, {1}}}.run();
    return y.values();
  };
  EXPECT_EQ(run(ExpressionOp::Exp), (std::vector<double>{0, 0, 1, 1, HUGE_VAL, HUGE_VAL}));
  EXPECT_EQ(run(ExpressionOp::Sigmoid), (std::vector<double>{0, 0, 0.5, 0.5, 1, 1}));
  EXPECT_EQ(run(ExpressionOp::Silu), (std::vector<double>{0, 0, 0, 0, 200, static_cast<double>(1e30f)}));
  std::vector<double> softplus = run(ExpressionOp::Softplus);
  EXPECT_EQ(softplus[1], 0);
  EXPECT_NEAR(softplus[2], std::log(2.0), 1e-7);
  EXPECT_EQ(softplus[4], 200);
  EXPECT_EQ(softplus[5], static_cast<double>(1e30f));
}
