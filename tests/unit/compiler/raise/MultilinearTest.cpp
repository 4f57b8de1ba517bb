// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/raise/Multilinear.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace qcc {
namespace {

/// The normal form of what a function of the leaves x, y, ... returns first.
class Multilinears : public ::testing::Test {
protected:
  Multilinears() { context_.loadDialect<qt::QtDialect, func::FuncDialect>(); }

  FailureOr<Form> formOf(const std::string &arguments, const std::string &body, const std::string &result) {
    module_ = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") -> " + result + " {\n" + body + "\nreturn %r : " + result + "\n}", &context_);
    EXPECT_TRUE(module_);
    auto func = *module_->getOps<func::FuncOp>().begin();
    SmallVector<Value> leaves(func.getArguments());
    SmallVector<std::string> names = {"x", "y", "z"};
    names.resize(leaves.size());
    forms_.emplace(leaves, names);
    return forms_->of(func.front().getTerminator()->getOperand(0), why_, where_);
  }
  std::string text(const std::string &arguments, const std::string &body, const std::string &result) {
    FailureOr<Form> form = formOf(arguments, body, result);
    return succeeded(form) ? forms_->text(*form) : why_;
  }

  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
  std::optional<Multilinear> forms_;
  std::string why_;
  Operation *where_ = nullptr;
};

TEST_F(Multilinears, WhatCancelsIsZero) {
  EXPECT_EQ(text("%x: tensor<2x3xf32>", R"(%a = qt.scale %x by 3.0 : tensor<2x3xf32>
    %b = qt.add %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
    %c = qt.sub %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
    %r = qt.sub %c, %x : tensor<2x3xf32>, tensor<2x3xf32>)",
                 "tensor<2x3xf32>"),
            "nothing");
}

TEST_F(Multilinears, SquareExpands) {
  EXPECT_EQ(text("%x: tensor<2xf32>, %y: tensor<2xf32>", R"(%s = qt.sub %x, %y : tensor<2xf32>, tensor<2xf32>
    %r = qt.mul %s, %s : tensor<2xf32>, tensor<2xf32>)",
                 "tensor<2xf32>"),
            "x[a] x[a] + -2 x[a] y[a] + y[a] y[a]");
}

TEST_F(Multilinears, RightSideIsRepeatedAlongLeadingDimensions) {
  EXPECT_EQ(text("%x: tensor<2x3xf32>, %y: tensor<3xf32>", "%r = qt.mul %x, %y : tensor<2x3xf32>, tensor<3xf32>",
                 "tensor<2x3xf32>"),
            "x[a,b] y[b]");
}

TEST_F(Multilinears, ContractionAndItsSpellingByReductionAgree) {
  EXPECT_EQ(text("%x: tensor<2x3xf32>, %y: tensor<2x3x4xf32>",
                 "%r = qt.contract %y, %x batch [0] x [0] over [1] x [1] : tensor<2x3x4xf32>, tensor<2x3xf32> -> "
                 "tensor<2x4xf32>",
                 "tensor<2x4xf32>"),
            "x[a,s] y[a,s,b]");
  EXPECT_EQ(text("%x: tensor<2x3xf32>, %y: tensor<2x3x4xf32>",
                 R"(%b = qt.broadcast %x dims [0, 1] : tensor<2x3xf32> -> tensor<2x3x4xf32>
    %p = qt.mul %y, %b : tensor<2x3x4xf32>, tensor<2x3x4xf32>
    %r = qt.reduce_sum %p dims [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>)",
                 "tensor<2x4xf32>"),
            "x[a,s] y[a,s,b]");
}

TEST_F(Multilinears, SumOverARepeatedDimensionIsAMultiple) {
  EXPECT_EQ(text("%x: tensor<2xf32>", R"(%b = qt.broadcast %x dims [0] : tensor<2xf32> -> tensor<2x5xf32>
    %r = qt.reduce_sum %b dims [1] : tensor<2x5xf32> -> tensor<2xf32>)",
                 "tensor<2xf32>"),
            "5 x[a]");
}

TEST_F(Multilinears, NamesOfSummedIndicesDoNotMatter) {
  // x x^T x with the two sums nested one way and the other.
  const char *arguments = "%x: tensor<3x3xf32>";
  const char *left =
      R"(%p = qt.contract %x, %x batch [] x [] over [1] x [1] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
    %r = qt.contract %p, %x batch [] x [] over [1] x [0] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>)";
  const char *right =
      R"(%p = qt.contract %x, %x batch [] x [] over [0] x [0] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
    %r = qt.contract %x, %p batch [] x [] over [1] x [0] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>)";
  std::string first = text(arguments, left, "tensor<3x3xf32>");
  EXPECT_EQ(first, text(arguments, right, "tensor<3x3xf32>"));
  // But x^T x x is another product.
  const char *other =
      R"(%p = qt.contract %x, %x batch [] x [] over [0] x [1] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
    %r = qt.contract %x, %p batch [] x [] over [1] x [0] : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>)";
  EXPECT_NE(first, text(arguments, other, "tensor<3x3xf32>"));
}

TEST_F(Multilinears, ExponentialIsAnAtomOfItsOwn) {
  EXPECT_EQ(text("%x: tensor<2xf32>, %y: tensor<2xf32>", R"(%e = qt.exp %x : tensor<2xf32>
    %p = qt.mul %e, %x : tensor<2xf32>, tensor<2xf32>
    %r = qt.mul %p, %y : tensor<2xf32>, tensor<2xf32>)",
                 "tensor<2xf32>"),
            "x[a] exp(x)[a] y[a]");
  EXPECT_EQ(text("%x: tensor<2xf32>, %y: tensor<2xf32>", R"(%z = qt.zeros : tensor<2xf32>
    %r = qt.exp %z : tensor<2xf32>)",
                 "tensor<2xf32>"),
            "1");
}

TEST_F(Multilinears, OtherFunctionsHaveNoForm) {
  EXPECT_EQ(text("%x: tensor<2xf32>", R"(%e = qt.exp %x : tensor<2xf32>
    %r = qt.exp %e : tensor<2xf32>)",
                 "tensor<2xf32>"),
            "got exp of exp(x)[a]");
  EXPECT_EQ(text("%x: tensor<2xf32>, %y: tensor<2xf32>", R"(%p = qt.add %x, %y : tensor<2xf32>, tensor<2xf32>
    %r = qt.exp %p : tensor<2xf32>)",
                 "tensor<2xf32>"),
            "got exp of x[a] + y[a]");
  EXPECT_EQ(text("%x: tensor<2xf32>", "%r = qt.sigmoid %x : tensor<2xf32>", "tensor<2xf32>"), "got qt.sigmoid");
  EXPECT_EQ(
      text("%x: tensor<1xf32>", "%r = qt.broadcast %x dims [0] : tensor<1xf32> -> tensor<2xf32>", "tensor<2xf32>"),
      "got qt.broadcast of a dimension of size 1");
}

TEST_F(Multilinears, TooManyTermsAreRefused) {
  std::string body = "%p0 = qt.add %x, %y : tensor<2xf32>, tensor<2xf32>\n";
  for (int i = 0; i < 7; ++i)
    body += "%p" + std::to_string(i + 1) + " = qt.mul %p" + std::to_string(i) + ", %p" + std::to_string(i) +
            " : tensor<2xf32>, tensor<2xf32>\n";
  body += "%r = qt.neg %p7 : tensor<2xf32>";
  EXPECT_EQ(text("%x: tensor<2xf32>, %y: tensor<2xf32>", body, "tensor<2xf32>"), "got a product of too many terms");
}

TEST_F(Multilinears, CoefficientsAreComparedUpToRounding) {
  FailureOr<Form> a = formOf("%x: tensor<2xf32>", R"(%p = qt.scale %x by 0.1 : tensor<2xf32>
    %r = qt.scale %p by 3.0 : tensor<2xf32>)",
                             "tensor<2xf32>");
  FailureOr<Form> b = formOf("%x: tensor<2xf32>", "%r = qt.scale %x by 0.3 : tensor<2xf32>", "tensor<2xf32>");
  FailureOr<Form> c = formOf("%x: tensor<2xf32>", "%r = qt.scale %x by 0.3001 : tensor<2xf32>", "tensor<2xf32>");
  ASSERT_TRUE(succeeded(a) && succeeded(b) && succeeded(c));
  EXPECT_TRUE(sameForm(*a, *b));
  EXPECT_FALSE(sameForm(*a, *c));
}

} // namespace
} // namespace qcc
