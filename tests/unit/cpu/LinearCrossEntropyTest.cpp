// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Gemm.h"
#include "tests/unit/cpu/KernelHarness.h"

using namespace qrt;
using namespace qrt::cpu;
using namespace qrt::cpu::test;

namespace {

using Values = std::vector<double>;

struct Case {
  const char *name;
  DType md, weightGradient;
  Bf16Mode mode;
};

struct Shape {
  int64_t rows, width, vocabulary, tile;
  int64_t workspaceBytes() const { return tile * vocabulary * 4; }
};

class LinearCrossEntropy : public testing::TestWithParam<Case> {
protected:
  std::mt19937 random{9};
  DType md = GetParam().md;

  void SetUp() override {
    if (GetParam().mode == Bf16Mode::Native && !nativeBf16Supported())
      GTEST_SKIP() << "this processor has no bf16 products";
    setBf16Mode(GetParam().mode);
  }
  void TearDown() override { setBf16Mode(nativeBf16Supported() ? Bf16Mode::Native : Bf16Mode::Widened); }

  /// Labels with some rows untrained, and all rows of the second tile; the last word is the first row's.
  HostTensor makeLabels(const Shape &s) {
    HostTensor labels(DType::I32, {s.rows});
    for (int64_t r = 0; r < s.rows; ++r)
      labels.set(r, r / s.tile == 1 || r % 5 == 3 ? -100 : static_cast<double>(random() % s.vocabulary));
    labels.set(0, static_cast<double>(s.vocabulary - 1));
    return labels;
  }

  static std::vector<Shape> shapes() { return {{1, 7, 5, 1}, {37, 24, 70, 8}, {600, 40, 300, 256}}; }

  void testGradient(const Shape &shape, bool accumulate);
};

/// Row losses and dlogits (for dloss) in double: logsumexp(x W^T) - (x W^T)[label].
void reference(const HostTensor &x, const HostTensor &weight, const HostTensor &labels, double dloss, Values &losses,
               Values &dlogits) {
  int64_t rows = labels.elements(), width = x.cols(), vocabulary = weight.elements() / width;
  Values xv = x.values(), wv = weight.values();
  losses.assign(rows, 0);
  dlogits.assign(rows * vocabulary, 0);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t label = static_cast<int64_t>(labels.get(r));
    if (label < 0)
      continue;
    Values logits(vocabulary, 0);
    double largest = -HUGE_VAL, sum = 0;
    for (int64_t v = 0; v < vocabulary; ++v) {
      for (int64_t i = 0; i < width; ++i)
        logits[v] += xv[r * width + i] * wv[v * width + i];
      largest = std::max(largest, logits[v]);
    }
    for (double logit : logits)
      sum += std::exp(logit - largest);
    losses[r] = largest + std::log(sum) - logits[label];
    for (int64_t v = 0; v < vocabulary; ++v)
      dlogits[r * vocabulary + v] = dloss * (std::exp(logits[v] - largest) / sum - (v == label));
  }
}

double total(const Values &values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum;
}

} // namespace

TEST_P(LinearCrossEntropy, Forward) {
  for (const Shape &s : shapes()) {
    HostTensor x = HostTensor(md, {s.rows, s.width}, 3).randomize(random);
    HostTensor weight = HostTensor(md, {s.vocabulary, s.width}, 1).randomize(random, 2 / std::sqrt(s.width));
    HostTensor labels = makeLabels(s);
    HostTensor loss(DType::F32, {}), rowLoss(DType::F32, {s.rows});
    Values losses, dlogits;
    reference(x, weight, labels, 1, losses, dlogits);
    KernelCall{Kernel::LinearCrossEntropy, {&x, &weight, &labels, &loss, &rowLoss}, {}, {}, {}, s.workspaceBytes()}
        .runDeterministic();
    EXPECT_NEAR(loss.get(0), total(losses), 1e-6 * total(losses));
    EXPECT_CLOSE(rowLoss, losses);
    KernelCall{Kernel::LinearCrossEntropy, {&x, &weight, &labels, &loss, nullptr}, {}, {}, {}, s.workspaceBytes()}
        .run();
    EXPECT_NEAR(loss.get(0), total(losses), 1e-6 * total(losses));
  }
}

