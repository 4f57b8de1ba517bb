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

/// Documents of awkward lengths, empty ones among them, and a tail: around the chunk of 64 tokens.
Segments awkwardDocuments();

} // namespace qt::reference

#endif // TESTS_UNIT_QT_REFERENCEHARNESS_H
