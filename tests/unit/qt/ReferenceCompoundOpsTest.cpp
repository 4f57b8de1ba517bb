// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compounds against what they are formed of, written with the ops of the model; residuals against their definitions.
#include "tests/unit/qt/ReferenceHarness.h"

#include <cmath>

using namespace qt::reference;

namespace {

/// Evaluates a module whose @f returns `count` results of a compound, then the same by model ops, then others that it
/// returns to the caller.
std::vector<Datum<double>> expectPairsAgree(const std::string &text, const std::vector<Datum<double>> &arguments,
                                            size_t count) {
  std::vector<Datum<double>> results = evaluateText(text, arguments);
  if (results.size() < 2 * count) {
    ADD_FAILURE() << "expected " << 2 * count << " results, got " << results.size();
    return results;
  }
  for (size_t i = 0; i < count; ++i)
    EXPECT_TRUE(agree(tensorOf(results[i]), tensorOf(results[count + i]))) << "result " << i;
  results.erase(results.begin(), results.begin() + 2 * static_cast<std::ptrdiff_t>(count));
  return results;
}

/// Sizes that the texts below are written for: heads in a ratio of `ratio`.
std::map<std::string, std::string> headNames(int ratio) {
  return {{"KEYHEADS", "2"}, {"HEADS", std::to_string(2 * ratio)}, {"RATIO", std::to_string(ratio)}};
}

TEST(ReferenceCompoundOps, AddRmsNorm) {
  Random random(1);
  expectPairsAgree(R"(
func.func @f(%x: tensor<?x8xf32>, %d: tensor<?x8xf32>, %w: tensor<8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>) {
  %sum, %y, %r = qt.add_rms_norm %x, %d, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>)
      -> tensor<?x8xf32>, tensor<?x8xf32> rstd tensor<?xf32>
  %sum1 = qt.add %x, %d : tensor<?x8xf32>, tensor<?x8xf32>
  %y1, %r1 = qt.rms_norm %sum1, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32> rstd tensor<?xf32>
  return %sum, %y, %r, %sum1, %y1, %r1 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>
})",
                   {randomNormal({5, 8}, random), randomNormal({5, 8}, random), randomNormal({8}, random)}, 3);
}

TEST(ReferenceCompoundOps, GatedDeltaInputs) {
  // Two key heads of four, six value heads of three: 2 * 8 + 18 channels. The model has no zeros of g and beta in the
  // tail: there is none here.
  Random random(2);
  std::string compound = R"(
  %q, %k, %v, %g, %beta = qt.gated_delta_inputs %d, %x, %b, %a conv %w, %al, %dt eps 1.0e-6
      : (!qt.segments, tensor<?x34xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<34x1x4xf32>, tensor<6xf32>, tensor<6xf32>)
      -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<?x6xf32>))";
  std::string arguments =
      R"(func.func @f(%d: !qt.segments, %x: tensor<?x34xf32>, %b: tensor<?x6xf32>, %a: tensor<?x6xf32>,
    %w: tensor<34x1x4xf32>, %al: tensor<6xf32>, %dt: tensor<6xf32>) -> )";
  std::string types = "tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x6x3xf32>, tensor<?x6xf32>, tensor<?x6xf32>";
  std::string text = arguments + "(" + types + "," + types + ") {" + compound + R"(
  %conv = qt.causal_conv %d, %x, %w : !qt.segments, tensor<?x34xf32>, tensor<34x1x4xf32>
  %c = qt.silu %conv : tensor<?x34xf32>
  %qf, %kf, %vf = qt.split %c dim 1 : tensor<?x34xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x18xf32>
  %qh = qt.reshape %qf : tensor<?x8xf32> -> tensor<?x2x4xf32>
  %kh = qt.reshape %kf : tensor<?x8xf32> -> tensor<?x2x4xf32>
  %v1 = qt.reshape %vf : tensor<?x18xf32> -> tensor<?x6x3xf32>
  %q1 = qt.l2_norm %qh eps 1.0e-6 : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %k1 = qt.l2_norm %kh eps 1.0e-6 : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %beta1 = qt.sigmoid %b : tensor<?x6xf32>
  %biased = qt.add %a, %dt : tensor<?x6xf32>, tensor<6xf32>
  %soft = qt.softplus %biased : tensor<?x6xf32>
  %rate = qt.exp %al : tensor<6xf32>
  %minus = qt.neg %rate : tensor<6xf32>
  %g1 = qt.mul %soft, %minus : tensor<?x6xf32>, tensor<6xf32>
  return %q, %k, %v, %g, %beta, %q1, %k1, %v1, %g1, %beta1 : )" +
                     types + "," + types + "\n}";
  auto inputs = [&](const Segments &docs) {
    int64_t tokens = docs.tokens;
    return std::vector<Datum<double>>{docs,
                                      randomNormal({tokens, 34}, random),
                                      randomNormal({tokens, 6}, random),
                                      randomNormal({tokens, 6}, random),
                                      randomNormal({34, 1, 4}, random),
                                      randomNormal({6}, random),
                                      randomNormal({6}, random)};
  };
  expectPairsAgree(text, inputs(Segments::ofLengths({1, 2, 0, 3, 4, 5, 9})), 5);
  Segments docs = awkwardDocuments();
  expectTailUnread(arguments + "(" + types + ") {" + compound + "\nreturn %q, %k, %v, %g, %beta : " + types + "\n}",
                   docs, inputs(docs));
}

/// The delta rule as the model's author writes it, and the compound. Keys of four, values of three.
const std::string kDeltaArguments = R"(
func.func @f(%d: !qt.segments, %q: tensor<?x$KEYHEADSx4xf32>, %k: tensor<?x$KEYHEADSx4xf32>, %v: tensor<?x$HEADSx3xf32>,
             %g: tensor<?x$HEADSxf32>, %beta: tensor<?x$HEADSxf32>) -> )";
const std::string kDeltaCompound = R"(
  %out, %inverse = qt.gated_delta_rule %d, %q, %k, %v, %g, %beta scale 0.5
      : (!qt.segments, tensor<?x$KEYHEADSx4xf32>, tensor<?x$KEYHEADSx4xf32>, tensor<?x$HEADSx3xf32>, tensor<?x$HEADSxf32>, tensor<?x$HEADSxf32>)
      -> tensor<?x$HEADSx3xf32> inverse tensor<?x$HEADSx64xf32>)";
const std::string kDeltaScan = R"(
  %scaled = qt.scale %q by 0.5 : tensor<?x$KEYHEADSx4xf32>
  %q4 = qt.reshape %scaled : tensor<?x$KEYHEADSx4xf32> -> tensor<?x$KEYHEADSx1x4xf32>
  %k4 = qt.reshape %k : tensor<?x$KEYHEADSx4xf32> -> tensor<?x$KEYHEADSx1x4xf32>
  %qr = qt.broadcast %q4 dims [0, 1, 2, 3] : tensor<?x$KEYHEADSx1x4xf32> -> tensor<?x$KEYHEADSx$RATIOx4xf32>
  %kr = qt.broadcast %k4 dims [0, 1, 2, 3] : tensor<?x$KEYHEADSx1x4xf32> -> tensor<?x$KEYHEADSx$RATIOx4xf32>
  %q1 = qt.reshape %qr : tensor<?x$KEYHEADSx$RATIOx4xf32> -> tensor<?x$HEADSx4xf32>
  %k1 = qt.reshape %kr : tensor<?x$KEYHEADSx$RATIOx4xf32> -> tensor<?x$HEADSx4xf32>
  %out1 = qt.scan %d, %q1, %k1, %v, %g, %beta state tensor<$HEADSx4x3xf32>
      : !qt.segments, tensor<?x$HEADSx4xf32>, tensor<?x$HEADSx4xf32>, tensor<?x$HEADSx3xf32>, tensor<?x$HEADSxf32>, tensor<?x$HEADSxf32>
      -> tensor<?x$HEADSx3xf32> {
  ^bb0(%s: tensor<$HEADSx4x3xf32>, %qt: tensor<$HEADSx4xf32>, %kt: tensor<$HEADSx4xf32>, %vt: tensor<$HEADSx3xf32>,
       %gt: tensor<$HEADSxf32>, %bt: tensor<$HEADSxf32>):
    %decay = qt.exp %gt : tensor<$HEADSxf32>
    %decays = qt.broadcast %decay dims [0] : tensor<$HEADSxf32> -> tensor<$HEADSx4x3xf32>
    %s1 = qt.mul %decays, %s : tensor<$HEADSx4x3xf32>, tensor<$HEADSx4x3xf32>
    %read = qt.contract %s1, %kt batch [0] x [0] over [1] x [1] : tensor<$HEADSx4x3xf32>, tensor<$HEADSx4xf32> -> tensor<$HEADSx3xf32>
    %error = qt.sub %vt, %read : tensor<$HEADSx3xf32>, tensor<$HEADSx3xf32>
    %strength = qt.broadcast %bt dims [0] : tensor<$HEADSxf32> -> tensor<$HEADSx3xf32>
    %delta = qt.mul %strength, %error : tensor<$HEADSx3xf32>, tensor<$HEADSx3xf32>
    %write = qt.contract %kt, %delta batch [0] x [0] over [] x [] : tensor<$HEADSx4xf32>, tensor<$HEADSx3xf32> -> tensor<$HEADSx4x3xf32>
    %s2 = qt.add %s1, %write : tensor<$HEADSx4x3xf32>, tensor<$HEADSx4x3xf32>
    %o = qt.contract %s2, %qt batch [0] x [0] over [1] x [1] : tensor<$HEADSx4x3xf32>, tensor<$HEADSx4xf32> -> tensor<$HEADSx3xf32>
    qt.yield %s2, %o : tensor<$HEADSx4x3xf32>, tensor<$HEADSx3xf32>
  })";