void LinearCrossEntropy::testGradient(const Shape &s, bool accumulate) {
  SCOPED_TRACE(testing::Message() << s.rows << "x" << s.width << "x" << s.vocabulary << " " << accumulate);
  HostTensor x = HostTensor(md, {s.rows, s.width}, 3).randomize(random);
  HostTensor weight = HostTensor(md, {s.vocabulary, s.width}, 1).randomize(random, 2 / std::sqrt(s.width));
  HostTensor labels = makeLabels(s);
  HostTensor loss(DType::F32, {}), dloss(DType::F32, {}), dx(md, {s.rows, s.width}, 2);
  HostTensor dweight(GetParam().weightGradient, {s.vocabulary, s.width}, 5);
  dloss.set(0, 0.25);
  Values losses, dlogits, old(s.vocabulary * s.width, 0);
  if (accumulate)
    old = dweight.randomize(random, 0.1).values();
  reference(x, weight, labels, 0.25, losses, dlogits);
  Values dxExpected(s.rows * s.width, 0), dwExpected = old, xv = x.values(), wv = weight.values();
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t v = 0; v < s.vocabulary; ++v) {
      double d = dlogits[r * s.vocabulary + v];
      for (int64_t i = 0; d != 0 && i < s.width; ++i) {
        dxExpected[r * s.width + i] += d * wv[v * s.width + i];
        dwExpected[v * s.width + i] += d * xv[r * s.width + i];
      }
    }
  }
  KernelCall{Kernel::LinearCrossEntropyGrad,
             {&x, &weight, &labels, &dloss, &loss, &dx, &dweight},
             {},
             accumulate ? std::vector{6} : std::vector<int>{},
             {},
             s.workspaceBytes()}
      .runDeterministic();
  EXPECT_NEAR(loss.get(0), total(losses), 1e-6 * total(losses));
  EXPECT_CLOSE(dx, dxExpected);
  EXPECT_LT(relativeError(dweight, dwExpected), tolerance(md));
}

TEST_P(LinearCrossEntropy, Gradient) {
  for (const Shape &shape : shapes())
    for (bool accumulate : {false, true})
      testGradient(shape, accumulate);
  // A vocabulary of several blocks for the bf16 weight gradient.
  if (GetParam().weightGradient == DType::BF16)
    testGradient({5, 16384, 300, 2}, true);
}

// A frozen head has no weight gradient; without any trained row everything is zero.
TEST_P(LinearCrossEntropy, FrozenAndUntrained) {
  HostTensor x = HostTensor(md, {20, 16}).randomize(random), weight = HostTensor(md, {50, 16}).randomize(random);
  HostTensor labels(DType::I32, {20}), loss(DType::F32, {}), dloss(DType::F32, {});
  HostTensor dx(md, {20, 16}), dweight(GetParam().weightGradient, {50, 16});
  dloss.set(0, 1);
  for (int64_t r = 0; r < 20; ++r)
    labels.set(r, static_cast<double>(r));
  KernelCall{Kernel::LinearCrossEntropyGrad,       {&x, &weight, &labels, &dloss, &loss, &dx, nullptr}, {}, {}, {},
             Shape{20, 16, 50, 8}.workspaceBytes()}
      .runDeterministic();
  Values losses, dlogits, dxExpected(20 * 16, 0);
  reference(x, weight, labels, 1, losses, dlogits);
  for (int64_t r = 0; r < 20; ++r)
    for (int64_t v = 0; v < 50; ++v)
      for (int64_t i = 0; i < 16; ++i)
        dxExpected[r * 16 + i] += dlogits[r * 50 + v] * weight.get(v * 16 + i);
  EXPECT_CLOSE(dx, dxExpected);

  for (int64_t r = 0; r < 20; ++r)
    labels.set(r, -100);
  KernelCall{Kernel::LinearCrossEntropyGrad,       {&x, &weight, &labels, &dloss, &loss, &dx, &dweight}, {}, {}, {},
             Shape{20, 16, 50, 8}.workspaceBytes()}
      .runDeterministic();
  EXPECT_EQ(loss.get(0), 0);
  EXPECT_EQ(dx.values(), Values(20 * 16, 0));
  EXPECT_EQ(dweight.values(), Values(50 * 16, 0));
}

// Logits far from zero overflow nothing.
TEST_P(LinearCrossEntropy, LargeLogits) {
  HostTensor x(md, {2, 1}), weight(md, {3, 1}), labels(DType::I32, {2});
  HostTensor loss(DType::F32, {}), rowLoss(DType::F32, {2});
  x.fill({1000, -1000});
  weight.fill({1, 2, -1});
  labels.fill({0, 2});
  KernelCall{Kernel::LinearCrossEntropy, {&x, &weight, &labels, &loss, &rowLoss}}.run();
  EXPECT_NEAR(rowLoss.get(0), 1000, 1e-3);
  EXPECT_NEAR(rowLoss.get(1), 0, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Types, LinearCrossEntropy,
                         testing::Values(Case{"f32", DType::F32, DType::F32, Bf16Mode::Widened},
                                         Case{"bf16_native", DType::BF16, DType::BF16, Bf16Mode::Native},
                                         Case{"bf16_native_f32_gradient", DType::BF16, DType::F32, Bf16Mode::Native},
                                         Case{"bf16_widened", DType::BF16, DType::BF16, Bf16Mode::Widened},
                                         Case{"bf16_widened_f32_gradient", DType::BF16, DType::F32, Bf16Mode::Widened}),
                         [](auto &info) { return std::string(info.param.name); });
