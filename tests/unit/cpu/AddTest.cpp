// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cpu/KernelHarness.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {
class Add : public testing::TestWithParam<DType> {};
} // namespace

TEST_P(Add, InPlace) {
  std::mt19937 random(1);
  for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {1}, {2500}, {19, 1}, {19, 37}, {7, 1025}, {5, 3, 16}}) {
    HostTensor sum(GetParam(), dims, 5), term(GetParam(), dims, 2);
    sum.randomize(random);
    term.randomize(random);
    std::vector<double> expected(sum.elements());
    for (int64_t i = 0; i < sum.elements(); ++i)
      expected[i] = sum.get(i) + term.get(i);
    KernelCall{Kernel::Add, {&sum, &term}}.runDeterministic();
    EXPECT_CLOSE(sum, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, Add, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });
