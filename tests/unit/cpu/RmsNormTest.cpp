// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/cpu/NormCase.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

using Values = std::vector<double>;
constexpr double kEps = 1e-3; // large enough to matter at the smallest values

/// docs/model.md: y = x / sqrt(mean(x^2) + eps) * (1 + w).
Values rmsNorm(const Values &x, const Values &w) {
  size_t cols = w.size();
  Values y(x.size()), rstd = rstdOfRows(x, cols, kEps);
  for (size_t at = 0; at < x.size(); ++at)
    y[at] = x[at] * rstd[at / cols] * (1 + w[at % cols]);
  return y;
}

class RmsNorm : public NormTest {};

} // namespace

TEST_P(RmsNorm, Forward) {
  for (auto [rows, cols] : std::vector<std::array<int64_t, 2>>{{1, 1}, {3, 16}, {200, 33}, {5, 1024}, {4, 2500}}) {
    HostTensor x = make(md, {rows, cols}, 3), w = make(wt, {cols}, 0, 0.3), y(md, {rows, cols}, 2);
    HostTensor rstd(DType::F32, {rows});
    KernelCall{Kernel::RmsNorm, {&x, &w, &y, &rstd}, {floatParam(kEps)}}.runDeterministic();
    Values expected = rmsNorm(x.values(), w.values());
    EXPECT_CLOSE(y, expected);
    EXPECT_CLOSE(rstd, rstdOfRows(x.values(), static_cast<size_t>(cols), kEps));
    y.poison();
    KernelCall{Kernel::RmsNorm, {&x, &w, &y, nullptr}, {floatParam(kEps)}}.run();
    EXPECT_CLOSE(y, expected);
  }
}

TEST_P(RmsNorm, Gradient) {
  // Not one column: there the gradient is what cancellation leaves.
  for (auto [rows, cols] : std::vector<std::array<int64_t, 2>>{{1, 5}, {3, 16}, {150, 33}, {3, 1100}}) {
    for (bool saved : {false, true}) {
      HostTensor x = make(md, {rows, cols}, 3), w = make(wt, {cols}, 0, 0.3), dy = make(md, {rows, cols}, 1);
      HostTensor dx(md, {rows, cols}, 4), dw(wt, {cols}), rstd(DType::F32, {rows});
      Values xv = x.values(), wv = w.values(), dyv = dy.values();
      rstd.fill(rstdOfRows(xv, wv.size(), kEps));
      KernelCall{Kernel::RmsNormGrad, {&x, &w, saved ? &rstd : nullptr, &dy, &dx, &dw}, {floatParam(kEps)}}
          .runDeterministic();
      EXPECT_CLOSE(dx, numericGradient(xv, [&](const Values &v) { return inner(rmsNorm(v, wv), dyv); }));
      EXPECT_CLOSE(dw, numericGradient(wv, [&](const Values &v) { return inner(rmsNorm(xv, v), dyv); }));
    }
  }
}

TEST_P(RmsNorm, AddForward) {
  for (auto [rows, cols] : std::vector<std::array<int64_t, 2>>{{1, 1}, {70, 33}, {4, 2500}}) {
    HostTensor x = make(md, {rows, cols}, 3), delta = make(md, {rows, cols}, 1), w = make(wt, {cols}, 0, 0.3);
    HostTensor sum(md, {rows, cols}, 1), y(md, {rows, cols}, 2), rstd(DType::F32, {rows});
    KernelCall{Kernel::AddRmsNorm, {&x, &delta, &w, &sum, &y, &rstd}, {floatParam(kEps)}}.runDeterministic();
    Values expectedSum = x.values();
    addTo(expectedSum, delta.values());
    EXPECT_CLOSE(sum, expectedSum);
    // The norm is of the sum as stored.
    EXPECT_CLOSE(y, rmsNorm(sum.values(), w.values()));
    EXPECT_CLOSE(rstd, rstdOfRows(sum.values(), static_cast<size_t>(cols), kEps));
  }
}

TEST_P(RmsNorm, AddGradient) {
  for (bool withSum : {false, true}) {
    int64_t rows = 90, cols = 35;
    HostTensor sum = make(md, {rows, cols}, 3), w = make(wt, {cols}, 0, 0.3), dy = make(md, {rows, cols}, 1);
    HostTensor dsum = make(md, {rows, cols}, 2), dx(md, {rows, cols}, 4), dw(wt, {cols});
    Values s = sum.values(), wv = w.values(), dyv = dy.values(), ds = dsum.values();
    KernelCall{
        Kernel::AddRmsNormGrad, {&sum, &w, nullptr, withSum ? &dsum : nullptr, &dy, &dx, &dw}, {floatParam(kEps)}}
        .runDeterministic();
    Values expected = numericGradient(s, [&](const Values &v) { return inner(rmsNorm(v, wv), dyv); });
    if (withSum)
      addTo(expected, ds);
    EXPECT_CLOSE(dx, expected);
    EXPECT_CLOSE(dw, numericGradient(wv, [&](const Values &v) { return inner(rmsNorm(s, v), dyv); }));
  }
}

TEST_P(RmsNorm, WeightGradientAccumulates) {
  int64_t rows = 40, cols = 20;
  HostTensor x = make(md, {rows, cols}, 0), w = make(wt, {cols}, 0, 0.3), dy = make(md, {rows, cols}, 0);
  HostTensor dx(md, {rows, cols}), dw = make(wt, {cols}, 0, 10);
  Values old = dw.values(), xv = x.values(), dyv = dy.values();
  KernelCall{Kernel::RmsNormGrad, {&x, &w, nullptr, &dy, &dx, &dw}, {floatParam(kEps)}, {5}}.runDeterministic();
  Values expected = numericGradient(w.values(), [&](const Values &v) { return inner(rmsNorm(xv, v), dyv); });
  addTo(expected, old);
  EXPECT_CLOSE(dw, expected);
}

// A larger bucket has more rows past the documents, whose cotangents are zero: the weight's sums keep their bits.
TEST_P(RmsNorm, WeightGradientDoesNotDependOnTheBucket) {
  std::vector<std::byte> expected;
  for (int64_t rows : {600, 601, 5000}) {
    random.seed(6);
    HostTensor x = make(md, {rows, 33}, 0);
    random.seed(7);
    HostTensor dy = make(md, {rows, 33}, 0), dx(md, {rows, 33}), dw(wt, {33});
    for (int64_t i = 600 * 33; i < dy.elements(); ++i)
      dy.set(i, 0);
    random.seed(8);
    HostTensor w = make(wt, {33}, 0, 0.3);
    KernelCall{Kernel::RmsNormGrad, {&x, &w, nullptr, &dy, &dx, &dw}, {floatParam(kEps)}}.run();
    if (expected.empty())
      expected = dw.bytes();
    EXPECT_EQ(dw.bytes(), expected) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, RmsNorm, allNormTypes(), nameOfTypes);
