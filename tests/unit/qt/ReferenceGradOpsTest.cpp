// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradient ops, by the formulas of docs/model.md, against dual numbers of the forward ops: with each residual, without
// any, and added into a value.
#include "tests/unit/qt/ReferenceHarness.h"

#include <cmath>

using namespace qt::reference;

namespace {

using Names = std::map<std::string, std::string>;

/// Checks the adjoint with residuals and without: `$IF(...)` in the text stands for what is there with residuals only.
/// Both ways must give the same.
void checkWithAndWithoutResiduals(const std::string &text, const std::vector<Datum<double>> &arguments) {
  auto variant = [&](bool residuals) {
    std::string result = text;
    for (size_t at; (at = result.find("$IF(")) != std::string::npos;) {
      size_t end = at + 4;
      for (int depth = 1; depth > 0; ++end)
        depth += result[end] == '(' ? 1 : result[end] == ')' ? -1 : 0;
      result.replace(at, end - at, residuals ? result.substr(at + 4, end - at - 5) : "");
    }
    return checkAdjoint(result, arguments);
  };
  std::vector<Tensor<double>> with = variant(true), without = variant(false);
  ASSERT_EQ(with.size(), without.size());
  for (size_t i = 0; i < with.size(); ++i)
    EXPECT_TRUE(agree(with[i], without[i], 1e-11)) << "gradient " << i;
}

TEST(ReferenceGradOps, Linear) {
  Random random(1);
  checkAdjoint(R"(
func.func @f(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>) -> tensor<?x3xf32> {
  %y = qt.linear %x, %w : tensor<?x4xf32>, tensor<3x4xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
func.func @g(%x: tensor<?x4xf32>, %w: tensor<3x4xf32>, %dy: tensor<?x3xf32>) -> (tensor<?x4xf32>, tensor<3x4xf32>) {
  %dx = qt.linear_input_grad %dy, %w : tensor<?x3xf32>, tensor<3x4xf32> -> tensor<?x4xf32>
  %dw = qt.linear_weight_grad %dy, %x : (tensor<?x3xf32>, tensor<?x4xf32>) -> tensor<3x4xf32>
  return %dx, %dw : tensor<?x4xf32>, tensor<3x4xf32>
})",
               {randomNormal({5, 4}, random), randomNormal({3, 4}, random)});
}

TEST(ReferenceGradOps, Embedding) {
  Random random(2);
  Segments docs = awkwardDocuments();
  IntTensor ids = randomIds(docs.tokens, 11, random);
  std::string types = "(!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x3xf32>) -> tensor<11x3xf32>";
  checkAdjoint(R"(
func.func @f(%d: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %w: tensor<11x3xf32>) -> tensor<?x3xf32> {
  %y = qt.embedding %d, %ids, %w : (!qt.segments, tensor<?xi32>, tensor<11x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
func.func @g(%d: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %w: tensor<11x3xf32>, %dy: tensor<?x3xf32>) -> tensor<11x3xf32> {
  %dw = qt.embedding_grad %d, %ids, %order, %dy : )" +
                   types + R"(
  return %dw : tensor<11x3xf32>
})",
               {docs, ids, embeddingOrder(docs, ids), randomNormal({11, 3}, random)});
}

TEST(ReferenceGradOps, EmbeddingRefusesAWrongOrder) {
  Segments docs = Segments::ofLengths({3}, 1);
  IntTensor ids({4}, std::vector<int64_t>{1, 0, 1, 0});
  std::string text = R"(
func.func @f(%d: !qt.segments, %ids: tensor<?xi32>, %order: tensor<?xi32>, %dy: tensor<?x1xf32>) -> tensor<2x1xf32> {
  %dw = qt.embedding_grad %d, %ids, %order, %dy : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x1xf32>) -> tensor<2x1xf32>
  return %dw : tensor<2x1xf32>
})";
  auto message = [&](std::vector<int64_t> order) {
    return evaluationError(text, {{docs, ids, IntTensor({4}, std::move(order)), Tensor<double>({4, 1}, 1.0)}, {}});
  };
  std::string unsorted = message({0, 1, 2, -1}), short1 = message({1, 0, -1, -1});
  EXPECT_NE(unsorted.find("expected an order by (id, position), got token 1 after token 0"), std::string::npos)
      << unsorted;
  EXPECT_NE(short1.find("expected an order of all 3 tokens, got 2"), std::string::npos) << short1;
}

