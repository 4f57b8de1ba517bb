// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qwen models of head ratios 1, 2 and 3, tied and untied, through the pipeline from the model as it is written to what
// is planned: loss, hidden states and every gradient by the reference evaluator.
#include "compiler/Pipeline.h"
#include "dialects/qt/reference/RandomInputs.h"
#include "models/qwen/Qwen35.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace qt::reference;

namespace {

constexpr double kTolerance = 1e-10;

class QwenPhases : public ::testing::TestWithParam<const char *> {
protected:
  QwenPhases() {
    std::string file = std::string(QCC_SOURCE_DIR) + "/tests/golden/" + GetParam() + "/config.json";
    qrt::StatusOr<qrt::Json> json = qrt::readJsonFile(file);
    qrt::StatusOr<qcc::qwen::Config> config = qcc::qwen::parseConfig(*json, file);
    config->dtype = qrt::DType::BF16; // with all casts
    context.loadDialect<qt::QtDialect, func::FuncDialect>();
    module = qcc::qwen::buildModel(context, *config);
    options.remat = qt::RematPolicy::MemoryBound;
  }

  template <typename Scalar>
  Outputs<Scalar> evaluate(const std::string &name, const RowSpec &row, const TensorMap &direction = {}) {
    FailureOr<Inputs<double>> inputs = randomInputs(*module, name, row, /*seed=*/7);
    EXPECT_TRUE(succeeded(inputs));
    if constexpr (std::is_same_v<Scalar, Dual>)
      return *evaluateFunction(*module, name, along(*inputs, direction));
    else
      return *evaluateFunction(*module, name, *inputs);
  }