class ReferenceHeads : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ratios, ReferenceHeads, ::testing::Values(1, 2, 3));

TEST_P(ReferenceHeads, GatedDeltaRule) {
  Segments docs = awkwardDocuments(GetParam());
  auto names = headNames(GetParam());
  expectPairsAgree(with(kDeltaArguments + "(tensor<?x$HEADSx3xf32>, tensor<?x$HEADSx3xf32>) {" + kDeltaCompound +
                            kDeltaScan + "\nreturn %out, %out1 : tensor<?x$HEADSx3xf32>, tensor<?x$HEADSx3xf32>\n}",
                        names),
                   deltaInputs(docs, 2 * GetParam(), /*seed=*/5), 1);
  std::string compound = with(kDeltaArguments + "(tensor<?x$HEADSx3xf32>, tensor<?x$HEADSx64xf32>) {" + kDeltaCompound +
                                  "\nreturn %out, %inverse : tensor<?x$HEADSx3xf32>, tensor<?x$HEADSx64xf32>\n}",
                              names);
  expectTailUnread(compound, docs, deltaInputs(docs, 2 * GetParam(), /*seed=*/5));
}

TEST_P(ReferenceHeads, InverseOfEachChunk) {
  // (I + A) X = I, A_ij = beta_i k_i.k_j below the diagonal, for the chunks of a document of 150 tokens after one
  // of 10.
  int64_t heads = 2 * GetParam();
  Segments docs = Segments::ofLengths({10, 150}, 1);
  std::vector<Datum<double>> inputs = deltaInputs(docs, heads, /*seed=*/5);
  const Tensor<double> &k = tensorOf(inputs[2]), &beta = tensorOf(inputs[5]);
  Tensor<double> inverse = tensorOf(evaluateText(with(kDeltaArguments + "tensor<?x$HEADSx64xf32> {" + kDeltaCompound +
                                                          "\nreturn %inverse : tensor<?x$HEADSx64xf32>\n}",
                                                      headNames(GetParam())),
                                                 inputs)
                                        .at(0));
  int64_t chunks[][2] = {{0, 10}, {10, 74}, {74, 138}, {138, 160}};
  for (auto [begin, end] : chunks)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t i = begin; i < end; ++i)
        for (int64_t column = 0; column < 64; ++column) {
          double product = inverse.at(i, head)[column];
          for (int64_t j = begin; j < i; ++j) {
            double keys = 0;
            for (int64_t x = 0; x < 4; ++x)
              keys += k.at(i, head / GetParam())[x] * k.at(j, head / GetParam())[x];
            product += beta.at(i)[head] * keys * inverse.at(j, head)[column];
          }
          ASSERT_NEAR(product, column == i - begin ? 1 : 0, 1e-12) << "token " << i << ", column " << column;
        }
}