TEST(ReferenceGradOps, RmsNorm) {
  Random random(3);
  checkWithAndWithoutResiduals(R"(
func.func @f(%x: tensor<?x2x5xf32>, %w: tensor<5xf32>) -> tensor<?x2x5xf32> {
  %y = qt.rms_norm %x, %w eps 1.0e-3 : (tensor<?x2x5xf32>, tensor<5xf32>) -> tensor<?x2x5xf32>
  return %y : tensor<?x2x5xf32>
}
func.func @g(%x: tensor<?x2x5xf32>, %w: tensor<5xf32>, %dy: tensor<?x2x5xf32>) -> (tensor<?x2x5xf32>, tensor<5xf32>) {
  %y, %r = qt.rms_norm %x, %w eps 1.0e-3 : (tensor<?x2x5xf32>, tensor<5xf32>) -> tensor<?x2x5xf32> rstd tensor<?x2xf32>
  %dx, %dw = qt.rms_norm_grad %x, %w $IF(rstd %r) dy %dy eps 1.0e-3
      : (tensor<?x2x5xf32>, tensor<5xf32>, $IF(tensor<?x2xf32>,) tensor<?x2x5xf32>) -> (tensor<?x2x5xf32>, tensor<5xf32>)
  return %dx, %dw : tensor<?x2x5xf32>, tensor<5xf32>
})",
                               {randomNormal({6, 2, 5}, random), randomNormal({5}, random)});
}

TEST(ReferenceGradOps, AddRmsNorm) {
  Random random(4);
  checkWithAndWithoutResiduals(R"(
func.func @f(%x: tensor<?x5xf32>, %d: tensor<?x5xf32>, %w: tensor<5xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>) {
  %s, %y = qt.add_rms_norm %x, %d, %w eps 1.0e-3 : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>, tensor<?x5xf32>
  return %s, %y : tensor<?x5xf32>, tensor<?x5xf32>
}
func.func @g(%x: tensor<?x5xf32>, %d: tensor<?x5xf32>, %w: tensor<5xf32>, %ds: tensor<?x5xf32>, %dy: tensor<?x5xf32>)
    -> (tensor<?x5xf32>, tensor<?x5xf32>, tensor<5xf32>) {
  %s, %y, %r = qt.add_rms_norm %x, %d, %w eps 1.0e-3 : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<5xf32>)
      -> tensor<?x5xf32>, tensor<?x5xf32> rstd tensor<?xf32>
  %dx, %dw = qt.add_rms_norm_grad %s, %w $IF(rstd %r) dsum %ds dy %dy eps 1.0e-3
      : (tensor<?x5xf32>, tensor<5xf32>, $IF(tensor<?xf32>,) tensor<?x5xf32>, tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<5xf32>)
  return %dx, %dx, %dw : tensor<?x5xf32>, tensor<?x5xf32>, tensor<5xf32>
})",
                               {randomNormal({6, 5}, random), randomNormal({6, 5}, random), randomNormal({5}, random)});
}

TEST(ReferenceGradOps, AddRmsNormWithoutCotangentOfTheSum) {
  Random random(5);
  checkAdjoint(R"(
func.func @f(%x: tensor<?x5xf32>, %d: tensor<?x5xf32>, %w: tensor<5xf32>) -> tensor<?x5xf32> {
  %s, %y = qt.add_rms_norm %x, %d, %w eps 1.0e-3 : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>, tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @g(%x: tensor<?x5xf32>, %d: tensor<?x5xf32>, %w: tensor<5xf32>, %dy: tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>, tensor<5xf32>) {
  %s = qt.add %x, %d : tensor<?x5xf32>, tensor<?x5xf32>
  %dx, %dw = qt.add_rms_norm_grad %s, %w dy %dy eps 1.0e-3 : (tensor<?x5xf32>, tensor<5xf32>, tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<5xf32>)
  return %dx, %dx, %dw : tensor<?x5xf32>, tensor<?x5xf32>, tensor<5xf32>
})",
               {randomNormal({6, 5}, random), randomNormal({6, 5}, random), randomNormal({5}, random)});
}

