// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// linear_cross_entropy and its gradient against the CPU's in f32, from the same inputs.
#include "tests/gpu/DeviceHarness.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

struct Shape {
  int64_t rows, width, vocabulary;
};

struct Types {
  DType md, dweight;
};

constexpr DType F = DType::F32, B = DType::BF16;

class LinearCrossEntropyOnGpu : public testing::TestWithParam<Types> {
protected:
  Types types = GetParam();
  std::mt19937 random{testSeed()};

  /// The same values in f32, without gaps.
  static HostTensor inF32(const HostTensor &from) {
    HostTensor to(F, std::vector<int64_t>(from.shape().dims, from.shape().dims + from.shape().rank));
    to.fill(from.values());
    return to;
  }

  HostTensor makeLabels(const Shape &s, int untrainedOneIn) {
    HostTensor labels(DType::I32, {s.rows});
    for (int64_t r = 0; r < s.rows; ++r)
      labels.set(r, random() % untrainedOneIn == 0 ? -100 : static_cast<double>(random() % s.vocabulary));
    return labels;
  }

  /// Values whose products are multiples of 1/8 of at most 1: up to 16 of them add to a logit that bf16 holds exactly.
  void makeExact(HostTensor &x, HostTensor &weight) {
    for (int64_t i = 0; i < x.elements(); ++i)
      x.set(i, 0.5 * (static_cast<double>(random() % 3) - 1));
    for (int64_t i = 0; i < weight.elements(); ++i)
      weight.set(i, 0.25 * (static_cast<double>(random() % 17) - 8));
  }
  static HostTensor plus(const HostTensor &tensor, double value) {
    HostTensor result = inF32(tensor);
    for (int64_t i = 0; i < result.elements(); ++i)
      result.set(i, result.get(i) + value);
    return result;
  }

  void expectAgreement(const Shape &s, HostTensor labels, bool accumulate = false, bool frozen = false) {
    SCOPED_TRACE(testing::Message() << s.rows << " rows of " << s.width << ", vocabulary " << s.vocabulary
                                    << (accumulate ? ", accumulates" : "") << (frozen ? ", frozen" : ""));
    int64_t gap = types.md == B ? 8 : 4;
    HostTensor x = HostTensor(types.md, {s.rows, s.width}, gap).randomize(random);
    HostTensor weight = HostTensor(types.md, {s.vocabulary, s.width}).randomize(random, 2 / std::sqrt(s.width));
    bool exact = s.width <= 16;
    if (exact)
      makeExact(x, weight);
    HostTensor loss(F, {}), rowLoss(F, {s.rows}), dloss(F, {});
    HostTensor dx(types.md, {s.rows, s.width}, gap), dweight(types.dweight, {s.vocabulary, s.width});
    dloss.set(0, 0.25);
    dweight.randomize(random, 0.1);

    HostTensor exactX = inF32(x), exactWeight = inF32(weight), exactDweight = inF32(dweight), exactDx = inF32(dx);
    // Logits in bf16 are half a unit of 2^-8 wrong, whatever is left of them in the loss: relative to loss + 2 here.
    bool narrow = types.md == B && !exact;
    double lossBound = narrow ? 1e-2 : 3e-6, gradientBound = types.md == B ? 6e-3 : 3e-6, shift = narrow ? 2 : 0;

    KernelCall forward{Kernel::LinearCrossEntropy, {&x, &weight, &labels, &loss, &rowLoss}};
    std::vector<HostTensor> got = runOnDevice(forward), gotTotal;
    forward.args[4] = nullptr;
    gotTotal = runOnDevice(forward);
    KernelCall{Kernel::LinearCrossEntropy, {&exactX, &exactWeight, &labels, &loss, &rowLoss}}.run();
    expectNear(plus(got[4], shift), plus(rowLoss, shift).values(), lossBound, "row_loss");
    double all = shift * static_cast<double>(s.rows);
    expectNear(plus(got[3], all), plus(loss, all).values(), lossBound, "loss");
    EXPECT_EQ(got[3].get(0), gotTotal[3].get(0)) << "the loss depends on whether row_loss is asked for";
    for (int64_t r = 0; r < s.rows; ++r)
      if (labels.get(r) < 0)
        EXPECT_EQ(got[4].get(r), 0) << "row " << r;

    std::vector<int> sums = accumulate ? std::vector{6} : std::vector<int>{};
    got = runOnDevice({Kernel::LinearCrossEntropyGrad,
                       {&x, &weight, &labels, &dloss, &loss, &dx, frozen ? nullptr : &dweight},
                       {},
                       sums});
    KernelCall{Kernel::LinearCrossEntropyGrad,
               {&exactX, &exactWeight, &labels, &dloss, &loss, &exactDx, frozen ? nullptr : &exactDweight},
               {},
               sums}
        .run();
    expectNear(plus(got[4], all), plus(loss, all).values(), lossBound, "loss of the gradient");
    expectNear(got[5], exactDx.values(), gradientBound, "dx");
    if (!frozen)
      expectNear(got[6], exactDweight.values(), gradientBound, "dweight");
    for (int64_t i = 0; i < dx.elements(); ++i)
      if (labels.get(i / s.width) < 0)
        ASSERT_EQ(got[5].get(i), 0) << "dx of row " << i / s.width << ", which is not trained";
  }
};

} // namespace

