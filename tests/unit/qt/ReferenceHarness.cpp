// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/qt/ReferenceHarness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace qt::reference {

ParsedModule::ParsedModule(const std::string &text) {
  context_.loadDialect<QtDialect, func::FuncDialect>();
  context_.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    diagnostics_ += diagnostic.str() + "\n";
    return success();
  });
  module_ = parseSourceString<ModuleOp>(text, &context_);
  EXPECT_TRUE(module_) << diagnostics_;
  if (!module_)
    module_ = ModuleOp::create(UnknownLoc::get(&context_));
}

std::vector<Datum<double>> evaluateText(const std::string &text, std::vector<Datum<double>> arguments) {
  ParsedModule module(text);
  return module.run(Inputs<double>{std::move(arguments), {}}).results;
}

std::string evaluationError(const std::string &text, const Inputs<double> &inputs) {
  ParsedModule module(text);
  EXPECT_TRUE(failed(evaluateFunction(module.get(), "f", inputs)));
  return module.diagnostics();
}

::testing::AssertionResult agree(const Tensor<double> &actual, const Tensor<double> &expected, double tolerance) {
  if (actual.shape() != expected.shape())
    return ::testing::AssertionFailure() << "the shapes differ";
  double magnitude = 0;
  for (double element : expected.elements())
    magnitude = std::max(magnitude, std::abs(element));
  for (int64_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= tolerance * magnitude) && actual[i] != expected[i])
      return ::testing::AssertionFailure() << "element " << i << " is " << actual[i] << ", expected " << expected[i];
  return ::testing::AssertionSuccess();
}

Segments awkwardDocuments() { return Segments::ofLengths({1, 2, 0, 3, 63, 64, 0, 65, 5}, /*tail=*/7); }

} // namespace qt::reference
