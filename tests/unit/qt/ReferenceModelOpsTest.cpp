// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Model ops against numbers computed by hand or by loops written anew.
#include "tests/unit/qt/ReferenceHarness.h"

#include <cmath>
#include <complex>

using namespace qt::reference;

namespace {

using Numbers = std::vector<double>;
using Integers = std::vector<int64_t>;

const std::string kEmbedding = R"(
func.func @f(%d: !qt.segments, %ids: tensor<?xi32>, %w: tensor<3x2xf32>) -> tensor<?x2xf32> {
  %y = qt.embedding %d, %ids, %w : (!qt.segments, tensor<?xi32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
})";

TEST(ReferenceModelOps, EmbeddingIsZeroInTheTail) {
  Tensor<double> weight({3, 2}, Numbers{0, 1, 10, 11, 20, 21});
  auto results =
      evaluateText(kEmbedding, {Segments::ofLengths({1, 0, 2}, 2), IntTensor({5}, Integers{2, 0, 1, 1, 99}), weight});
  EXPECT_TRUE(agree(tensorOf(results.at(0)), Tensor<double>({5, 2}, Numbers{20, 21, 0, 1, 10, 11, 0, 0, 0, 0})));
}

TEST(ReferenceModelOps, EmbeddingRefusesAnIdPastTheTable) {
  std::string message = evaluationError(
      kEmbedding, {{Segments::ofLengths({2}), IntTensor({2}, Integers{0, 3}), Tensor<double>({3, 2}, 0.0)}, {}});
  EXPECT_NE(message.find("expected ids below 3, got 3 at token 1"), std::string::npos) << message;
}

TEST(ReferenceModelOps, Linear) {
  auto results =
      evaluateText(R"(
func.func @f(%x: tensor<?x2xf32>, %w: tensor<3x2xf32>) -> tensor<?x3xf32> {
  %y = qt.linear %x, %w : tensor<?x2xf32>, tensor<3x2xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})",
                   {Tensor<double>({2, 2}, Numbers{1, 2, 3, 4}), Tensor<double>({3, 2}, Numbers{1, 0, 0, 1, 1, -1})});
  EXPECT_TRUE(agree(tensorOf(results.at(0)), Tensor<double>({2, 3}, Numbers{1, 2, -1, 3, 4, -1})));
}

TEST(ReferenceModelOps, Norms) {
  // x has mean square 25/2 + eps and sum of squares 25 + eps.
  Tensor<double> x({1, 2}, Numbers{3, 4}), w({2}, Numbers{0.5, -2});
  auto results = evaluateText(R"(
func.func @f(%x: tensor<?x2xf32>, %w: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<?xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %y, %r = qt.rms_norm %x, %w eps 1.0 : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32> rstd tensor<?xf32>
  %p = qt.plain_rms_norm %x, %w eps 1.0 : tensor<?x2xf32>, tensor<2xf32> -> tensor<?x2xf32>
  %l = qt.l2_norm %x eps 1.0 : tensor<?x2xf32> -> tensor<?x2xf32>
  return %y, %r, %p, %l : tensor<?x2xf32>, tensor<?xf32>, tensor<?x2xf32>, tensor<?x2xf32>
})",
                              {x, w});
  double rms = std::sqrt(13.5), length = std::sqrt(26);
  EXPECT_TRUE(agree(tensorOf(results.at(0)), Tensor<double>({1, 2}, Numbers{3 * 1.5 / rms, -4 / rms})));
  EXPECT_TRUE(agree(tensorOf(results.at(1)), Tensor<double>({1}, Numbers{1 / rms})));
  EXPECT_TRUE(agree(tensorOf(results.at(2)), Tensor<double>({1, 2}, Numbers{1.5 / rms, -8 / rms})));
  EXPECT_TRUE(agree(tensorOf(results.at(3)), Tensor<double>({1, 2}, Numbers{3 / length, 4 / length})));
}

TEST(ReferenceModelOps, RopeTurnsComplexNumbers) {
  // Dimensions i and i + 2 of the first four are the parts of a complex number turned by position * theta^(-i/2); the
  // fifth passes.
  Random random(3);
  Segments docs = Segments::ofLengths({3, 0, 2}, 1);
  Tensor<double> x = randomNormal({6, 2, 5}, random), expected({6, 2, 5});
  for (int64_t t = 0; t < 5; ++t)
    for (int64_t head = 0; head < 2; ++head) {
      const double *in = x.at(t, head);
      double *out = expected.at(t, head), position = static_cast<double>(t < 3 ? t : t - 3);
      for (int i = 0; i < 2; ++i) {
        std::complex<double> turned =
            std::complex(in[i], in[i + 2]) * std::polar(1.0, position * (i == 0 ? 1.0 : static_cast<double>(0.01f)));
        out[i] = turned.real();
        out[i + 2] = turned.imag();
      }
      out[4] = in[4];
    }
  std::string text = R"(
func.func @f(%d: !qt.segments, %x: tensor<?x2x5xf32>) -> tensor<?x2x5xf32> {
  %y = qt.rope %d, %x theta 10000.0 dims 4 : !qt.segments, tensor<?x2x5xf32>
  return %y : tensor<?x2x5xf32>
})";
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {docs, x}).at(0)), expected));
  expectTailUnread(text, docs, {docs, x});
}

TEST(ReferenceModelOps, CausalConvStaysInsideDocuments) {
  // Two channels, three taps, weights 1 10 100 and 2 20 200; documents of four and one tokens.
  Tensor<double> x({6, 2}, Numbers{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  Tensor<double> weight({2, 1, 3}, Numbers{1, 10, 100, 2, 20, 200});
  Segments docs = Segments::ofLengths({4, 1}, 1);
  std::string text = R"(
func.func @f(%d: !qt.segments, %x: tensor<?x2xf32>, %w: tensor<2x1x3xf32>) -> tensor<?x2xf32> {
  %y = qt.causal_conv %d, %x, %w : !qt.segments, tensor<?x2xf32>, tensor<2x1x3xf32>
  return %y : tensor<?x2xf32>
})";
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {docs, x, weight}).at(0)),
                    Tensor<double>({6, 2}, Numbers{100, 200, 210, 420, 321, 642, 432, 864, 500, 1000, 0, 0})));
  expectTailUnread(text, docs, {docs, x, weight});
}

TEST(ReferenceModelOps, CrossEntropySkipsUntrainedRows) {
  Tensor<double> logits({3, 2}, Numbers{0, std::log(3.0), 5, 7, 0, 0});
  std::string text = R"(
func.func @f(%x: tensor<?x2xf32>, %l: tensor<?xi32>) -> tensor<f32> {
  %y = qt.cross_entropy %x, %l : tensor<?x2xf32>, tensor<?xi32> -> tensor<f32>
  return %y : tensor<f32>
})";
  auto results = evaluateText(text, {logits, IntTensor({3}, Integers{1, -100, 0})});
  EXPECT_NEAR(tensorOf(results.at(0))[0], std::log(4.0 / 3) + std::log(2.0), 1e-15);
  std::string message = evaluationError(text, {{logits, IntTensor({3}, Integers{1, 2, 0})}, {}});
  EXPECT_NE(message.find("expected labels below 2, got 2 at row 1"), std::string::npos) << message;
}

} // namespace
