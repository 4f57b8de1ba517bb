// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the reference evaluator share: IR from text, values in and out.
#ifndef TESTS_UNIT_QT_REFERENCEHARNESS_H
#define TESTS_UNIT_QT_REFERENCEHARNESS_H

#include "dialects/qt/Qt.h"
#include "dialects/qt/reference/Evaluator.h"
#include "dialects/qt/reference/RandomInputs.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

namespace qt::reference {

/// A module from text, with the diagnostics that its evaluation emits.
class ParsedModule {
public:
  explicit ParsedModule(const std::string &text);
  ParsedModule(const ParsedModule &) = delete;

  mlir::ModuleOp get() { return *module_; }
  mlir::MLIRContext &context() { return context_; }
  /// What was emitted so far, one message a line.
  const std::string &diagnostics() const { return diagnostics_; }

  /// Evaluates @f; a failure fails the test and gives no results.
  template <typename Scalar> Outputs<Scalar> run(const Inputs<Scalar> &inputs) {
    mlir::FailureOr<Outputs<Scalar>> outputs = evaluateFunction(get(), "f", inputs);
    EXPECT_TRUE(mlir::succeeded(outputs)) << diagnostics_;
    return mlir::succeeded(outputs) ? std::move(*outputs) : Outputs<Scalar>();
  }

private:
  mlir::MLIRContext context_;
  std::string diagnostics_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

/// Evaluates @f of the text on arguments, without symbols.
std::vector<Datum<double>> evaluateText(const std::string &text, std::vector<Datum<double>> arguments);

/// The message of an evaluation that must fail.
std::string evaluationError(const std::string &text, const Inputs<double> &inputs);

inline const Tensor<double> &tensorOf(const Datum<double> &value) { return std::get<Tensor<double>>(value); }

/// Whether tensors agree: the largest difference of elements over the largest magnitude.
::testing::AssertionResult agree(const Tensor<double> &actual, const Tensor<double> &expected,
                                 double tolerance = 1e-12);

/// The text with each `$NAME` replaced by its value.
std::string with(std::string text, const std::map<std::string, std::string> &values);

/// Checks an adjoint: `text` holds @f(arguments) -> values, and @g(arguments, a cotangent for each value) -> a gradient
/// for each argument of numbers. For each of these, the directional derivative of @f by dual numbers, seen by random
/// cotangents, must be that of the gradient. All tensors of @f's results that are numbers get a cotangent. Returns the
/// gradients.
std::vector<Tensor<double>> checkAdjoint(const std::string &text, const std::vector<Datum<double>> &arguments,
                                         double tolerance = 1e-10);

/// Evaluates @f of `text` on the arguments, and again with the tail rows of each argument whose first dimension counts
/// tokens set to NaN: no result may differ by a bit, since ops that mix tokens read nothing there.
void expectTailUnread(const std::string &text, const Segments &docs, std::vector<Datum<double>> arguments);

/// Documents of awkward lengths around the chunk of 64 tokens, empty ones among them, in an order drawn from the seed,
/// and a tail.
Segments awkwardDocuments(uint64_t seed = 0);

/// Documents, q and k [tokens, 2, 4], v [tokens, heads, 3], g (not positive) and beta (in (0, 1)) [tokens, heads] of a
/// gated delta rule.
std::vector<Datum<double>> deltaInputs(const Segments &docs, int64_t heads, uint64_t seed);

} // namespace qt::reference

#endif // TESTS_UNIT_QT_REFERENCEHARNESS_H