  /// The tensors are the same where the shorter ones (a row without its bucket's tail) have elements.
  static void expectSame(const TensorMap &actual, const TensorMap &expected, qcc::Phase phase) {
    ASSERT_EQ(actual.size(), expected.size());
    for (auto &[name, tensor] : expected) {
      const Tensor<double> &other = actual.at(name);
      ASSERT_GE(other.size(), tensor.size());
      Tensor<double> head(tensor.shape(), std::vector<double>(other.data(), other.data() + tensor.size()));
      EXPECT_LE(relativeDifference(head, tensor), kTolerance) << qt::stringifyPhase(phase).str() << ": " << name;
    }
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  qcc::PipelineOptions options;
};
INSTANTIATE_TEST_SUITE_P(Models, QwenPhases, ::testing::Values("tiny_long", "tiny_tied", "tiny_untied"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(QwenPhases, SameGradientsInEachPhase) {
  const std::vector<RowSpec> rows = {{.lengths = {129, 1, 64, 3, 0, 127}}, {.lengths = {2, 63, 128, 65}}};
  options.buckets = {qrt::BucketShape{336, 8, 129, 320}};
  const std::string suffix = "." + qrt::printBucket(options.buckets[0]);

  // Of the model as written: values, and one derivative for each row.
  TensorMap direction = randomDirection(*module, 8);
  std::vector<Outputs<Dual>> written;
  for (const RowSpec &row : rows)
    written.push_back(evaluate<Dual>("model", row, direction));

  std::vector<Outputs<double>> grad;
  for (qcc::Phase phase :
       {qcc::Phase::Grad, qcc::Phase::Bucketed, qcc::Phase::Sharded, qcc::Phase::Fused, qcc::Phase::Remat}) {
    ASSERT_TRUE(succeeded(qcc::compileTo(*module, phase, options)));
    for (size_t i = 0; i < rows.size(); ++i) {
      Outputs<double> step = evaluate<double>(phase == qcc::Phase::Grad ? "step" : "step" + suffix, rows[i]);
      double loss = std::get<Tensor<double>>(step.results[0])[0];
      TensorMap gradients(step.gradients.begin(), step.gradients.end()), hidden(step.hidden.begin(), step.hidden.end());
      if (phase == qcc::Phase::Grad) {
        Dual expected = std::get<Tensor<Dual>>(written[i].results[0])[0];
        EXPECT_LE(relativeDifference(loss, expected.value), kTolerance);
        FailureOr<Inputs<double>> inputs = randomInputs(*module, "step", rows[i], 7);
        auto function = module->lookupSymbol<func::FuncOp>("step");
        double inverse = 0;
        for (BlockArgument argument : function.getArguments())
          if (auto role = function.getArgAttrOfType<qt::ArgumentRoleAttr>(argument.getArgNumber(), qt::kArgumentAttr);
              role.getValue() == qt::ArgumentRole::InverseTokens)
            inverse = std::get<Tensor<double>>(inputs->arguments[argument.getArgNumber()])[0];
        EXPECT_EQ(gradients.size(), direction.size());
        EXPECT_LE(relativeDifference(innerProduct(gradients, direction), expected.derivative * inverse), kTolerance);
        TensorMap expectedHidden;
        for (auto &[name, tensor] : written[i].hidden)
          expectedHidden[name] = valuesOf(tensor);
        expectSame(hidden, expectedHidden, phase);
        EXPECT_EQ(step.hiddenGradients.size(), hidden.size());
        grad.push_back(std::move(step));
        continue;
      }
      EXPECT_LE(relativeDifference(loss, std::get<Tensor<double>>(grad[i].results[0])[0]), kTolerance);
      EXPECT_LE(relativeDifference(std::get<Tensor<double>>(step.results[1])[0],
                                   std::get<Tensor<double>>(grad[i].results[1])[0]),
                kTolerance);
      expectSame(gradients, {grad[i].gradients.begin(), grad[i].gradients.end()}, phase);
      expectSame(hidden, {grad[i].hidden.begin(), grad[i].hidden.end()}, phase);
    }
  }
}

/// One document of a row's inputs, alone in a row of its own. 1/N stays that of the whole row.
Inputs<double> documentAlone(func::FuncOp function, const Inputs<double> &row, int64_t document) {
  Inputs<double> alone = row;
  auto roleOf = [&](size_t i) {
    return function.getArgAttrOfType<qt::ArgumentRoleAttr>(static_cast<unsigned>(i), qt::kArgumentAttr).getValue();
  };
  const Segments *docs = nullptr;
  for (const Datum<double> &argument : row.arguments)
    if (auto *segments = std::get_if<Segments>(&argument))
      docs = segments;
  int64_t begin = docs->begin(document), length = docs->end(document) - begin;
  IntTensor ids, labels;
  for (size_t i = 0; i < alone.arguments.size(); ++i)
    if (roleOf(i) == qt::ArgumentRole::Ids || roleOf(i) == qt::ArgumentRole::Labels) {
      const int64_t *data = std::get<IntTensor>(row.arguments[i]).data();
      IntTensor part({length}, std::vector<int64_t>(data + begin, data + begin + length));
      alone.arguments[i] = part;
      (roleOf(i) == qt::ArgumentRole::Ids ? ids : labels) = part;
    }
  Segments single = Segments::ofLengths({length}).withTrained(labels);
  for (size_t i = 0; i < alone.arguments.size(); ++i) {
    if (roleOf(i) == qt::ArgumentRole::Segments)
      alone.arguments[i] = single;
    if (roleOf(i) == qt::ArgumentRole::EmbeddingOrder)
      alone.arguments[i] = embeddingOrder(single, ids);
  }
  return alone;
}

// Documents that share a row have the loss and the gradients that they have alone.
TEST_P(QwenPhases, PackedEqualsAlone) {
  ASSERT_TRUE(succeeded(qcc::compileTo(*module, qcc::Phase::Grad, options)));
  auto step = module->lookupSymbol<func::FuncOp>("step");
  RowSpec row{.lengths = {129, 1, 64, 3, 0, 127, 2, 63, 65, 128}};
  FailureOr<Inputs<double>> inputs = randomInputs(*module, "step", row, /*seed=*/3);
  ASSERT_TRUE(succeeded(inputs));
  FailureOr<Outputs<double>> packed = evaluateFunction(*module, "step", *inputs);
  ASSERT_TRUE(succeeded(packed));

  double loss = 0;
  TensorMap gradients;
  for (size_t document = 0; document < row.lengths.size(); ++document) {
    if (row.lengths[document] == 0)
      continue;
    FailureOr<Outputs<double>> alone =
        evaluateFunction(*module, "step", documentAlone(step, *inputs, static_cast<int64_t>(document)));
    ASSERT_TRUE(succeeded(alone));
    loss += std::get<Tensor<double>>(alone->results[0])[0];
    for (auto &[name, gradient] : alone->gradients) {
      auto [sum, isNew] = gradients.try_emplace(name, gradient);
      for (int64_t i = 0; !isNew && i < gradient.size(); ++i)
        sum->second[i] += gradient[i];
    }
  }
  EXPECT_LE(relativeDifference(loss, std::get<Tensor<double>>(packed->results[0])[0]), kTolerance);
  expectSame(gradients, {packed->gradients.begin(), packed->gradients.end()}, qcc::Phase::Grad);
}

} // namespace
