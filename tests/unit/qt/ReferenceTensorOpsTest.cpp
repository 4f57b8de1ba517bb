// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/qt/ReferenceHarness.h"

#include <cmath>

using namespace qt::reference;

namespace {

using Numbers = std::vector<double>;

/// @f of one op line with the given arguments and result type.
std::string function(const std::string &arguments, const std::string &body, const std::string &result,
                     const std::string &type) {
  return "func.func @f(" + arguments + ") -> (" + type + ") {\n" + body + "\nreturn " + result + " : " + type + "\n}";
}

Tensor<double> unary(const std::string &op, Numbers x) {
  Tensor<double> in({3}, std::move(x));
  std::string text = function("%x: tensor<3xf32>", "%y = qt." + op + " %x : tensor<3xf32>", "%y", "tensor<3xf32>");
  return tensorOf(evaluateText(text, {in}).at(0));
}

TEST(ReferenceTensorOps, Unary) {
  EXPECT_TRUE(agree(unary("exp", {0, 1, -2}), Tensor<double>({3}, Numbers{1, M_E, 1 / (M_E * M_E)})));
  EXPECT_TRUE(agree(unary("neg", {0, 1, -2}), Tensor<double>({3}, Numbers{0, -1, 2})));
  double s2 = 1 / (1 + std::exp(-2.0));
  EXPECT_TRUE(agree(unary("sigmoid", {0, 2, -2}), Tensor<double>({3}, Numbers{0.5, s2, 1 - s2})));
  EXPECT_TRUE(agree(unary("silu", {0, 2, -2}), Tensor<double>({3}, Numbers{0, 2 * s2, -2 * (1 - s2)})));
  EXPECT_TRUE(agree(unary("softplus", {0, 2, -2}), Tensor<double>({3}, Numbers{std::log(2), std::log(1 + std::exp(2.0)),
                                                                               std::log(1 + std::exp(-2.0))})));
}

TEST(ReferenceTensorOps, UnaryDoesNotOverflow) {
  EXPECT_TRUE(agree(unary("sigmoid", {800, -800, 0}), Tensor<double>({3}, Numbers{1, 0, 0.5})));
  EXPECT_TRUE(agree(unary("softplus", {800, -800, 0}), Tensor<double>({3}, Numbers{800, 0, std::log(2)})));
}

TEST(ReferenceTensorOps, BinaryRepeatsTheRightSide) {
  Tensor<double> x({2, 2}, Numbers{1, 2, 3, 4}), row({2}, Numbers{10, 20});
  auto run = [&](const std::string &op) {
    std::string text = function("%x: tensor<2x2xf32>, %r: tensor<2xf32>",
                                "%y = qt." + op + " %x, %r : tensor<2x2xf32>, tensor<2xf32>", "%y", "tensor<2x2xf32>");
    return tensorOf(evaluateText(text, {x, row}).at(0));
  };
  EXPECT_TRUE(agree(run("add"), Tensor<double>({2, 2}, Numbers{11, 22, 13, 24})));
  EXPECT_TRUE(agree(run("sub"), Tensor<double>({2, 2}, Numbers{-9, -18, -7, -16})));
  EXPECT_TRUE(agree(run("mul"), Tensor<double>({2, 2}, Numbers{10, 40, 30, 80})));
}

TEST(ReferenceTensorOps, CastIsTheIdentity) {
  Tensor<double> x({1}, Numbers{1.0 / 3});
  std::string text =
      function("%x: tensor<1xf32>", "%y = qt.cast %x : tensor<1xf32> -> tensor<1xbf16>", "%y", "tensor<1xbf16>");
  EXPECT_EQ(tensorOf(evaluateText(text, {x}).at(0))[0], 1.0 / 3);
}

TEST(ReferenceTensorOps, Scale) {
  std::string text = function("%x: tensor<2xf32>", "%y = qt.scale %x by 0.25 : tensor<2xf32>", "%y", "tensor<2xf32>");
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {Tensor<double>({2}, Numbers{4, -8})}).at(0)),
                    Tensor<double>({2}, Numbers{1, -2})));
}

TEST(ReferenceTensorOps, BroadcastTransposeReduce) {
  Tensor<double> x({2, 1}, Numbers{1, 2});
  std::string text =
      function("%x: tensor<2x1xf32>", "%y = qt.broadcast %x dims [1, 2] : tensor<2x1xf32> -> tensor<2x2x3xf32>", "%y",
               "tensor<2x2x3xf32>");
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {x}).at(0)),
                    Tensor<double>({2, 2, 3}, Numbers{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2})));

  Tensor<double> y({2, 3, 2}, Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  text = function("%x: tensor<2x3x2xf32>", "%y = qt.transpose %x [2, 0, 1] : tensor<2x3x2xf32> -> tensor<2x2x3xf32>",
                  "%y", "tensor<2x2x3xf32>");
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {y}).at(0)),
                    Tensor<double>({2, 2, 3}, Numbers{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11})));
  text = function("%x: tensor<2x3x2xf32>", "%y = qt.reduce_sum %x dims [0, 2] : tensor<2x3x2xf32> -> tensor<3xf32>",
                  "%y", "tensor<3xf32>");
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {y}).at(0)), Tensor<double>({3}, Numbers{14, 22, 30})));
}