TEST(ReferenceCompoundOps, GatedRmsNorm) {
  Random random(4);
  Tensor<double> x = randomNormal({5, 2, 4}, random);
  auto results = expectPairsAgree(R"(
func.func @f(%x: tensor<?x2x4xf32>, %z: tensor<?x2x4xf32>, %w: tensor<4xf32>)
    -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2xf32>) {
  %y, %r = qt.gated_rms_norm %x, %z, %w eps 1.0e-6 : (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<4xf32>)
      -> tensor<?x2x4xf32> rstd tensor<?x2xf32>
  %n = qt.plain_rms_norm %x, %w eps 1.0e-6 : tensor<?x2x4xf32>, tensor<4xf32> -> tensor<?x2x4xf32>
  %open = qt.silu %z : tensor<?x2x4xf32>
  %y1 = qt.mul %n, %open : tensor<?x2x4xf32>, tensor<?x2x4xf32>
  return %y, %y1, %r : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2xf32>
})",
                                  {x, randomNormal({5, 2, 4}, random), randomNormal({4}, random)}, 1);
  for (int64_t i = 0; i < x.vectors(); ++i) {
    double squares = 0;
    for (int64_t j = 0; j < 4; ++j)
      squares += x[4 * i + j] * x[4 * i + j];
    EXPECT_NEAR(tensorOf(results.at(0))[i], 1 / std::sqrt(squares / 4 + 1e-6), 1e-12);
  }
}

TEST(ReferenceCompoundOps, QkNormRope) {
  Random random(6);
  Segments docs = awkwardDocuments();
  std::string arguments = R"(
func.func @f(%d: !qt.segments, %a: tensor<?x4x6xf32>, %b: tensor<?x2x6xf32>, %wa: tensor<6xf32>, %wb: tensor<6xf32>) -> )";
  std::string compound = R"(
  %q, %k, %qr, %kr = qt.qk_norm_rope %d, %a, %b, %wa, %wb eps 1.0e-6 theta 10000.0 dims 4
      : (!qt.segments, tensor<?x4x6xf32>, tensor<?x2x6xf32>, tensor<6xf32>, tensor<6xf32>)
      -> tensor<?x4x6xf32>, tensor<?x2x6xf32> q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>)";
  std::vector<Datum<double>> inputs = {docs, randomNormal({docs.tokens, 4, 6}, random),
                                       randomNormal({docs.tokens, 2, 6}, random), randomNormal({6}, random),
                                       randomNormal({6}, random)};
  std::string types = "tensor<?x4x6xf32>, tensor<?x2x6xf32>";
  expectPairsAgree(arguments + "(" + types + "," + types + ") {" + compound + R"(
  %na = qt.rms_norm %a, %wa eps 1.0e-6 : (tensor<?x4x6xf32>, tensor<6xf32>) -> tensor<?x4x6xf32>
  %nb = qt.rms_norm %b, %wb eps 1.0e-6 : (tensor<?x2x6xf32>, tensor<6xf32>) -> tensor<?x2x6xf32>
  %q1 = qt.rope %d, %na theta 10000.0 dims 4 : !qt.segments, tensor<?x4x6xf32>
  %k1 = qt.rope %d, %nb theta 10000.0 dims 4 : !qt.segments, tensor<?x2x6xf32>
  return %q, %k, %q1, %k1 : )" +
                       types + "," + types + "\n}",
                   inputs, 2);
  expectTailUnread(arguments + "(" + types + ", tensor<?x4xf32>, tensor<?x2xf32>) {" + compound +
                       "\nreturn %q, %k, %qr, %kr : " + types + ", tensor<?x4xf32>, tensor<?x2xf32>\n}",
                   docs, inputs);
}

const std::string kAttentionArguments = R"(
func.func @f(%d: !qt.segments, %q: tensor<?x$HEADSx4xf32>, %k: tensor<?x$KEYHEADSx4xf32>, %v: tensor<?x$KEYHEADSx4xf32>,
             %gate: tensor<?x$HEADSx4xf32>) -> )";
