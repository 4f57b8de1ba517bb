// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/raise/CheckRaised.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace qcc {
namespace {

/// Checks the first result of a function against each other one; the first argument is the documents, the others
/// inputs.
class CheckRaised : public ::testing::Test {
protected:
  CheckRaised() : handler_(&context_, [this](Diagnostic &diagnostic) { message_ += diagnostic.str(); }) {
    context_.loadDialect<qt::QtDialect, func::FuncDialect>();
  }

  bool same(const std::string &text) {
    modules_.push_back(parseSourceString<ModuleOp>(text, &context_));
    EXPECT_TRUE(modules_.back()) << message_;
    auto func = *modules_.back()->getOps<func::FuncOp>().begin();
    Operation *terminator = func.front().getTerminator();
    SmallVector<Value> inputs(func.getArguments().drop_front());
    return succeeded(check_(func, terminator->getOperand(0), terminator->getOperand(1), func.getArgument(0), inputs));
  }

  MLIRContext context_;
  std::string message_;
  ScopedDiagnosticHandler handler_;
  std::vector<OwningOpRef<ModuleOp>> modules_;
  RaisedCheck check_;
};

const char *const kTwice =
    R"(func.func @f(%docs: !qt.segments, %x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %a = qt.add %x, %x : tensor<?x3xf32>, tensor<?x3xf32>
  %b = qt.scale %x by 2.0 : tensor<?x3xf32>
  return %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
})";

TEST_F(CheckRaised, EqualNumbersPass) { EXPECT_TRUE(same(kTwice)) << message_; }

TEST_F(CheckRaised, DifferentNumbersAreAnError) {
  std::string text = kTwice;
  text.replace(text.find("2.0"), 3, "2.00000001");
  EXPECT_FALSE(same(text));
  EXPECT_NE(message_.find("expected the raised op to give the same numbers on random rows"), std::string::npos)
      << message_;
}

TEST_F(CheckRaised, PassingOnceDoesNotExcuseAnother) {
  EXPECT_TRUE(same(kTwice));
  std::string text = kTwice;
  text.replace(text.find("2.0"), 3, "2.5");
  EXPECT_FALSE(same(text));
  // Nor another body of the same op, shapes and operands.
  const char *scan = R"(func.func @f(%docs: !qt.segments, %x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %a = qt.scan %docs, %x state tensor<3xf32> : !qt.segments, tensor<?x3xf32> -> tensor<?x3xf32> {
  ^bb0(%s: tensor<3xf32>, %x_t: tensor<3xf32>):
    %n = qt.add %x_t, %x_t : tensor<3xf32>, tensor<3xf32>
    qt.yield %n, %n : tensor<3xf32>, tensor<3xf32>
  }
  %b = qt.scan %docs, %x state tensor<3xf32> : !qt.segments, tensor<?x3xf32> -> tensor<?x3xf32> {
  ^bb0(%s: tensor<3xf32>, %x_t: tensor<3xf32>):
    %n = qt.add OPERANDS : tensor<3xf32>, tensor<3xf32>
    qt.yield %n, %n : tensor<3xf32>, tensor<3xf32>
  }
  return %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
})";
  std::string equal = scan, different = scan;
  equal.replace(equal.find("OPERANDS"), 8, "%x_t, %x_t");
  different.replace(different.find("OPERANDS"), 8, "%s, %x_t");
  EXPECT_TRUE(same(equal)) << message_;
  EXPECT_FALSE(same(different));
}

TEST_F(CheckRaised, DocumentsMatter) {
  // A scan and a sum over all tokens differ where documents begin.
  EXPECT_FALSE(same(R"(func.func @f(%docs: !qt.segments, %x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %a = qt.scan %docs, %x state tensor<3xf32> : !qt.segments, tensor<?x3xf32> -> tensor<?x3xf32> {
  ^bb0(%s: tensor<3xf32>, %x_t: tensor<3xf32>):
    qt.yield %x_t, %x_t : tensor<3xf32>, tensor<3xf32>
  }
  return %a, %x : tensor<?x3xf32>, tensor<?x3xf32>
})"));
}

} // namespace
} // namespace qcc
