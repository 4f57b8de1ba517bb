// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The adjoint that each op builds, evaluated by the reference, against dual numbers of the op itself.
#include "dialects/qt/Entries.h"
#include "dialects/qt/Residuals.h"
#include "tests/unit/qt/ReferenceHarness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace qt::reference;

namespace {

/// `text` holds @f, which returns results of its one op. Adds @g, which takes @f's arguments and a cotangent for each
/// of its results, and returns what the op's adjoint gives for each operand, in the order of @f's arguments. With
/// `residuals` the op is asked for them before.
std::string withAdjoint(const std::string &text, bool residuals) {
  ParsedModule module(text);
  auto f = module.get().lookupSymbol<func::FuncOp>("f");
  if (!f)
    return text; // the test has failed already
  auto g = cast<func::FuncOp>(f->clone());
  g.setName("g");
  module.get().push_back(g);
  Block &body = g.getBody().front();
  Operation *op = &body.front(), *terminator = body.getTerminator();
  EXPECT_EQ(op->getNextNode(), terminator);

  OpBuilder builder(op);
  if (residuals) {
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(types, cast<qt::ResidualOpInterface>(op).getResidualTypes());
    Operation *complete = qt::cloneWithResults(builder, op, op->getOperands(), types);
    op->replaceAllUsesWith(complete->getResults().take_front(op->getNumResults()));
    op->erase();
    op = complete;
  }
  SmallVector<Value> cotangents(op->getNumResults());
  for (Value returned : terminator->getOperands()) {
    unsigned index = g.getNumArguments();
    EXPECT_TRUE(succeeded(g.insertArgument(index, returned.getType(), {}, g.getLoc())));
    cotangents[cast<OpResult>(returned).getResultNumber()] = g.getArgument(index);
  }
  builder.setInsertionPoint(terminator);
  SmallVector<Value> adjoint = cast<qt::DifferentiableOpInterface>(op).buildAdjoint(builder, cotangents);
  EXPECT_EQ(adjoint.size(), op->getNumOperands());
  SmallVector<std::pair<unsigned, Value>> gradients;
  for (auto [operand, gradient] : llvm::zip_equal(op->getOperands(), adjoint)) {
    if (!gradient)
      continue;
    EXPECT_EQ(cast<RankedTensorType>(gradient.getType()).getShape(),
              cast<RankedTensorType>(operand.getType()).getShape());
    gradients.push_back({cast<BlockArgument>(operand).getArgNumber(), gradient});
  }
  llvm::sort(gradients, llvm::less_first());
  SmallVector<Value> returned;
  for (auto [number, gradient] : gradients)
    returned.push_back(gradient);
  terminator->setOperands(returned);
  g.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), ValueRange(returned).getTypes()));
  EXPECT_TRUE(succeeded(verify(module.get()))) << module.diagnostics();
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module.get().print(stream);
  return printed;
}

/// The adjoint agrees with dual numbers; where the op has residuals, with them and without.
void expectAdjoint(const std::string &text, const std::vector<Datum<double>> &arguments) {
  checkAdjoint(withAdjoint(text, /*residuals=*/false), arguments);
  ParsedModule module(text);
  auto f = module.get().lookupSymbol<func::FuncOp>("f");
  if (f && isa<qt::ResidualOpInterface>(f.getBody().front().front()))
    checkAdjoint(withAdjoint(text, /*residuals=*/true), arguments);
}

/// @f(arguments) -> types of one op line that defines %y (or %y:N by `returned`).
std::string function(const std::string &arguments, const std::string &op, const std::string &types,
                     const std::string &returned = "%y") {
  return "func.func @f(" + arguments + ") -> (" + types + ") {\n" + op + "\nreturn " + returned + " : " + types + "\n}";
}

class Adjoint : public ::testing::Test {
protected:
  Tensor<double> normal(std::vector<int64_t> shape) { return randomNormal(shape, random); }

  Random random{7};
  Segments docs = Segments::ofLengths({1, 2, 0, 3, 5}, /*tail=*/2);
  int64_t tokens = docs.tokens;
};