const std::string kAttentionCompound = R"(
  %y, %lse, %o = qt.attention %d, %q, %k, %v gate %gate scale 0.5
      : (!qt.segments, tensor<?x$HEADSx4xf32>, tensor<?x$KEYHEADSx4xf32>, tensor<?x$KEYHEADSx4xf32>, tensor<?x$HEADSx4xf32>)
      -> tensor<?x$HEADSx4xf32> lse tensor<?x$HEADSxf32> o tensor<?x$HEADSx4xf32>
  %plain = qt.attention %d, %q, %k, %v scale 0.5
      : (!qt.segments, tensor<?x$HEADSx4xf32>, tensor<?x$KEYHEADSx4xf32>, tensor<?x$KEYHEADSx4xf32>) -> tensor<?x$HEADSx4xf32>)";

TEST_P(ReferenceHeads, Attention) {
  Random random(7);
  Segments docs = awkwardDocuments(GetParam());
  int64_t tokens = docs.tokens, heads = 2 * GetParam();
  auto names = headNames(GetParam());
  std::vector<Datum<double>> inputs = {docs, randomNormal({tokens, heads, 4}, random),
                                       randomNormal({tokens, 2, 4}, random), randomNormal({tokens, 2, 4}, random),
                                       randomNormal({tokens, heads, 4}, random)};
  std::string type = "tensor<?x$HEADSx4xf32>", triple = type + "," + type + "," + type;
  std::vector<Datum<double>> results =
      expectPairsAgree(with(kAttentionArguments + "(" + triple + "," + triple +
                                ", tensor<?x$HEADSxf32>, tensor<$HEADSx?x?xf32>) {" + kAttentionCompound + R"(
  %k4 = qt.reshape %k : tensor<?x$KEYHEADSx4xf32> -> tensor<?x$KEYHEADSx1x4xf32>
  %v4 = qt.reshape %v : tensor<?x$KEYHEADSx4xf32> -> tensor<?x$KEYHEADSx1x4xf32>
  %kr = qt.broadcast %k4 dims [0, 1, 2, 3] : tensor<?x$KEYHEADSx1x4xf32> -> tensor<?x$KEYHEADSx$RATIOx4xf32>
  %vr = qt.broadcast %v4 dims [0, 1, 2, 3] : tensor<?x$KEYHEADSx1x4xf32> -> tensor<?x$KEYHEADSx$RATIOx4xf32>
  %k1 = qt.reshape %kr : tensor<?x$KEYHEADSx$RATIOx4xf32> -> tensor<?x$HEADSx4xf32>
  %v1 = qt.reshape %vr : tensor<?x$KEYHEADSx$RATIOx4xf32> -> tensor<?x$HEADSx4xf32>
  %s = qt.contract %q, %k1 batch [1] x [1] over [2] x [2] : tensor<?x$HEADSx4xf32>, tensor<?x$HEADSx4xf32> -> tensor<$HEADSx?x?xf32>
  %scaled = qt.scale %s by 0.5 : tensor<$HEADSx?x?xf32>
  %masked = qt.causal_mask %d, %scaled : !qt.segments, tensor<$HEADSx?x?xf32>
  %p = qt.softmax %masked : tensor<$HEADSx?x?xf32>
  %ot = qt.contract %p, %v1 batch [0] x [1] over [2] x [0] : tensor<$HEADSx?x?xf32>, tensor<?x$HEADSx4xf32> -> tensor<$HEADSx?x4xf32>
  %o1 = qt.transpose %ot [1, 0, 2] : tensor<$HEADSx?x4xf32> -> tensor<?x$HEADSx4xf32>
  %open = qt.sigmoid %gate : tensor<?x$HEADSx4xf32>
  %y1 = qt.mul %o1, %open : tensor<?x$HEADSx4xf32>, tensor<?x$HEADSx4xf32>
  return %y, %o, %plain, %y1, %o1, %o1, %lse, %masked : )" +
                                triple + "," + triple + ", tensor<?x$HEADSxf32>, tensor<$HEADSx?x?xf32>\n}",
                            names),
                       inputs, 3);
  const Tensor<double> &lse = tensorOf(results.at(0)), &masked = tensorOf(results.at(1));
  for (int64_t t = 0; t < docs.used(); ++t)
    for (int64_t head = 0; head < heads; ++head) {
      double sum = 0;
      for (int64_t s = 0; s < tokens; ++s)
        sum += std::exp(masked[(head * tokens + t) * tokens + s]);
      ASSERT_NEAR(lse.at(t)[head], std::log(sum), 1e-12);
    }
  expectTailUnread(with(kAttentionArguments + "(" + triple + ", tensor<?x$HEADSxf32>) {" + kAttentionCompound +
                            "\nreturn %y, %o, %plain, %lse : " + triple + ", tensor<?x$HEADSxf32>\n}",
                        names),
                   docs, inputs);
}

