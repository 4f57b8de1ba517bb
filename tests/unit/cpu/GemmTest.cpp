// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Gemm.h"

#include "tests/unit/cpu/KernelHarness.h"

using namespace qrt;
using namespace qrt::cpu;
using namespace qrt::cpu::test;

namespace {

struct Case {
  const char *name;
  DType in, out;
  Bf16Mode mode;
};

class Gemm : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    if (GetParam().mode == Bf16Mode::Native && !nativeBf16Supported())
      GTEST_SKIP() << "this processor has no bf16 products";
    setBf16Mode(GetParam().mode);
  }
  void TearDown() override { setBf16Mode(nativeBf16Supported() ? Bf16Mode::Native : Bf16Mode::Widened); }

  void runGemm(HostTensor &a, HostTensor &b, HostTensor &c, bool ta, bool tb, bool accumulate, int threads) {
    ThreadPool pool(threads);
    GemmCall call{a.tensor(), b.tensor(), c.tensor(), ta, tb, accumulate, pool};
    prepareGemm(call);
    call.scratchPerThread = (gemmScratchBytes(call) + 63) / 64 * 64;
    std::vector<std::byte> memory(call.scratchPerThread * threads + 64, std::byte{0xff});
    call.scratch = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    gemm(call);
  }

  void testShape(int64_t m, int64_t n, int64_t k, bool ta, bool tb, bool accumulate, std::mt19937 &random) {
    SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << (ta ? " T" : " N") << (tb ? "T" : "N")
                                    << (accumulate ? " accumulate" : ""));
    HostTensor a(GetParam().in, ta ? std::vector{k, m} : std::vector{m, k}, 3);
    HostTensor b(GetParam().in, tb ? std::vector{n, k} : std::vector{k, n}, 5);
    HostTensor c(GetParam().out, {m, n}, 7);
    a.randomize(random);
    b.randomize(random);
    if (accumulate)
      c.randomize(random);
    std::vector<double> av = a.values(), bv = b.values(), expected(m * n);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = accumulate ? c.get(i * n + j) : 0;
        for (int64_t p = 0; p < k; ++p)
          sum += av[ta ? p * m + i : i * k + p] * bv[tb ? j * k + p : p * n + j];
        expected[i * n + j] = sum;
      }
    }
    HostTensor again = c;
    runGemm(a, b, c, ta, tb, accumulate, 1);
    EXPECT_CLOSE(c, expected);
    EXPECT_TRUE(c.gapsIntact());
    runGemm(a, b, again, ta, tb, accumulate, 3);
    EXPECT_TRUE(c.bytes() == again.bytes()) << "depends on the number of threads";
  }
};

} // namespace

// Transposes, gaps between rows, sizes of one, odd sizes, sizes that need several tiles with smaller ones at the edges.
TEST_P(Gemm, MatchesPlainProduct) {
  std::mt19937 random(3);
  for (bool accumulate : {false, true}) {
    if (accumulate && GetParam().out == DType::BF16)
      continue;
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
                 {1, 1, 1}, {5, 3, 7}, {1, 130, 33}, {130, 1, 33}, {16, 64, 64}, {300, 16, 65}, {257, 200, 40}})
          testShape(m, n, k, ta, tb, accumulate, random);
  }
}

TEST_P(Gemm, ManyTilesAndDeepSums) {
  std::mt19937 random(4);
  bool accumulate = GetParam().out == DType::F32;
  testShape(40, 30, 2100, false, true, accumulate, random);
  testShape(40, 30, 2100, true, false, accumulate, random);
  testShape(1100, 700, 24, false, true, false, random);
}

TEST_P(Gemm, EmptySumIsZero) {
  HostTensor a(GetParam().in, {3, 0}), b(GetParam().in, {0, 4}), c(GetParam().out, {3, 4}, 2);
  runGemm(a, b, c, false, false, false, 2);
  for (double value : c.values())
    EXPECT_EQ(value, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, Gemm,
                         testing::Values(Case{"f32", DType::F32, DType::F32, Bf16Mode::Widened},
                                         Case{"bf16_native", DType::BF16, DType::BF16, Bf16Mode::Native},
                                         Case{"bf16_to_f32_native", DType::BF16, DType::F32, Bf16Mode::Native},
                                         Case{"bf16_widened", DType::BF16, DType::BF16, Bf16Mode::Widened},
                                         Case{"bf16_to_f32_widened", DType::BF16, DType::F32, Bf16Mode::Widened}),
                         [](auto &info) { return std::string(info.param.name); });
