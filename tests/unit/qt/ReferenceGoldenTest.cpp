// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model as written in the DSL, evaluated, against values that transformers computed in f64
// (tests/golden/make_golden.py): the reference evaluator and the model are right together.
#include "models/qwen/Qwen35.h"
#include "runtime/data/Checkpoint.h"
#include "tests/unit/qt/ReferenceHarness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace qt::reference;

namespace {

class ReferenceGolden : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    directory_ = std::string(QCC_SOURCE_DIR) + "/tests/golden/" + GetParam();
    qrt::StatusOr<qrt::Json> json = qrt::readJsonFile(directory_ + "/config.json");
    ASSERT_TRUE(json.ok()) << json.status().message();
    qrt::StatusOr<qcc::qwen::Config> config = qcc::qwen::parseConfig(*json, directory_);
    ASSERT_TRUE(config.ok()) << config.status().message();
    config->dtype = qrt::DType::F32;
    context_.loadDialect<qt::QtDialect, mlir::func::FuncDialect>();
    module_ = qcc::qwen::buildModel(context_, *config);
    qrt::StatusOr<qrt::Json> golden = qrt::readJsonFile(directory_ + "/golden.json");
    ASSERT_TRUE(golden.ok()) << golden.status().message();
    golden_ = std::move(*golden);
    readInputs();
  }

  static Tensor<double> toTensor(const qrt::TensorView &view) {
    Tensor<double> tensor{llvm::ArrayRef<int64_t>(view.spec->shape)};
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor[i] = view.at<float>(i);
    return tensor;
  }
  static IntTensor toIntegers(const qrt::TensorView &view) {
    IntTensor tensor{llvm::ArrayRef<int64_t>(view.spec->shape)};
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor[i] = view.at<int32_t>(i);
    return tensor;
  }
  /// All tensors of a file by the model's names.
  std::map<std::string, Tensor<double>> read(const std::string &file) const {
    std::map<std::string, Tensor<double>> tensors;
    qrt::StatusOr<qrt::SafetensorsFile> opened = qrt::SafetensorsFile::open(directory_ + "/" + file);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    if (opened.ok())
      for (const qrt::TensorSpec &spec : opened->tensors())
        tensors[spec.name.starts_with("model.") ? spec.name.substr(6) : spec.name] = toTensor(*opened->find(spec.name));
    return tensors;
  }

  void readInputs() {
    qrt::StatusOr<qrt::SafetensorsFile> batch = qrt::SafetensorsFile::open(directory_ + "/batch.safetensors");
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    IntTensor ids = toIntegers(*batch->find("input_ids")), labels = toIntegers(*batch->find("labels"));
    Segments docs;
    docs.offsets = toIntegers(*batch->find("cu_seqlens")).elements();
    docs.tokens = ids.size();
    inputs_.arguments = {ids, labels, docs.withTrained(labels)};
    for (auto &[name, tensor] : read("model.safetensors"))
      inputs_.symbols[name] = tensor;
  }

  template <typename Scalar> Outputs<Scalar> run(const Inputs<Scalar> &inputs) {
    auto outputs = evaluateFunction(*module_, "model", inputs);
    EXPECT_TRUE(mlir::succeeded(outputs));
    return mlir::succeeded(outputs) ? *outputs : Outputs<Scalar>();
  }

  std::string directory_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  Inputs<double> inputs_;
  qrt::Json golden_;
};

INSTANTIATE_TEST_SUITE_P(Cases, ReferenceGolden,
                         ::testing::Values("tiny_untied", "tiny_tied", "tiny_long", "wide_r3", "wide_r1"),
                         [](const auto &info) { return info.param; });

TEST_P(ReferenceGolden, LossHiddenStatesAndGradients) {
  // A direction that weighs each parameter's gradient alike, whatever its size.
  TensorMap gradients = read("grads.safetensors"), direction;
  for (auto &[name, gradient] : gradients) {
    Random random(1, name);
    direction[name] = randomNormal(gradient.shape(), random, 0, 1 / norm(gradient));
  }
  Outputs<Dual> outputs = run(along(inputs_, direction));
  ASSERT_EQ(outputs.results.size(), 1u);
  Dual loss = std::get<Tensor<Dual>>(outputs.results[0])[0];
  double trained = golden_["trained_tokens"].get<double>();
  EXPECT_LT(relativeDifference(loss.value / trained, golden_["loss"].get<double>()), 1e-12);
  // Golden states and gradients are rounded to f32.
  EXPECT_LT(relativeDifference(loss.derivative / trained, innerProduct(gradients, direction)), 1e-6);
  for (auto &[name, state] : read("acts.safetensors")) {
    ASSERT_TRUE(outputs.hidden.contains(name)) << name;
    EXPECT_LT(relativeDifference(valuesOf(outputs.hidden.at(name)), state), 1e-7) << name;
  }
}

} // namespace
