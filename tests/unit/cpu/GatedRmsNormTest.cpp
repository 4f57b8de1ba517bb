// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cpu/NormCase.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

using Values = std::vector<double>;
constexpr double kEps = 1e-3;

/// docs/model.md, Gated DeltaNet 7: y = w * (x / sqrt(mean(x^2) + eps)) * silu(z).
Values gatedRmsNorm(const Values &x, const Values &z, const Values &w) {
  size_t cols = w.size();
  Values y(x.size()), rstd = rstdOfRows(x, cols, kEps);
  for (size_t at = 0; at < x.size(); ++at)
    y[at] = w[at % cols] * x[at] * rstd[at / cols] * z[at] / (1 + std::exp(-z[at]));
  return y;
}

class GatedRmsNorm : public NormTest {};

} // namespace

TEST_P(GatedRmsNorm, Forward) {
  for (auto [tokens, heads, width] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {9, 3, 16}, {40, 2, 37}, {2, 2, 1100}}) {
    HostTensor x = make(md, {tokens, heads, width}), z = make(md, {tokens, heads, width}, 5, 2);
    HostTensor w = make(wt, {width}, 0, 0.3, 1), y(md, {tokens, heads, width}, 1), rstd(DType::F32, {tokens, heads}, 3);
    KernelCall{Kernel::GatedRmsNorm, {&x, &z, &w, &y, &rstd}, {floatParam(kEps)}}.runDeterministic();
    Values expected = gatedRmsNorm(x.values(), z.values(), w.values());
    EXPECT_CLOSE(y, expected);
    EXPECT_CLOSE(rstd, rstdOfRows(x.values(), static_cast<size_t>(width), kEps));
    KernelCall{Kernel::GatedRmsNorm, {&x, &z, &w, &y, nullptr}, {floatParam(kEps)}}.run();
    EXPECT_CLOSE(y, expected);
  }
}

TEST_P(GatedRmsNorm, Gradient) {
  // Not one column: there the gradient is what cancellation leaves.
  for (auto [tokens, heads, width] :
       std::vector<std::array<int64_t, 3>>{{1, 1, 5}, {60, 3, 16}, {7, 2, 37}, {1, 2, 1100}}) {
    for (bool saved : {false, true}) {
      std::vector<int64_t> dims = {tokens, heads, width};
      HostTensor x = make(md, dims), z = make(md, dims, 5, 2), w = make(wt, {width}, 0, 0.3, 1), dy = make(md, dims, 1);
      HostTensor dx(md, dims, 2), dz(md, dims, 3), dw = make(wt, {width});
      HostTensor rstd(DType::F32, {tokens, heads}, 1);
      Values xv = x.values(), zv = z.values(), wv = w.values(), dyv = dy.values(), old = dw.values();
      rstd.fill(rstdOfRows(xv, wv.size(), kEps));
      // Accumulates where the residual is given, to cover both.
      KernelCall{Kernel::GatedRmsNormGrad,
                 {&x, &z, &w, saved ? &rstd : nullptr, &dy, &dx, &dz, &dw},
                 {floatParam(kEps)},
                 saved ? std::vector{7} : std::vector<int>{}}
          .runDeterministic();
      EXPECT_CLOSE(dx, numericGradient(xv, [&](const Values &v) { return inner(gatedRmsNorm(v, zv, wv), dyv); }));
      EXPECT_CLOSE(dz, numericGradient(zv, [&](const Values &v) { return inner(gatedRmsNorm(xv, v, wv), dyv); }));
      Values expected = numericGradient(wv, [&](const Values &v) { return inner(gatedRmsNorm(xv, zv, v), dyv); });
      if (saved)
        addTo(expected, old);
      EXPECT_CLOSE(dw, expected);
    }
  }
}

// A larger bucket has more rows past the documents, whose cotangents are zero: the weight's sums keep their bits.
TEST_P(GatedRmsNorm, WeightGradientDoesNotDependOnTheBucket) {
  std::vector<std::byte> expected;
  for (int64_t tokens : {200, 201, 1500}) {
    random.seed(6);
    std::vector<int64_t> dims = {tokens, 4, 16};
    HostTensor x = make(md, dims), w(wt, {16});
    random.seed(7);
    HostTensor z = make(md, dims), dx(md, dims), dz(md, dims), dw(wt, {16});
    random.seed(8);
    HostTensor dy = make(md, dims);
    for (int64_t i = 200 * 4 * 16; i < dy.elements(); ++i)
      dy.set(i, 0);
    random.seed(9);
    w.randomize(random, 0.3, 1);
    KernelCall{Kernel::GatedRmsNormGrad, {&x, &z, &w, nullptr, &dy, &dx, &dz, &dw}, {floatParam(kEps)}}.run();
    if (expected.empty())
      expected = dw.bytes();
    EXPECT_EQ(dw.bytes(), expected) << tokens;
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, GatedRmsNorm, allNormTypes(), nameOfTypes);