class ReferenceGradHeads : public ::testing::TestWithParam<int> {
protected:
  int64_t heads() const { return 2 * GetParam(); }
  /// Two key heads of four; W value heads of three; C = 16 + 3 W channels.
  Names names() const { return {{"K", "2"}, {"W", std::to_string(heads())}, {"C", std::to_string(16 + 3 * heads())}}; }
};
INSTANTIATE_TEST_SUITE_P(Ratios, ReferenceGradHeads, ::testing::Values(1, 2, 3));

const std::string kInputsForward = R"(
func.func @f(%d: !qt.segments, %x: tensor<?x$Cxf32>, %b: tensor<?x$Wxf32>, %a: tensor<?x$Wxf32>, %w: tensor<$Cx1x4xf32>,
             %al: tensor<$Wxf32>, %dt: tensor<$Wxf32>)
    -> (tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>) {
  %q, %k, %v, %g, %beta = qt.gated_delta_inputs %d, %x, %b, %a conv %w, %al, %dt eps 1.0e-2
      : (!qt.segments, tensor<?x$Cxf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>, tensor<$Cx1x4xf32>, tensor<$Wxf32>, tensor<$Wxf32>)
      -> (tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>)
  return %q, %k, %v, %g, %beta : tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>
})";
const std::string kInputsGrad =
    R"((%d: !qt.segments, %x: tensor<?x$Cxf32>, %b: tensor<?x$Wxf32>, %a: tensor<?x$Wxf32>, %w: tensor<$Cx1x4xf32>,
             %al: tensor<$Wxf32>, %dt: tensor<$Wxf32>,
             %dq: tensor<?x$Kx4xf32>, %dk: tensor<?x$Kx4xf32>, %dv: tensor<?x$Wx3xf32>, %dg: tensor<?x$Wxf32>, %dbeta: tensor<?x$Wxf32>)
    -> (tensor<?x$Cxf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>, tensor<$Cx1x4xf32>, tensor<$Wxf32>, tensor<$Wxf32>) {
  %dx, %db, %da, %dw, %dal, %ddt = qt.gated_delta_inputs_grad %d, %x, %b, %a conv %w, %al, %dt grads %dq, %dk, %dv, %dg, %dbeta eps 1.0e-2
      : (!qt.segments, tensor<?x$Cxf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>, tensor<$Cx1x4xf32>, tensor<$Wxf32>, tensor<$Wxf32>,
         tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>)
      -> (tensor<?x$Cxf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>, tensor<$Cx1x4xf32>, tensor<$Wxf32>, tensor<$Wxf32>)
  return %dx, %db, %da, %dw, %dal, %ddt : tensor<?x$Cxf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>, tensor<$Cx1x4xf32>, tensor<$Wxf32>, tensor<$Wxf32>
})";

TEST_P(ReferenceGradHeads, GatedDeltaInputs) {
  Random random(6);
  Segments docs = awkwardDocuments(GetParam());
  int64_t tokens = docs.tokens, channels = 16 + 3 * heads();
  std::vector<Datum<double>> inputs = {docs,
                                       randomNormal({tokens, channels}, random),
                                       randomNormal({tokens, heads()}, random),
                                       randomNormal({tokens, heads()}, random),
                                       randomNormal({channels, 1, 4}, random),
                                       randomNormal({heads()}, random),
                                       randomNormal({heads()}, random)};
  checkAdjoint(with(kInputsForward + "func.func @g" + kInputsGrad, names()), inputs);
  for (int64_t width : {8, 8, 0, 1, 1})
    inputs.push_back(width == 8   ? randomNormal({tokens, 2, 4}, random)
                     : width == 0 ? randomNormal({tokens, heads(), 3}, random)
                                  : randomNormal({tokens, heads()}, random));
  expectTailUnread(with("func.func @f" + kInputsGrad, names()), docs, inputs);
}

const std::string kDeltaForward = R"(
func.func @f(%d: !qt.segments, %q: tensor<?x$Kx4xf32>, %k: tensor<?x$Kx4xf32>, %v: tensor<?x$Wx3xf32>, %g: tensor<?x$Wxf32>,
             %b: tensor<?x$Wxf32>) -> tensor<?x$Wx3xf32> {
  %y = qt.gated_delta_rule %d, %q, %k, %v, %g, %b scale 0.5
      : (!qt.segments, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>) -> tensor<?x$Wx3xf32>
  return %y : tensor<?x$Wx3xf32>
})";
const std::string kDeltaGrad =
    R"((%d: !qt.segments, %q: tensor<?x$Kx4xf32>, %k: tensor<?x$Kx4xf32>, %v: tensor<?x$Wx3xf32>, %g: tensor<?x$Wxf32>,
             %b: tensor<?x$Wxf32>, %dy: tensor<?x$Wx3xf32>)
    -> (tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>) {
  %y, %i = qt.gated_delta_rule %d, %q, %k, %v, %g, %b scale 0.5
      : (!qt.segments, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>) -> tensor<?x$Wx3xf32>
      inverse tensor<?x$Wx64xf32>
  %dq, %dk, %dv, %dg, %db = qt.gated_delta_rule_grad %d, %q, %k, %v, %g, %b $IF(inverse %i) dout %dy scale 0.5
      : (!qt.segments, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>,
         $IF(tensor<?x$Wx64xf32>,) tensor<?x$Wx3xf32>)
      -> (tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>)
  return %dq, %dk, %dv, %dg, %db : tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx3xf32>, tensor<?x$Wxf32>, tensor<?x$Wxf32>
})";

TEST_P(ReferenceGradHeads, GatedDeltaRule) {
  Segments docs = awkwardDocuments(GetParam());
  std::vector<Datum<double>> inputs = deltaInputs(docs, heads(), /*seed=*/7);
  checkWithAndWithoutResiduals(with(kDeltaForward + "func.func @g" + kDeltaGrad, names()), inputs);
  Random random(8);
  inputs.push_back(randomNormal({docs.tokens, heads(), 3}, random));
  std::string text = with("func.func @f" + kDeltaGrad, names());
  for (size_t at; (at = text.find("$IF(")) != std::string::npos;)
    text.erase(at, text.find(')', at) + 1 - at);
  expectTailUnread(text, docs, inputs);
}

TEST(ReferenceGradOps, GatedDeltaRuleRefusesTheInverseOfOtherKeys) {
  Segments docs = Segments::ofLengths({5});
  std::vector<Datum<double>> inputs = deltaInputs(docs, 2, /*seed=*/7);
  Random random(9);
  Tensor<double> inverse = chunkInverse(docs, randomNormal({5, 2, 4}, random), std::get<Tensor<double>>(inputs[5]));
  inputs.push_back(inverse);
  inputs.push_back(randomNormal({5, 2, 3}, random));
  std::string message = evaluationError(R"(
func.func @f(%d: !qt.segments, %q: tensor<?x2x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x3xf32>, %g: tensor<?x2xf32>, %b: tensor<?x2xf32>,
             %i: tensor<?x2x64xf32>, %dy: tensor<?x2x3xf32>) -> tensor<?x2x4xf32> {
  %dq, %dk, %dv, %dg, %db = qt.gated_delta_rule_grad %d, %q, %k, %v, %g, %b inverse %i dout %dy scale 0.5
      : (!qt.segments, tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2x64xf32>,
         tensor<?x2x3xf32>)
      -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  return %dq : tensor<?x2x4xf32>
})",
                                        {inputs, {}});
  EXPECT_NE(message.find("expected the residual `inverse` of these k and beta"), std::string::npos) << message;
}

TEST(ReferenceGradOps, GatedRmsNorm) {
  Random random(10);
  checkWithAndWithoutResiduals(
      R"(
func.func @f(%x: tensor<?x2x5xf32>, %z: tensor<?x2x5xf32>, %w: tensor<5xf32>) -> tensor<?x2x5xf32> {
  %y = qt.gated_rms_norm %x, %z, %w eps 1.0e-3 : (tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<5xf32>) -> tensor<?x2x5xf32>
  return %y : tensor<?x2x5xf32>
}
func.func @g(%x: tensor<?x2x5xf32>, %z: tensor<?x2x5xf32>, %w: tensor<5xf32>, %dy: tensor<?x2x5xf32>)
    -> (tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<5xf32>) {
  %y, %r = qt.gated_rms_norm %x, %z, %w eps 1.0e-3 : (tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<5xf32>) -> tensor<?x2x5xf32> rstd tensor<?x2xf32>
  %dx, %dz, %dw = qt.gated_rms_norm_grad %x, %z, %w $IF(rstd %r) dy %dy eps 1.0e-3
      : (tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<5xf32>, $IF(tensor<?x2xf32>,) tensor<?x2x5xf32>)
      -> (tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<5xf32>)
  return %dx, %dz, %dw : tensor<?x2x5xf32>, tensor<?x2x5xf32>, tensor<5xf32>
})",
      {randomNormal({6, 2, 5}, random), randomNormal({6, 2, 5}, random), randomNormal({5}, random)});
}

const std::string kRopeGrad =
    R"((%d: !qt.segments, %a: tensor<?x$Wx6xf32>, %b: tensor<?x$Kx6xf32>, %wa: tensor<6xf32>, %wb: tensor<6xf32>,
             %dq: tensor<?x$Wx6xf32>, %dk: tensor<?x$Kx6xf32>) -> (tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %q, %k, %qr, %kr = qt.qk_norm_rope %d, %a, %b, %wa, %wb eps 1.0e-3 theta 100.0 dims 4
      : (!qt.segments, tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>, tensor<6xf32>, tensor<6xf32>)
      -> tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32> q_rstd tensor<?x$Wxf32> k_rstd tensor<?x$Kxf32>
  %da, %db, %dwa, %dwb = qt.qk_norm_rope_grad %d, %a, %b, %wa, %wb $IF(q_rstd %qr k_rstd %kr) grads %dq, %dk eps 1.0e-3 theta 100.0 dims 4
      : (!qt.segments, tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>, tensor<6xf32>, tensor<6xf32>, $IF(tensor<?x$Wxf32>, tensor<?x$Kxf32>,)
         tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>)
      -> (tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>, tensor<6xf32>, tensor<6xf32>)
  return %da, %db, %dwa, %dwb : tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>, tensor<6xf32>, tensor<6xf32>
})";

TEST_P(ReferenceGradHeads, QkNormRope) {
  Random random(11);
  Segments docs = awkwardDocuments(GetParam());
  std::vector<Datum<double>> inputs = {docs, randomNormal({docs.tokens, heads(), 6}, random),
                                       randomNormal({docs.tokens, 2, 6}, random), randomNormal({6}, random),
                                       randomNormal({6}, random)};
  checkWithAndWithoutResiduals(with(R"(
func.func @f(%d: !qt.segments, %a: tensor<?x$Wx6xf32>, %b: tensor<?x$Kx6xf32>, %wa: tensor<6xf32>, %wb: tensor<6xf32>)
    -> (tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>) {
  %q, %k = qt.qk_norm_rope %d, %a, %b, %wa, %wb eps 1.0e-3 theta 100.0 dims 4
      : (!qt.segments, tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>
  return %q, %k : tensor<?x$Wx6xf32>, tensor<?x$Kx6xf32>
}
func.func @g)" + kRopeGrad,
                                    names()),
                               inputs);
}

const std::string kAttentionGrad = R"(
func.func @f(%d: !qt.segments, %q: tensor<?x$Wx4xf32>, %k: tensor<?x$Kx4xf32>, %v: tensor<?x$Kx4xf32>, %gate: tensor<?x$Wx4xf32>) -> tensor<?x$Wx4xf32> {
  %y = qt.attention %d, %q, %k, %v gate %gate scale 0.5
      : (!qt.segments, tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx4xf32>) -> tensor<?x$Wx4xf32>
  return %y : tensor<?x$Wx4xf32>
}
func.func @g(%d: !qt.segments, %q: tensor<?x$Wx4xf32>, %k: tensor<?x$Kx4xf32>, %v: tensor<?x$Kx4xf32>, %gate: tensor<?x$Wx4xf32>, %dy: tensor<?x$Wx4xf32>)
    -> (tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx4xf32>) {
  %y, %lse, %o = qt.attention %d, %q, %k, %v gate %gate scale 0.5
      : (!qt.segments, tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx4xf32>)
      -> tensor<?x$Wx4xf32> lse tensor<?x$Wxf32> o tensor<?x$Wx4xf32>
  %dq, %dk, %dv, %dgate = qt.attention_grad %d, %q, %k, %v gate %gate $IF(lse %lse o %o) dy %dy scale 0.5
      : (!qt.segments, tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx4xf32>,
         $IF(tensor<?x$Wxf32>, tensor<?x$Wx4xf32>,) tensor<?x$Wx4xf32>)
      -> (tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx4xf32>)
  return %dq, %dk, %dv, %dgate : tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Wx4xf32>
})";

TEST_P(ReferenceGradHeads, Attention) {
  Random random(12);
  Segments docs = awkwardDocuments(GetParam());
  int64_t tokens = docs.tokens;
  checkWithAndWithoutResiduals(with(kAttentionGrad, names()),
                               {docs, randomNormal({tokens, heads(), 4}, random), randomNormal({tokens, 2, 4}, random),
                                randomNormal({tokens, 2, 4}, random), randomNormal({tokens, heads(), 4}, random)});
}

TEST_P(ReferenceGradHeads, AttentionWithoutGate) {
  // The residual o is y itself.
  Random random(13);
  Segments docs = awkwardDocuments(GetParam());
  int64_t tokens = docs.tokens;
  checkWithAndWithoutResiduals(with(R"(
func.func @f(%d: !qt.segments, %q: tensor<?x$Wx4xf32>, %k: tensor<?x$Kx4xf32>, %v: tensor<?x$Kx4xf32>) -> tensor<?x$Wx4xf32> {
  %y = qt.attention %d, %q, %k, %v scale 0.5 : (!qt.segments, tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>) -> tensor<?x$Wx4xf32>
  return %y : tensor<?x$Wx4xf32>
}
func.func @g(%d: !qt.segments, %q: tensor<?x$Wx4xf32>, %k: tensor<?x$Kx4xf32>, %v: tensor<?x$Kx4xf32>, %dy: tensor<?x$Wx4xf32>)
    -> (tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>) {
  %y, %lse = qt.attention %d, %q, %k, %v scale 0.5 : (!qt.segments, tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>)
      -> tensor<?x$Wx4xf32> lse tensor<?x$Wxf32>
  %dq, %dk, %dv = qt.attention_grad %d, %q, %k, %v $IF(lse %lse o %y) dy %dy scale 0.5
      : (!qt.segments, tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>, $IF(tensor<?x$Wxf32>, tensor<?x$Wx4xf32>,) tensor<?x$Wx4xf32>)
      -> (tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>)
  return %dq, %dk, %dv : tensor<?x$Wx4xf32>, tensor<?x$Kx4xf32>, tensor<?x$Kx4xf32>
})",
                                    names()),
                               {docs, randomNormal({tokens, heads(), 4}, random), randomNormal({tokens, 2, 4}, random),
                                randomNormal({tokens, 2, 4}, random)});
}

TEST_P(ReferenceGradHeads, NothingIsReadInTheTail) {
  Random random(14);
  Segments docs = awkwardDocuments(GetParam());
  int64_t tokens = docs.tokens;
  auto rows = [&](int64_t count, int64_t width) { return randomNormal({tokens, count, width}, random); };
  auto residuals = [&](std::string text) {
    for (size_t at; (at = text.find("$IF(")) != std::string::npos;) {
      size_t end = text.find(')', at);
      text.replace(at, end + 1 - at, text.substr(at + 4, end - at - 4));
    }
    return text;
  };
  std::string attention = with(kAttentionGrad, names());
  attention = "func.func @f" + attention.substr(attention.find("@g") + 2);
  expectTailUnread(residuals(attention), docs,
                   {docs, rows(heads(), 4), rows(2, 4), rows(2, 4), rows(heads(), 4), rows(heads(), 4)});
  expectTailUnread(residuals(with("func.func @f" + kRopeGrad, names())), docs,
                   {docs, rows(heads(), 6), rows(2, 6), randomNormal({6}, random), randomNormal({6}, random),
                    rows(heads(), 6), rows(2, 6)});
}

TEST(ReferenceGradOps, Swiglu) {
  Random random(15);
  checkAdjoint(R"(
func.func @f(%g: tensor<?x5xf32>, %u: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %y = qt.swiglu %g, %u : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
func.func @g(%g: tensor<?x5xf32>, %u: tensor<?x5xf32>, %dy: tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>) {
  %dg, %du = qt.swiglu_grad %g, %u dy %dy : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>)
  return %dg, %du : tensor<?x5xf32>, tensor<?x5xf32>
})",
               {randomNormal({6, 5}, random), randomNormal({6, 5}, random)});
}

TEST(ReferenceGradOps, GatherAndScatterRows) {
  // In a bucket: 40 tokens, at most 30 trained rows.
  Random random(16);
  Segments docs = Segments::ofLengths({10, 0, 20}, 10);
  docs = docs.withTrained(randomLabels(docs, randomIds(40, 5, random), 0.5, random));
  ASSERT_LT(docs.trained(), 30);
  checkAdjoint(R"(
func.func @f(%d: !qt.segments<40, 4, 20, 30>, %x: tensor<40x3xf32>) -> tensor<30x3xf32> {
  %y = qt.gather_rows %d, %x : (!qt.segments<40, 4, 20, 30>, tensor<40x3xf32>) -> tensor<30x3xf32>
  return %y : tensor<30x3xf32>
}
func.func @g(%d: !qt.segments<40, 4, 20, 30>, %x: tensor<40x3xf32>, %dy: tensor<30x3xf32>) -> tensor<40x3xf32> {
  %dx = qt.scatter_rows %d, %dy : (!qt.segments<40, 4, 20, 30>, tensor<30x3xf32>) -> tensor<40x3xf32>
  return %dx : tensor<40x3xf32>
})",
               {docs, randomNormal({40, 3}, random)});
}

TEST(ReferenceGradOps, LinearCrossEntropy) {
  Random random(17);
  IntTensor labels({5}, std::vector<int64_t>{6, 0, -100, 3, 3});
  checkAdjoint(R"(
func.func @f(%x: tensor<?x4xf32>, %w: tensor<7x4xf32>, %l: tensor<?xi32>) -> tensor<f32> {
  %loss = qt.linear_cross_entropy %x, %w, %l : (tensor<?x4xf32>, tensor<7x4xf32>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @g(%x: tensor<?x4xf32>, %w: tensor<7x4xf32>, %l: tensor<?xi32>, %dl: tensor<f32>) -> (tensor<?x4xf32>, tensor<7x4xf32>) {
  %loss, %dx, %dw = qt.linear_cross_entropy_grad %x, %w, %l dloss %dl
      : (tensor<?x4xf32>, tensor<7x4xf32>, tensor<?xi32>, tensor<f32>) -> (tensor<f32>, tensor<?x4xf32>, tensor<7x4xf32>)
  return %dx, %dw : tensor<?x4xf32>, tensor<7x4xf32>
})",
               {randomNormal({5, 4}, random), randomNormal({7, 4}, random), labels});
  // The loss comes with it, and without a gradient of the weight it is the same.
  auto results =
      evaluateText(R"(
func.func @f(%x: tensor<?x4xf32>, %w: tensor<7x4xf32>, %l: tensor<?xi32>, %dl: tensor<f32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %loss = qt.linear_cross_entropy %x, %w, %l : (tensor<?x4xf32>, tensor<7x4xf32>, tensor<?xi32>) -> tensor<f32>
  %loss1, %dx1, %dw1 = qt.linear_cross_entropy_grad %x, %w, %l dloss %dl
      : (tensor<?x4xf32>, tensor<7x4xf32>, tensor<?xi32>, tensor<f32>) -> (tensor<f32>, tensor<?x4xf32>, tensor<7x4xf32>)
  %loss2, %dx2 = qt.linear_cross_entropy_grad %x, %w, %l dloss %dl
      : (tensor<?x4xf32>, tensor<7x4xf32>, tensor<?xi32>, tensor<f32>) -> (tensor<f32>, tensor<?x4xf32>)
  return %loss, %loss1, %loss2, %dx1, %dx2 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<?x4xf32>, tensor<?x4xf32>
})",
                   {randomNormal({5, 4}, random), randomNormal({7, 4}, random), labels, Tensor<double>::scalar(0.25)});
  EXPECT_EQ(tensorOf(results.at(0))[0], tensorOf(results.at(1))[0]);
  EXPECT_EQ(tensorOf(results.at(0))[0], tensorOf(results.at(2))[0]);
  EXPECT_EQ(tensorOf(results.at(3)).elements(), tensorOf(results.at(4)).elements());
}

/// Evaluates `op`, which ends in an op with `into` operands, with and without them: @f returns its weight gradients
/// with, then without.
void expectAdded(const std::string &text, const std::vector<Datum<double>> &arguments,
                 const std::vector<Tensor<double>> &into) {
  std::vector<Datum<double>> all = arguments;
  all.insert(all.end(), into.begin(), into.end());
  std::vector<Datum<double>> results = evaluateText(text, all);
  ASSERT_EQ(results.size(), 2 * into.size());
  for (size_t i = 0; i < into.size(); ++i) {
    Tensor<double> sum = tensorOf(results[into.size() + i]);
    for (int64_t j = 0; j < sum.size(); ++j)
      sum[j] += into[i][j];
    EXPECT_TRUE(agree(tensorOf(results[i]), sum)) << "gradient " << i;
  }
}

TEST(ReferenceGradOps, WeightGradientsAreAddedInto) {
  Random random(18);
  Segments docs = Segments::ofLengths({4, 2}, 1);
  auto rows = [&](int64_t count, int64_t width) { return randomNormal({7, count, width}, random); };
  auto vector = [&](int64_t width) { return randomNormal({width}, random); };
  expectAdded(R"(
func.func @f(%dy: tensor<?x3xf32>, %x: tensor<?x2xf32>, %i: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %a = qt.linear_weight_grad %dy, %x into %i : (tensor<?x3xf32>, tensor<?x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %b = qt.linear_weight_grad %dy, %x : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<3x2xf32>
  return %a, %b : tensor<3x2xf32>, tensor<3x2xf32>
})",
              {randomNormal({7, 3}, random), randomNormal({7, 2}, random)}, {randomNormal({3, 2}, random)});
  expectAdded(R"(
func.func @f(%x: tensor<?x2xf32>, %w: tensor<2xf32>, %dy: tensor<?x2xf32>, %i: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %dx, %a = qt.rms_norm_grad %x, %w dy %dy into %i eps 1.0e-3 : (tensor<?x2xf32>, tensor<2xf32>, tensor<?x2xf32>, tensor<2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>)
  %dx1, %b = qt.rms_norm_grad %x, %w dy %dy eps 1.0e-3 : (tensor<?x2xf32>, tensor<2xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>)
  return %a, %b : tensor<2xf32>, tensor<2xf32>
})",
              {randomNormal({7, 2}, random), vector(2), randomNormal({7, 2}, random)}, {vector(2)});
  // Two gradients: each is added to its own.
  expectAdded(R"(
func.func @f(%d: !qt.segments, %q: tensor<?x4x2xf32>, %k: tensor<?x1x2xf32>, %wq: tensor<2xf32>, %wk: tensor<2xf32>,
             %dq: tensor<?x4x2xf32>, %dk: tensor<?x1x2xf32>, %i: tensor<2xf32>, %j: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a, %b, %c, %e = qt.qk_norm_rope_grad %d, %q, %k, %wq, %wk grads %dq, %dk into %i, %j eps 1.0e-3 theta 100.0 dims 2
      : (!qt.segments, tensor<?x4x2xf32>, tensor<?x1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x4x2xf32>, tensor<?x1x2xf32>, tensor<2xf32>, tensor<2xf32>)
      -> (tensor<?x4x2xf32>, tensor<?x1x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %a1, %b1, %c1, %e1 = qt.qk_norm_rope_grad %d, %q, %k, %wq, %wk grads %dq, %dk eps 1.0e-3 theta 100.0 dims 2
      : (!qt.segments, tensor<?x4x2xf32>, tensor<?x1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x4x2xf32>, tensor<?x1x2xf32>)
      -> (tensor<?x4x2xf32>, tensor<?x1x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %c, %e, %c1, %e1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
})",
              {docs, rows(4, 2), rows(1, 2), vector(2), vector(2), rows(4, 2), rows(1, 2)}, {vector(2), vector(2)});
  expectAdded(R"(
func.func @f(%x: tensor<?x2xf32>, %w: tensor<3x2xf32>, %l: tensor<?xi32>, %dl: tensor<f32>, %i: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %loss, %dx, %a = qt.linear_cross_entropy_grad %x, %w, %l dloss %dl into %i
      : (tensor<?x2xf32>, tensor<3x2xf32>, tensor<?xi32>, tensor<f32>, tensor<3x2xf32>) -> (tensor<f32>, tensor<?x2xf32>, tensor<3x2xf32>)
  %loss1, %dx1, %b = qt.linear_cross_entropy_grad %x, %w, %l dloss %dl
      : (tensor<?x2xf32>, tensor<3x2xf32>, tensor<?xi32>, tensor<f32>) -> (tensor<f32>, tensor<?x2xf32>, tensor<3x2xf32>)
  return %a, %b : tensor<3x2xf32>, tensor<3x2xf32>
})",
              {randomNormal({2, 2}, random), randomNormal({3, 2}, random), IntTensor({2}, std::vector<int64_t>{2, 0}),
               Tensor<double>::scalar(0.5)},
              {randomNormal({3, 2}, random)});
}

} // namespace