TEST(ReferenceCompoundOps, Swiglu) {
  Random random(8);
  expectPairsAgree(R"(
func.func @f(%g: tensor<?x8xf32>, %u: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = qt.swiglu %g, %u : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = qt.silu %g : tensor<?x8xf32>
  %y1 = qt.mul %s, %u : tensor<?x8xf32>, tensor<?x8xf32>
  return %y, %y1 : tensor<?x8xf32>, tensor<?x8xf32>
})",
                   {randomNormal({5, 8}, random), randomNormal({5, 8}, random)}, 1);
}

TEST(ReferenceCompoundOps, GatherRows) {
  IntTensor labels({5}, std::vector<int64_t>{-100, 3, 4, -100, 5});
  Segments docs = Segments::ofLengths({4}, 1).withTrained(labels);
  Tensor<double> x({5, 1}, std::vector<double>{10, 11, 12, 13, 14});
  // A label in the tail trains nothing.
  auto results = evaluateText(R"(
func.func @f(%d: !qt.segments, %x: tensor<?x1xf32>, %l: tensor<?xi32>)
    -> (tensor<?x1xf32>, tensor<?xi32>, tensor<4x1xf32>, tensor<4xi32>) {
  %y = qt.gather_rows %d, %x : (!qt.segments, tensor<?x1xf32>) -> tensor<?x1xf32>
  %m = qt.gather_rows %d, %l : (!qt.segments, tensor<?xi32>) -> tensor<?xi32>
  %y4 = qt.gather_rows %d, %x : (!qt.segments, tensor<?x1xf32>) -> tensor<4x1xf32>
  %m4 = qt.gather_rows %d, %l : (!qt.segments, tensor<?xi32>) -> tensor<4xi32>
  return %y, %m, %y4, %m4 : tensor<?x1xf32>, tensor<?xi32>, tensor<4x1xf32>, tensor<4xi32>
})",
                              {docs, x, labels});
  EXPECT_EQ(tensorOf(results.at(0)).elements(), (std::vector<double>{11, 12}));
  EXPECT_EQ(std::get<IntTensor>(results.at(1)).elements(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(tensorOf(results.at(2)).elements(), (std::vector<double>{11, 12, 0, 0}));
  EXPECT_EQ(std::get<IntTensor>(results.at(3)).elements(), (std::vector<int64_t>{3, 4, -100, -100}));
}

TEST(ReferenceCompoundOps, LinearCrossEntropy) {
  Random random(9);
  auto results = expectPairsAgree(
      R"(
func.func @f(%x: tensor<?x4xf32>, %w: tensor<7x4xf32>, %l: tensor<?xi32>) -> (tensor<f32>, tensor<f32>, tensor<?xf32>, tensor<f32>) {
  %loss, %rows = qt.linear_cross_entropy %x, %w, %l : (tensor<?x4xf32>, tensor<7x4xf32>, tensor<?xi32>) -> tensor<f32> row_loss tensor<?xf32>
  %logits = qt.linear %x, %w : tensor<?x4xf32>, tensor<7x4xf32> -> tensor<?x7xf32>
  %loss1 = qt.cross_entropy %logits, %l : tensor<?x7xf32>, tensor<?xi32> -> tensor<f32>
  return %loss, %loss1, %rows, %loss : tensor<f32>, tensor<f32>, tensor<?xf32>, tensor<f32>
})",
      {randomNormal({3, 4}, random), randomNormal({7, 4}, random), IntTensor({3}, std::vector<int64_t>{6, -100, 0})},
      1);
  const Tensor<double> &rows = tensorOf(results.at(0));
  EXPECT_EQ(rows[1], 0);
  EXPECT_NEAR(rows[0] + rows[2], tensorOf(results.at(1))[0], 1e-12);
  EXPECT_GT(rows[0], 0);
}

} // namespace