TEST(ReferenceTensorOps, ReshapeFindsTheTokens) {
  std::string text = function("%x: tensor<?x6xf32>", "%y = qt.reshape %x : tensor<?x6xf32> -> tensor<?x3x2xf32>", "%y",
                              "tensor<?x3x2xf32>");
  Tensor<double> x({4, 6}, 7.0);
  EXPECT_EQ(tensorOf(evaluateText(text, {x}).at(0)).shape(), llvm::ArrayRef<int64_t>({4, 3, 2}));
}

TEST(ReferenceTensorOps, SplitAndJoinAreInverse) {
  std::string text = function("%x: tensor<?x5xf32>", R"(
    %a, %b = qt.split %x dim 1 : tensor<?x5xf32> -> tensor<?x2xf32>, tensor<?x3xf32>
    %y = qt.join %b, %a dim 1 : tensor<?x3xf32>, tensor<?x2xf32> -> tensor<?x5xf32>)",
                              "%y", "tensor<?x5xf32>");
  Tensor<double> x({2, 5}, Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_TRUE(
      agree(tensorOf(evaluateText(text, {x}).at(0)), Tensor<double>({2, 5}, Numbers{2, 3, 4, 0, 1, 7, 8, 9, 5, 6})));
}

TEST(ReferenceTensorOps, Contract) {
  // y[h, i, j] = sum over d of q[i, h, d] k[j, h, d].
  Random random(1);
  Tensor<double> q = randomNormal({5, 2, 3}, random), k = randomNormal({4, 2, 3}, random), expected({2, 5, 4});
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t j = 0; j < 4; ++j)
        for (int64_t d = 0; d < 3; ++d)
          expected[(h * 5 + i) * 4 + j] += q[(i * 2 + h) * 3 + d] * k[(j * 2 + h) * 3 + d];
  std::string text = function("%q: tensor<5x2x3xf32>, %k: tensor<4x2x3xf32>", R"(
    %y = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<5x2x3xf32>, tensor<4x2x3xf32> -> tensor<2x5x4xf32>)",
                              "%y", "tensor<2x5x4xf32>");
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {q, k}).at(0)), expected));
}

TEST(ReferenceTensorOps, MaskedSoftmax) {
  // Documents of two and one tokens, one token of tail.
  Tensor<double> scores({4, 4}, 0.0);
  scores[4] = std::log(3.0);
  std::string text = function("%d: !qt.segments, %x: tensor<?x?xf32>", R"(
    %m = qt.causal_mask %d, %x : !qt.segments, tensor<?x?xf32>
    %y = qt.softmax %m : tensor<?x?xf32>)",
                              "%y", "tensor<?x?xf32>");
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {Segments::ofLengths({2, 1}, 1), scores}).at(0)),
                    Tensor<double>({4, 4}, Numbers{1, 0, 0, 0, 0.75, 0.25, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0})));
}

TEST(ReferenceTensorOps, ScanRestartsAtEachDocument) {
  // s = s + x; y = 10 s: running sums.
  std::string text = function("%d: !qt.segments, %x: tensor<?x1xf32>", R"(
    %y = qt.scan %d, %x state tensor<1xf32> : !qt.segments, tensor<?x1xf32> -> tensor<?x1xf32> {
    ^bb0(%s: tensor<1xf32>, %x_t: tensor<1xf32>):
      %next = qt.add %s, %x_t : tensor<1xf32>, tensor<1xf32>
      %out = qt.scale %next by 10.0 : tensor<1xf32>
      qt.yield %next, %out : tensor<1xf32>, tensor<1xf32>
    })",
                              "%y", "tensor<?x1xf32>");
  Tensor<double> x({6, 1}, Numbers{1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {Segments::ofLengths({2, 0, 3}, 1), x}).at(0)),
                    Tensor<double>({6, 1}, Numbers{10, 30, 30, 70, 120, 0})));
}

TEST(ReferenceTensorOps, ZerosHaveTheTokensOfTheSegments) {
  std::string text = function("%d: !qt.segments", "%y = qt.zeros : tensor<?x2xf32>", "%y", "tensor<?x2xf32>");
  EXPECT_TRUE(agree(tensorOf(evaluateText(text, {Segments::ofLengths({3}, 2)}).at(0)), Tensor<double>({5, 2}, 0.0)));
}

TEST(ReferenceTensorOps, BarrierIsTheIdentity) {
  std::string text = function("%x: tensor<2xi32>, %a: tensor<f32>",
                              "%y = qt.barrier %x after %a : tensor<2xi32>, tensor<f32>", "%y", "tensor<2xi32>");
  auto results = evaluateText(text, {IntTensor({2}, std::vector<int64_t>{3, 4}), Tensor<double>::scalar(0)});
  EXPECT_EQ(std::get<IntTensor>(results.at(0)).elements(), (std::vector<int64_t>{3, 4}));
}

} // namespace