TEST_P(LinearCrossEntropyOnGpu, AgreesWithTheCpu) {
  for (const Shape &s : std::vector<Shape>{{1, 8, 5}, {37, 24, 70}, {64, 64, 1000}, {300, 40, 304}}) {
    expectAgreement(s, makeLabels(s, 5));
    expectAgreement(s, makeLabels(s, 2), true);
  }
}

// Vocabularies whose rows a cluster shares in bf16: the whole of one with few columns in its last block, the model's;
// and one that is not a multiple of a vector. One cluster with and without a full set of rows, and several.
TEST_P(LinearCrossEntropyOnGpu, LargeVocabularies) {
  for (const Shape &s :
       std::vector<Shape>{{3, 16, 65536}, {16, 8, 65592}, {35, 8, 66000}, {3, 16, 248320}, {3, 8, 65537}})
    expectAgreement(s, makeLabels(s, 4));
  Shape s{20, 8, 131072};
  expectAgreement(s, makeLabels(s, 4), true);
}

// Rows that are trained and rows that are not in every order that shared memory's rows can meet.
TEST_P(LinearCrossEntropyOnGpu, UntrainedRows) {
  Shape s{32, 8, 65600};
  for (int pattern : {0, 1, 2, 3}) {
    HostTensor labels = makeLabels(s, 1000);
    for (int64_t r = 0; r < s.rows; ++r)
      if (pattern == 0 || (pattern == 1 && r % 2 == 0) || (pattern == 2 && r < 20) || (pattern == 3 && r >= 5))
        labels.set(r, -100);
    expectAgreement(s, labels);
  }
}

// Labels at the first and the last column of each block's slice.
TEST_P(LinearCrossEntropyOnGpu, LabelsAtTheEdges) {
  Shape s{18, 8, 65600};
  HostTensor labels(DType::I32, {s.rows});
  int64_t slice = (s.vocabulary + 63) / 64 * 8;
  for (int64_t r = 0; r < 8; ++r) {
    labels.set(2 * r, static_cast<double>(r * slice));
    labels.set(2 * r + 1, static_cast<double>(std::min((r + 1) * slice, s.vocabulary) - 1));
  }
  labels.set(16, 4095);
  labels.set(17, 4096);
  expectAgreement(s, labels);
}

TEST_P(LinearCrossEntropyOnGpu, FrozenHead) {
  Shape s{20, 16, 56}, large{5, 8, 65536};
  expectAgreement(s, makeLabels(s, 4), false, true);
  expectAgreement(large, makeLabels(large, 4), false, true);
}

// Logits far from zero overflow nothing, and rows that are not trained may hold anything.
TEST_P(LinearCrossEntropyOnGpu, LargeLogits) {
  for (int64_t vocabulary : {24, 65536}) {
    HostTensor x(types.md, {3, 8}), weight(types.md, {vocabulary, 8}), labels(DType::I32, {3});
    HostTensor loss(F, {}), rowLoss(F, {3}), dloss(F, {}), dx(types.md, {3, 8});
    x.fill(std::vector<double>(24, 0));
    weight.fill(std::vector<double>(vocabulary * 8, 0));
    x.set(0, 1000), x.set(8, -1000), x.set(16, NAN);
    for (int64_t v = 0; v < vocabulary; ++v)
      weight.set(8 * v, v == 1 ? 2 : v == 2 ? -1 : 1);
    labels.fill({0, 2, -100});
    dloss.set(0, 1);
    std::vector<HostTensor> got = runOnDevice({Kernel::LinearCrossEntropy, {&x, &weight, &labels, &loss, &rowLoss}});
    EXPECT_NEAR(got[4].get(0), 1000, 1);
    EXPECT_NEAR(got[4].get(1), 0, 1e-6);
    EXPECT_EQ(got[4].get(2), 0);
    got = runOnDevice({Kernel::LinearCrossEntropyGrad, {&x, &weight, &labels, &dloss, &loss, &dx, nullptr}});
    // (softmax - onehot) W: word 1 has all of the softmax, whose weight is 2; word 0 is the label.
    EXPECT_NEAR(got[5].get(0), 1, 1e-2);
    EXPECT_NEAR(got[5].get(8), 0, 1e-6);
    EXPECT_EQ(got[5].get(16), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LinearCrossEntropyOnGpu, testing::Values(Types{F, F}, Types{B, B}, Types{B, F}),
                         [](auto &info) {
                           return std::string(dtypeName(info.param.md)) + "_dweight_" +
                                  std::string(dtypeName(info.param.dweight));
                         });
