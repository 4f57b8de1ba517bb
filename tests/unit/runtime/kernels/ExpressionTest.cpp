// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/kernels/Expression.h"

#include "runtime/kernels/Signature.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>

using namespace qrt;

namespace {

/// 3 inputs, silu(value 0) * value 1, and half of that.
Expression someExpression() {
  return {{{ExpressionOp::Silu, 0}, {ExpressionOp::Mul, 3, 1}, {ExpressionOp::Scale, 4, 0, 0.5}}, {4, 5}};
}

std::string complaint(const Expression &expression, int64_t inputs = 3, int64_t results = 2) {
  return checkExpression(expression, inputs, results).message();
}

std::optional<TensorShape> shape(DType dtype, std::vector<int64_t> dims) { return denseShape(dtype, dims); }

/// Of a call of `pointwise` that writes two results.
std::string callComplaint(std::vector<std::optional<TensorShape>> args, const Expression *expression) {
  std::vector<ArgEffect> effects(args.size(), ArgEffect::Read);
  for (size_t i = 0; i < kMaxExpressionResults; ++i)
    effects[i] = ArgEffect::Write;
  return checkCall(Kernel::Pointwise, args, effects, {}, {}, expression).message();
}

} // namespace

TEST(Expression, OneThatIsRight) {
  EXPECT_EQ(complaint(someExpression()), "");
  EXPECT_EQ(complaint({{}, {0}}, 1, 1), "") << "a cast has no step";
  EXPECT_EQ(expressionFlops(someExpression()), 7);
  EXPECT_EQ(printStep(someExpression(), 1, 3), "4: mul(3, 1)");
  EXPECT_EQ(printStep(someExpression(), 2, 3), "5: scale(4, 0.5)");
}

TEST(Expression, EveryMistakeIsNamed) {
  Expression wrong = someExpression();
  wrong.steps[1].a = 4;
  EXPECT_EQ(complaint(wrong), "expression: value 4: mul: expected operands of the 4 values before it, got 4");
  wrong = someExpression();
  wrong.steps[1].b = 60000;
  EXPECT_EQ(complaint(wrong), "expression: value 4: mul: expected operands of the 4 values before it, got 60000");
  wrong = someExpression();
  wrong.steps[0].b = 1;
  EXPECT_EQ(complaint(wrong), "expression: value 3: silu: expected one operand, got another, 1");
  wrong = someExpression();
  wrong.steps[0].op = static_cast<ExpressionOp>(kNumExpressionOps);
  EXPECT_EQ(complaint(wrong), fmt::format("expression: value 3: unknown operation {}", kNumExpressionOps));
  wrong = someExpression();
  wrong.steps[2].constant = 1e300;
  EXPECT_EQ(complaint(wrong),
            "expression: value 5: scale: expected a constant that is finite in f32, got the constant 1e+300");
  // The least beyond f32, NaN and infinity.
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (double constant :
       {std::nextafter(kLargest, HUGE_VAL), -std::nextafter(kLargest, HUGE_VAL), std::nan(""), HUGE_VAL}) {
    wrong.steps[2].constant = constant;
    EXPECT_NE(complaint(wrong), "") << constant;
  }
  wrong.steps[2].constant = -kLargest;
  EXPECT_EQ(complaint(wrong), "");
  wrong = someExpression();
  wrong.steps[1].constant = 2;
  EXPECT_EQ(complaint(wrong), "expression: value 4: mul: expected no constant, got the constant 2");
  wrong = someExpression();
  wrong.results[1] = 6;
  EXPECT_EQ(complaint(wrong), "expression: expected results of its 6 values, got 6");
  EXPECT_EQ(complaint(someExpression(), 3, 3), "expression: expected a value for each of 3 results, got 2");
  EXPECT_EQ(complaint(someExpression(), 0), "expression: expected 1 to 16 inputs, got 0");
  EXPECT_EQ(complaint(someExpression(), 17), "expression: expected 1 to 16 inputs, got 17");
  wrong = someExpression();
  wrong.steps.resize(65, wrong.steps[0]);
  EXPECT_EQ(complaint(wrong), "expression: expected at most 64 steps, got 65");
  EXPECT_EQ(complaint({{}, {0, 0, 0, 0, 0}}, 1, 5), "expression: expected 1 to 4 results, got 5");
}

TEST(Expression, CallsOfPointwise) {
  Expression expression = someExpression();
  auto y = shape(DType::F32, {8, 3, 16}), x = shape(DType::BF16, {8, 3, 16});
  using Args = std::vector<std::optional<TensorShape>>;
  auto row = shape(DType::F32, {16}), column = shape(DType::F32, {8, 1, 1}), other = shape(DType::F32, {8});
  EXPECT_EQ(callComplaint(Args{y, x, {}, {}, x, row, column}, &expression), "");
  EXPECT_EQ(callComplaint(Args{y, x, {}, {}, x, row, column}, nullptr), "expected an expression, got none");
  EXPECT_EQ(callComplaint(Args{y, x, {}, {}, x, row, other}, &expression),
            "argument 'inputs': expected the last dimensions of f32[8, 3, 16], or 1 in their place, got f32[8]");
  EXPECT_EQ(callComplaint(Args{y, {}, x, {}, x, row, column}, &expression),
            "argument 'y2': expected results from the first on, got one after an absent one");
  EXPECT_EQ(callComplaint(Args{y, row, {}, {}, x, row, column}, &expression),
            "argument 'y1': expected f32|bf16[shape...] with shape = 8x3x16, got f32[16]");
  Args add{shape(DType::F32, {4}), shape(DType::F32, {4})};
  std::array effects{ArgEffect::InOut, ArgEffect::Read};
  EXPECT_EQ(checkCall(Kernel::Add, add, effects, {}, {}, &expression).message(),
            "only calls of pointwise have an expression");
}
