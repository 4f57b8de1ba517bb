// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cpu/KernelHarness.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

double silu(double x) { return x / (1 + std::exp(-x)); }

class Swiglu : public testing::TestWithParam<DType> {};

} // namespace

TEST_P(Swiglu, Forward) {
  std::mt19937 random(1);
  for (int64_t width : {1, 16, 37, 1024, 2500}) {
    HostTensor gate(GetParam(), {19, width}, 5), up(GetParam(), {19, width}), y(GetParam(), {19, width}, 3);
    gate.randomize(random, 3);
    up.randomize(random);
    KernelCall{Kernel::Swiglu, {&gate, &up, &y}}.runDeterministic();
    std::vector<double> expected(y.elements());
    for (int64_t i = 0; i < y.elements(); ++i)
      expected[i] = silu(gate.get(i)) * up.get(i);
    EXPECT_CLOSE(y, expected);
  }
}

TEST_P(Swiglu, Gradient) {
  std::mt19937 random(2);
  for (int64_t width : {1, 33, 1025}) {
    HostTensor gate(GetParam(), {7, width}, 5), up(GetParam(), {7, width}), dy(GetParam(), {7, width}, 3);
    HostTensor dgate(GetParam(), {7, width}, 9), dup(GetParam(), {7, width});
    gate.randomize(random, 3);
    up.randomize(random);
    dy.randomize(random);
    KernelCall{Kernel::SwigluGrad, {&gate, &up, &dy, &dgate, &dup}}.runDeterministic();
    std::vector<double> expectedGate(dy.elements()), expectedUp(dy.elements());
    for (int64_t i = 0; i < dy.elements(); ++i) {
      double h = 1e-5, g = gate.get(i);
      expectedGate[i] = dy.get(i) * up.get(i) * (silu(g + h) - silu(g - h)) / (2 * h);
      expectedUp[i] = dy.get(i) * silu(g);
    }
    EXPECT_CLOSE(dgate, expectedGate);
    EXPECT_CLOSE(dup, expectedUp);
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, Swiglu, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });
