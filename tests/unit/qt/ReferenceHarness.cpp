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

std::string with(std::string text, const std::map<std::string, std::string> &values) {
  // A value may hold names itself.
  for (bool found = true; found;) {
    found = false;
    for (auto &[name, value] : values)
      for (size_t at; (at = text.find("$" + name)) != std::string::npos; found = true)
        text.replace(at, name.size() + 1, value);
  }
  return text;
}

std::vector<Tensor<double>> checkAdjoint(const std::string &text, const std::vector<Datum<double>> &arguments,
                                         double tolerance) {
  ParsedModule module(text);
  Random random(42);
  Inputs<double> inputs{arguments, {}};
  std::vector<Tensor<double>> cotangents;
  for (const Datum<double> &value : module.run(inputs).results) {
    cotangents.push_back(randomNormal(tensorOf(value).shape(), random));
    inputs.arguments.push_back(cotangents.back());
  }
  FailureOr<Outputs<double>> outputs = evaluateFunction(module.get(), "g", inputs);
  EXPECT_TRUE(succeeded(outputs)) << module.diagnostics();
  if (failed(outputs))
    return {};
  std::vector<Tensor<double>> gradients;
  for (const Datum<double> &value : outputs->results)
    gradients.push_back(tensorOf(value));

  size_t next = 0;
  for (size_t moving = 0; moving < arguments.size(); ++moving) {
    if (!std::holds_alternative<Tensor<double>>(arguments[moving]))
      continue;
    if (next == gradients.size()) {
      ADD_FAILURE() << "@g gives no gradient of argument " << moving;
      break;
    }
    Inputs<Dual> dual;
    for (const Datum<double> &argument : arguments)
      dual.arguments.push_back(toDual(argument));
    Tensor<double> direction = randomNormal(tensorOf(arguments[moving]).shape(), random);
    dual.arguments[moving] = toDual(tensorOf(arguments[moving]), &direction);
    double expected = 0;
    std::vector<Datum<Dual>> results = module.run(dual).results;
    for (size_t i = 0; i < results.size(); ++i)
      expected += innerProduct(cotangents[i], derivativesOf(std::get<Tensor<Dual>>(results[i])));
    double actual = innerProduct(gradients[next], direction);
    EXPECT_NE(expected, 0) << "argument " << moving << " has no influence";
    EXPECT_LE(relativeDifference(actual, expected), tolerance) << "in argument " << moving;
    ++next;
  }
  EXPECT_EQ(next, gradients.size());
  return gradients;
}

void expectTailUnread(const std::string &text, const Segments &docs, std::vector<Datum<double>> arguments) {
  ASSERT_LT(docs.used(), docs.tokens);
  std::vector<Datum<double>> expected = evaluateText(text, arguments);
  for (Datum<double> &argument : arguments)
    if (auto *rows = std::get_if<Tensor<double>>(&argument); rows && rows->rank() > 0 && rows->dim(0) == docs.tokens)
      std::fill(rows->at(docs.used()), rows->data() + rows->size(), std::nan(""));
  std::vector<Datum<double>> actual = evaluateText(text, std::move(arguments));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(tensorOf(actual[i]).elements(), tensorOf(expected[i]).elements()) << "result " << i;
    const Tensor<double> &rows = tensorOf(actual[i]);
    if (rows.rank() > 0 && rows.dim(0) == docs.tokens)
      for (const double *element = rows.at(docs.used()); element != rows.data() + rows.size(); ++element)
        ASSERT_EQ(*element, 0) << "in the tail of result " << i;
  }
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

Segments awkwardDocuments(uint64_t seed) {
  std::vector<int64_t> lengths = {1, 2, 0, 3, 63, 64, 0, 65, 5};
  Random random(seed);
  for (int64_t i = static_cast<int64_t>(lengths.size()) - 1; i > 0; --i)
    std::swap(lengths[i], lengths[random.below(i + 1)]);
  return Segments::ofLengths(lengths, /*tail=*/7);
}

std::vector<Datum<double>> deltaInputs(const Segments &docs, int64_t heads, uint64_t seed) {
  Random random(seed);
  int64_t tokens = docs.tokens;
  Tensor<double> g = randomNormal({tokens, heads}, random), beta = randomNormal({tokens, heads}, random);
  for (double &decay : g.elements())
    decay = -0.3 * std::abs(decay);
  for (double &strength : beta.elements())
    strength = 1 / (1 + std::exp(-strength));
  return {docs,
          randomNormal({tokens, 2, 4}, random, 0, 0.5),
          randomNormal({tokens, 2, 4}, random, 0, 0.5),
          randomNormal({tokens, heads, 3}, random),
          g,
          beta};
}

} // namespace qt::reference