TEST_F(Adjoint, Unary) {
  for (std::string name : {"exp", "neg", "sigmoid", "silu", "softplus"}) {
    SCOPED_TRACE(name);
    expectAdjoint(function("%x: tensor<?x3xf32>", "%y = qt." + name + " %x : tensor<?x3xf32>", "tensor<?x3xf32>"),
                  {normal({4, 3})});
  }
  expectAdjoint(function("%x: tensor<?x3xf32>", "%y = qt.scale %x by 0.3 : tensor<?x3xf32>", "tensor<?x3xf32>"),
                {normal({4, 3})});
  expectAdjoint(
      function("%x: tensor<?x3xbf16>", "%y = qt.cast %x : tensor<?x3xbf16> -> tensor<?x3xf32>", "tensor<?x3xf32>"),
      {normal({4, 3})});
}

TEST_F(Adjoint, Binary) {
  for (std::string name : {"add", "sub", "mul"})
    for (auto [rhs, shape] : {std::pair<std::string, std::vector<int64_t>>("tensor<?x2x3xf32>", {4, 2, 3}),
                              {"tensor<2x3xf32>", {2, 3}},
                              {"tensor<3xf32>", {3}}}) {
      SCOPED_TRACE(name + " " + rhs);
      expectAdjoint(function("%x: tensor<?x2x3xf32>, %r: " + rhs,
                             "%y = qt." + name + " %x, %r : tensor<?x2x3xf32>, " + rhs, "tensor<?x2x3xf32>"),
                    {normal({4, 2, 3}), normal(shape)});
    }
}

TEST_F(Adjoint, Shapes) {
  expectAdjoint(
      function("%x: tensor<?x6xf32>", "%y = qt.reshape %x : tensor<?x6xf32> -> tensor<?x2x3xf32>", "tensor<?x2x3xf32>"),
      {normal({4, 6})});
  // A dimension of size 1 that is repeated, one that is new, and one that stays 1.
  expectAdjoint(function("%x: tensor<?x1x1x3xf32>",
                         "%y = qt.broadcast %x dims [0, 2, 3, 4] : tensor<?x1x1x3xf32> -> tensor<?x2x4x1x3xf32>",
                         "tensor<?x2x4x1x3xf32>"),
                {normal({4, 1, 1, 3})});
  expectAdjoint(function("%x: tensor<2x3xf32>", "%y = qt.broadcast %x dims [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>",
                         "tensor<2x3xf32>"),
                {normal({2, 3})});
  expectAdjoint(function("%x: tensor<?x2x3xf32>",
                         "%y = qt.transpose %x [2, 0, 1] : tensor<?x2x3xf32> -> tensor<3x?x2xf32>",
                         "tensor<3x?x2xf32>"),
                {normal({4, 2, 3})});
  expectAdjoint(function("%x: tensor<4x2x3xf32>",
                         "%y = qt.reduce_sum %x dims [0, 2] : tensor<4x2x3xf32> -> tensor<2xf32>", "tensor<2xf32>"),
                {normal({4, 2, 3})});
  expectAdjoint(
      function("%x: tensor<?x6xf32>",
               "%y:3 = qt.split %x dim 1 : tensor<?x6xf32> -> tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x2xf32>",
               "tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x2xf32>", "%y#0, %y#1, %y#2"),
      {normal({4, 6})});
  expectAdjoint(function("%a: tensor<2x1xf32>, %b: tensor<2x3xf32>",
                         "%y = qt.join %a, %b dim 1 : tensor<2x1xf32>, tensor<2x3xf32> -> tensor<2x4xf32>",
                         "tensor<2x4xf32>"),
                {normal({2, 1}), normal({2, 3})});
}

TEST_F(Adjoint, PartsThatNothingDependsOnAreZeros) {
  expectAdjoint(
      function("%x: tensor<4x6xf32>",
               "%y:3 = qt.split %x dim 1 : tensor<4x6xf32> -> tensor<4x1xf32>, tensor<4x3xf32>, tensor<4x2xf32>",
               "tensor<4x3xf32>", "%y#1"),
      {normal({4, 6})});
}

TEST_F(Adjoint, Contract) {
  // Batch and contracted dimensions in other places and another order on each side.
  expectAdjoint(function("%a: tensor<2x3x4x5x6xf32>, %b: tensor<6x7x4x3x2xf32>",
                         "%y = qt.contract %a, %b batch [0, 1] x [4, 3] over [2, 4] x [2, 0] : tensor<2x3x4x5x6xf32>, "
                         "tensor<6x7x4x3x2xf32> -> tensor<2x3x5x7xf32>",
                         "tensor<2x3x5x7xf32>"),
                {normal({2, 3, 4, 5, 6}), normal({6, 7, 4, 3, 2})});
  // An outer product, and scores of attention.
  expectAdjoint(function("%a: tensor<2x3xf32>, %b: tensor<2x4xf32>",
                         "%y = qt.contract %a, %b batch [0] x [0] over [] x [] : tensor<2x3xf32>, tensor<2x4xf32> -> "
                         "tensor<2x3x4xf32>",
                         "tensor<2x3x4xf32>"),
                {normal({2, 3}), normal({2, 4})});
  expectAdjoint(function("%a: tensor<?x2x3xf32>, %b: tensor<?x2x3xf32>",
                         "%y = qt.contract %a, %b batch [1] x [1] over [2] x [2] : tensor<?x2x3xf32>, "
                         "tensor<?x2x3xf32> -> tensor<2x?x?xf32>",
                         "tensor<2x?x?xf32>"),
                {normal({4, 2, 3}), normal({4, 2, 3})});
}

TEST_F(Adjoint, Softmax) {
  expectAdjoint(function("%x: tensor<2x5xf32>", "%y = qt.softmax %x : tensor<2x5xf32>", "tensor<2x5xf32>"),
                {normal({2, 5})});
}

/// The mask's own value is infinite; what reaches the scores through it must be the cotangent where they are kept.
TEST_F(Adjoint, CausalMask) {
  std::string text =
      withAdjoint(function("%d: !qt.segments, %x: tensor<1x?x?xf32>",
                           "%y = qt.causal_mask %d, %x : !qt.segments, tensor<1x?x?xf32>", "tensor<1x?x?xf32>"),
                  /*residuals=*/false);
  ParsedModule module(text);
  Tensor<double> cotangent = normal({1, tokens, tokens});
  auto outputs =
      evaluateFunction(module.get(), "g", Inputs<double>{{docs, normal({1, tokens, tokens}), cotangent}, {}});
  ASSERT_TRUE(succeeded(outputs)) << module.diagnostics();
  const Tensor<double> &gradient = tensorOf(outputs->results.at(0));
  for (int64_t query = 0, document = 0; query < tokens; ++query) {
    while (document < docs.documents() && query >= docs.offsets[document + 1])
      ++document;
    for (int64_t key = 0; key < tokens; ++key) {
      bool kept = document < docs.documents() && key >= docs.offsets[document] && key <= query;
      EXPECT_EQ(gradient[query * tokens + key], kept ? cotangent[query * tokens + key] : 0) << query << ", " << key;
    }
  }
}

TEST_F(Adjoint, ModelOps) {
  IntTensor ids = randomIds(tokens, 7, random);
  expectAdjoint(
      function("%d: !qt.segments, %i: tensor<?xi32>, %o: tensor<?xi32> {qt.argument = #qt.argument<embedding_order>}, "
               "%w: tensor<7x3xf32>",
               "%y = qt.embedding %d, %i, %w : (!qt.segments, tensor<?xi32>, tensor<7x3xf32>) -> tensor<?x3xf32>",
               "tensor<?x3xf32>"),
      {docs, ids, embeddingOrder(docs, ids), normal({7, 3})});
  expectAdjoint(function("%x: tensor<?x3xf32>, %w: tensor<4x3xf32>",
                         "%y = qt.linear %x, %w : tensor<?x3xf32>, tensor<4x3xf32> -> tensor<?x4xf32>",
                         "tensor<?x4xf32>"),
                {normal({5, 3}), normal({4, 3})});
  expectAdjoint(function("%x: tensor<?x2x3xf32>, %w: tensor<3xf32>",
                         "%y = qt.rms_norm %x, %w eps 1.0e-3 : (tensor<?x2x3xf32>, tensor<3xf32>) -> tensor<?x2x3xf32>",
                         "tensor<?x2x3xf32>"),
                {normal({5, 2, 3}), normal({3})});
  expectAdjoint(
      function("%x: tensor<?x2x3xbf16>, %w: tensor<3xf32>",
               "%y = qt.plain_rms_norm %x, %w eps 1.0e-3 : tensor<?x2x3xbf16>, tensor<3xf32> -> tensor<?x2x3xbf16>",
               "tensor<?x2x3xbf16>"),
      {normal({5, 2, 3}), normal({3})});
  expectAdjoint(function("%x: tensor<?x2x3xf32>",
                         "%y = qt.l2_norm %x eps 1.0e-3 : tensor<?x2x3xf32> -> tensor<?x2x3xf32>", "tensor<?x2x3xf32>"),
                {normal({5, 2, 3})});
  for (std::string dims : {"2", "4", "6"})
    expectAdjoint(function("%d: !qt.segments, %x: tensor<?x2x6xf32>",
                           "%y = qt.rope %d, %x theta 1.0e2 dims " + dims + " : !qt.segments, tensor<?x2x6xf32>",
                           "tensor<?x2x6xf32>"),
                  {docs, normal({tokens, 2, 6})});
}

TEST_F(Adjoint, AddRmsNorm) {
  std::string op = "%s, %y = qt.add_rms_norm %x, %d, %w eps 1.0e-3 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>) "
                   "-> tensor<?x4xf32>, tensor<?x4xf32>";
  std::string arguments = "%x: tensor<?x4xf32>, %d: tensor<?x4xf32>, %w: tensor<4xf32>";
  std::vector<Datum<double>> values{normal({5, 4}), normal({5, 4}), normal({4})};
  expectAdjoint(function(arguments, op, "tensor<?x4xf32>, tensor<?x4xf32>", "%s, %y"), values);
  expectAdjoint(function(arguments, op, "tensor<?x4xf32>", "%y"), values);
}

/// Of the sum alone: no gradient op is needed, and the weight has none.
TEST_F(Adjoint, AddRmsNormWithoutItsNorm) {
  std::string text = withAdjoint(function("%x: tensor<?x4xf32>, %d: tensor<?x4xf32>, %w: tensor<4xf32>",
                                          "%s, %y = qt.add_rms_norm %x, %d, %w eps 1.0e-3 : (tensor<?x4xf32>, "
                                          "tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>, tensor<?x4xf32>",
                                          "tensor<?x4xf32>", "%s"),
                                 /*residuals=*/false);
  ParsedModule module(text);
  auto g = module.get().lookupSymbol<func::FuncOp>("g");
  Operation *terminator = g.getBody().front().getTerminator();
  ASSERT_EQ(terminator->getNumOperands(), 2u);
  EXPECT_EQ(terminator->getOperand(0), g.getArgument(3));
  EXPECT_EQ(terminator->getOperand(1), g.getArgument(3));
}

TEST_F(Adjoint, GatedDeltaInputs) {
  std::string op = R"(%q, %k, %v, %g, %beta = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %c, %l, %t eps 1.0e-3
    : (!qt.segments, tensor<?x14xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<14x1x4xf32>, tensor<2xf32>, tensor<2xf32>)
    -> (tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>))";
  std::string arguments = "%docs: !qt.segments, %qkv: tensor<?x14xf32>, %b: tensor<?x2xf32>, %a: tensor<?x2xf32>, %c: "
                          "tensor<14x1x4xf32>, %l: tensor<2xf32>, %t: tensor<2xf32>";
  std::vector<Datum<double>> values{
      docs,        normal({tokens, 14}), normal({tokens, 2}), normal({tokens, 2}), normal({14, 1, 4}),
      normal({2}), normal({2})};
  expectAdjoint(function(arguments, op,
                         "tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>",
                         "%q, %k, %v, %g, %beta"),
                values);
}

TEST_F(Adjoint, GatedDeltaRule) {
  docs = awkwardDocuments();
  tokens = docs.tokens;
  expectAdjoint(function("%docs: !qt.segments, %q: tensor<?x2x3xf32>, %k: tensor<?x2x3xf32>, %v: tensor<?x4x2xf32>, "
                         "%g: tensor<?x4xf32>, %beta: tensor<?x4xf32>",
                         R"(%y = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.6
    : (!qt.segments, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x4x2xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x2xf32>)",
                         "tensor<?x4x2xf32>"),
                {docs, randomNormal({tokens, 2, 3}, random, 0, 0.5), randomNormal({tokens, 2, 3}, random, 0, 0.5),
                 normal({tokens, 4, 2}), randomNormal({tokens, 4}, random, -0.5, 0.1),
                 randomNormal({tokens, 4}, random, 0.5, 0.1)});
}

TEST_F(Adjoint, GatedRmsNorm) {
  expectAdjoint(function("%x: tensor<?x2x3xf32>, %z: tensor<?x2x3xf32>, %w: tensor<3xf32>",
                         "%y = qt.gated_rms_norm %x, %z, %w eps 1.0e-3 : (tensor<?x2x3xf32>, tensor<?x2x3xf32>, "
                         "tensor<3xf32>) -> tensor<?x2x3xf32>",
                         "tensor<?x2x3xf32>"),
                {normal({5, 2, 3}), normal({5, 2, 3}), normal({3})});
}

TEST_F(Adjoint, QkNormRope) {
  std::string op = R"(%qo, %ko = qt.qk_norm_rope %docs, %q, %k, %qw, %kw eps 1.0e-3 theta 1.0e2 dims 2
    : (!qt.segments, tensor<?x4x4xf32>, tensor<?x2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x4xf32>, tensor<?x2x4xf32>)";
  std::string arguments =
      "%docs: !qt.segments, %q: tensor<?x4x4xf32>, %k: tensor<?x2x4xf32>, %qw: tensor<4xf32>, %kw: tensor<4xf32>";
  std::vector<Datum<double>> values{docs, normal({tokens, 4, 4}), normal({tokens, 2, 4}), normal({4}), normal({4})};
  expectAdjoint(function(arguments, op, "tensor<?x4x4xf32>, tensor<?x2x4xf32>", "%qo, %ko"), values);
}

TEST_F(Adjoint, Attention) {
  std::vector<Datum<double>> values{docs, normal({tokens, 4, 3}), normal({tokens, 2, 3}), normal({tokens, 2, 3})};
  std::string arguments = "%docs: !qt.segments, %q: tensor<?x4x3xf32>, %k: tensor<?x2x3xf32>, %v: tensor<?x2x3xf32>";
  expectAdjoint(function(arguments,
                         R"(%y = qt.attention %docs, %q, %k, %v scale 0.6
    : (!qt.segments, tensor<?x4x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>) -> tensor<?x4x3xf32>)",
                         "tensor<?x4x3xf32>"),
                values);
  values.push_back(normal({tokens, 4, 3}));
  expectAdjoint(function(arguments + ", %g: tensor<?x4x3xf32>",
                         R"(%y = qt.attention %docs, %q, %k, %v gate %g scale 0.6
    : (!qt.segments, tensor<?x4x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x4x3xf32>) -> tensor<?x4x3xf32>)",
                         "tensor<?x4x3xf32>"),
                values);
}

TEST_F(Adjoint, Swiglu) {
  expectAdjoint(function("%g: tensor<?x3xf32>, %u: tensor<?x3xf32>",
                         "%y = qt.swiglu %g, %u : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>",
                         "tensor<?x3xf32>"),
                {normal({5, 3}), normal({5, 3})});
}

TEST_F(Adjoint, GatherRows) {
  docs.trainedRows = {0, 3, 4, 9};
  expectAdjoint(function("%docs: !qt.segments, %x: tensor<?x3xf32>",
                         "%y = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x3xf32>) -> tensor<4x3xf32>",
                         "tensor<4x3xf32>"),
                {docs, normal({tokens, 3})});
}

TEST_F(Adjoint, LinearCrossEntropy) {
  expectAdjoint(
      function(
          "%x: tensor<?x3xf32>, %w: tensor<7x3xf32>, %l: tensor<?xi32>",
          "%y = qt.linear_cross_entropy %x, %w, %l : (tensor<?x3xf32>, tensor<7x3xf32>, tensor<?xi32>) -> tensor<f32>",
          "tensor<f32>"),
      {normal({5, 3}), normal({7, 3}), IntTensor({5}, std::vector<int64_t>{0, 6, -100, 2, 2})});
}

} // namespace
