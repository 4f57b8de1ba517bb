// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Raising and forming change no number: the evaluator gives the same loss, hidden states and directional derivatives
// for the model as it is written, raised and formed.
#include "compiler/Passes.h"
#include "dialects/qt/reference/RandomInputs.h"
#include "models/qwen/Qwen35.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace qt::reference;

namespace qcc {
namespace {

constexpr double kTolerance = 1e-10;

class FormedModel : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string file = std::string(QCC_SOURCE_DIR) + "/tests/golden/" + GetParam() + "/config.json";
    qrt::StatusOr<qrt::Json> json = qrt::readJsonFile(file);
    ASSERT_TRUE(json.ok()) << json.status().message();
    qrt::StatusOr<qwen::Config> config = qwen::parseConfig(*json, file);
    ASSERT_TRUE(config.ok()) << config.status().message();
    config->dtype = qrt::DType::BF16; // with all casts
    context_.loadDialect<qt::QtDialect, func::FuncDialect>();
    module_ = qwen::buildModel(context_, *config);
  }

  template <typename... Passes> void run(Passes... passes) {
    PassManager manager(&context_);
    (manager.addPass(std::move(passes)), ...);
    ASSERT_TRUE(succeeded(manager.run(*module_)));
  }
  void raise() { run(createRaiseGatedDelta(), createRaiseAttention(), createVerifyRaised()); }
  void form() {
    run(createFormGatedDeltaInputs(), createFormGatedNorm(), createFormQkNormRope(), createFormAttentionGate(),
        createFormSwiglu(), createFormAddNorm(), createFormLinearCrossEntropy(), createFormParameterPacks(),
        createVerifyFormed());
  }

  /// Values and derivatives along one direction, the same in each phase.
  Outputs<Dual> evaluate(const RowSpec &row) {
    FailureOr<Inputs<double>> inputs = randomInputs(*module_, "model", row, /*seed=*/7);
    EXPECT_TRUE(succeeded(inputs));
    FailureOr<Outputs<Dual>> outputs =
        evaluateFunction(*module_, "model", along(*inputs, randomDirection(*module_, /*seed=*/8)));
    EXPECT_TRUE(succeeded(outputs));
    return *outputs;
  }
  static void expectSame(const Outputs<Dual> &actual, const Outputs<Dual> &expected, const char *phase) {
    auto compare = [&](const std::string &name, const Tensor<Dual> &x, const Tensor<Dual> &y) {
      EXPECT_LE(relativeDifference(valuesOf(x), valuesOf(y)), kTolerance) << phase << ": " << name;
      EXPECT_LE(relativeDifference(derivativesOf(x), derivativesOf(y)), kTolerance)
          << phase << ": derivative, " << name;
    };
    compare("loss", std::get<Tensor<Dual>>(actual.results[0]), std::get<Tensor<Dual>>(expected.results[0]));
    ASSERT_EQ(actual.hidden.size(), expected.hidden.size());
    for (const auto &[name, tensor] : expected.hidden)
      compare(name, actual.hidden.at(name), tensor);
  }

  MLIRContext context_{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module_;
};

// Head ratios 3, 2, 1 and 3; tied and untied.
INSTANTIATE_TEST_SUITE_P(Models, FormedModel, ::testing::Values("tiny_untied", "tiny_tied", "wide_r1", "wide_r3"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(FormedModel, SameNumbersInEachPhase) {
  const RowSpec rows[] = {{.lengths = {1, 2, 3, 0, 65}, .tail = 5}, {.lengths = {64, 63}}, {.lengths = {9}, .tail = 1}};
  std::vector<Outputs<Dual>> written;
  for (const RowSpec &row : rows)
    written.push_back(evaluate(row));
  raise();
  for (size_t i = 0; i < std::size(rows); ++i)
    expectSame(evaluate(rows[i]), written[i], "raised");
  form();
  for (size_t i = 0; i < std::size(rows); ++i)
    expectSame(evaluate(rows[i]), written[i], "formed");
}

} // namespace
} // namespace qcc
