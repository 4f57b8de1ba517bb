// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small whole model through the phases grad, bucketed, fused and remat, each evaluated by the reference: gradients
// against dual numbers of the model, and the phases against one another.
#include "compiler/Passes.h"
#include "tests/unit/qt/ReferenceHarness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <fstream>
#include <sstream>

using namespace mlir;
using namespace qt::reference;

namespace {

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// The formed model of the lit tests: its head tied to the embedding.
std::string tiedModel() {
  std::ifstream file(QCC_SOURCE_DIR "/tests/lit/autodiff/Inputs/formed.mlir");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string untiedModel() {
  std::string text = replaced(tiedModel(), "%head = qt.read @embed_tokens.weight", "%head = qt.read @lm_head.weight");
  return replaced(text, "qt.parameter @norm.weight",
                  "qt.parameter @lm_head.weight : tensor<11x8xbf16> init <normal, 0.0, 0.02> names "
                  "[\"lm_head.weight\"]\nqt.parameter @norm.weight");
}

/// Embedding and head, one norm of two that a kernel treats at once, and one pack frozen.
std::string frozenModel() {
  std::string text = replaced(tiedModel(), "@embed_tokens.weight : tensor<11x8xbf16> init",
                              "@embed_tokens.weight : tensor<11x8xbf16> frozen init");
  text = replaced(text, "@layers.1.self_attn.q_norm.weight : tensor<4xbf16> init",
                  "@layers.1.self_attn.q_norm.weight : tensor<4xbf16> frozen init");
  for (std::string name : {"gate", "up"})
    text = replaced(text, "mlp." + name + "_proj.weight : tensor<6x8xbf16> init",
                    "mlp." + name + "_proj.weight : tensor<6x8xbf16> frozen init");
  return text;
}

/// Another gate than a silu, a scaled branch and a row that is added, frozen: pointwise ops that no compound takes.
std::string pointwiseModel() {
  std::string text = replaced(untiedModel(), "qt.parameter @norm.weight",
                              "qt.parameter @layers.0.mlp.bias : tensor<6xbf16> frozen init <ones> names [\"bias\"]\n"
                              "qt.parameter @norm.weight");
  text = replaced(text,
                  "%act = qt.swiglu %gate, %up {qt.scope = \"layers.0.mlp\"} : "
                  "(tensor<?x6xbf16>, tensor<?x6xbf16>) -> tensor<?x6xbf16>",
                  R"(%bias = qt.read @layers.0.mlp.bias : tensor<6xbf16>
  %wide = qt.cast %gate : tensor<?x6xbf16> -> tensor<?x6xf32>
  %sharp = qt.scale %wide by 1.702 : tensor<?x6xf32>
  %open = qt.sigmoid %sharp : tensor<?x6xf32>
  %soft = qt.mul %wide, %open : tensor<?x6xf32>, tensor<?x6xf32>
  %narrow = qt.cast %soft : tensor<?x6xf32> -> tensor<?x6xbf16>
  %gated = qt.mul %narrow, %up : tensor<?x6xbf16>, tensor<?x6xbf16>
  %act = qt.add %gated, %bias {qt.scope = "layers.0.mlp"} : tensor<?x6xbf16>, tensor<6xbf16>)");
  text = replaced(text, "%x2, %n3 = qt.add_rms_norm %x1, %d2,",
                  "%half = qt.scale %d2 by 0.5 : !h\n"
                  "  %x2, %n3 = qt.add_rms_norm %x1, %half,");
  return text;
}

const RowSpec kRow{{1, 2, 3, 0, 63, 5}, /*tail=*/0, /*trainedPart=*/0.6};
/// A bucket with a tail, room for more documents, and for more trained rows than there are.
const char *const kBucket = "96x8x64x64";

struct Phases : ::testing::TestWithParam<std::string (*)()> {
  Phases() : module(GetParam()()), model(GetParam()()) {}

  void run(std::vector<std::unique_ptr<Pass>> passes) {
    PassManager manager(&module.context());
    for (std::unique_ptr<Pass> &pass : passes)
      manager.addPass(std::move(pass));
    ASSERT_TRUE(succeeded(manager.run(module.get()))) << module.diagnostics();
  }

  void buildEntries() {
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(qcc::createBuildEntries());
    passes.push_back(qcc::createVerifyGrad());
    run(std::move(passes));
  }

  void specialize() {
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(qcc::createSpecializeBuckets({kBucket}));
    passes.push_back(qcc::createVerifyBucketed());
    run(std::move(passes));
  }

  void fuse() {
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(qcc::createFuseGradientSums());
    passes.push_back(qcc::createClusterPointwise());
    passes.push_back(qcc::createVerifyFused());
    run(std::move(passes));
  }

  void remat() {
    std::vector<std::unique_ptr<Pass>> passes;
    passes.push_back(qcc::createRemat({qt::RematPolicy::MemoryBound}));
    passes.push_back(qcc::createVerifyRemat());
    run(std::move(passes));
  }

  /// Evaluates a function of the module, its symbols as given or random.
  Outputs<double> evaluate(const std::string &name, const SymbolMap<double> *symbols = nullptr) {
    auto inputs = randomInputs(module.get(), name, kRow, 3);
    EXPECT_TRUE(succeeded(inputs)) << module.diagnostics();
    if (failed(inputs))
      return {};
    if (symbols)
      inputs->symbols = *symbols;
    auto outputs = evaluateFunction(module.get(), name, *inputs);
    EXPECT_TRUE(succeeded(outputs)) << module.diagnostics();
    return succeeded(outputs) ? std::move(*outputs) : Outputs<double>();
  }

  static void expectSame(const TensorMap &actual, const TensorMap &expected, double tolerance) {
    EXPECT_EQ(actual.size(), expected.size());
    for (auto &[name, tensor] : expected) {
      auto it = actual.find(name);
      ASSERT_NE(it, actual.end()) << name;
      // Hidden states of a bucket have a tail.
      ASSERT_GE(it->second.size(), tensor.size()) << name;
      Tensor<double> head(tensor.shape(), std::vector<double>(it->second.data(), it->second.data() + tensor.size()));
      EXPECT_LE(relativeDifference(head, tensor), tolerance) << name;
    }
  }

  static void expectSameSymbols(const SymbolMap<double> &actual, const SymbolMap<double> &expected, double tolerance) {
    ASSERT_EQ(actual.size(), expected.size());
    for (auto &[name, value] : expected) {
      if (auto *tensor = std::get_if<Tensor<double>>(&value))
        EXPECT_LE(relativeDifference(std::get<Tensor<double>>(actual.at(name)), *tensor), tolerance) << name;
      else
        EXPECT_EQ(std::get<IntTensor>(actual.at(name)).elements(), std::get<IntTensor>(value).elements()) << name;
    }
  }

  /// Everything that @step, @accumulate, @apply and @eval of a phase give is what the functions for any row gave.
  void expectPhaseAgrees(const std::string &suffix) {
    Outputs<double> step = evaluate("step"), other = evaluate("step" + suffix);
    EXPECT_LE(relativeDifference(tensorOf(other.results[0])[0], tensorOf(step.results[0])[0]), 1e-12);
    EXPECT_LE(relativeDifference(tensorOf(other.results[1])[0], tensorOf(step.results[1])[0]), 1e-10);
    expectSame(other.gradients, step.gradients, 1e-10);
    expectSame(other.hidden, step.hidden, 1e-10);
    expectSameSymbols(other.symbols, step.symbols, 1e-10);
    expectSameSymbols(evaluate("accumulate" + suffix).symbols, evaluate("accumulate").symbols, 1e-10);
    Outputs<double> eval = evaluate("eval"), otherEval = evaluate("eval" + suffix);
    EXPECT_LE(relativeDifference(tensorOf(otherEval.results[0])[0], tensorOf(eval.results[0])[0]), 1e-12);
    expectSame(otherEval.hidden, eval.hidden, 1e-10);
  }

  ParsedModule module, model;
};
INSTANTIATE_TEST_SUITE_P(Models, Phases, ::testing::Values(tiedModel, untiedModel, frozenModel, pointwiseModel),
                         [](const auto &info) {
                           return info.param == tiedModel     ? "tied"
                                  : info.param == untiedModel ? "untied"
                                  : info.param == frozenModel ? "frozen"
                                                              : "pointwise";
                         });

TEST_P(Phases, GradientsAgreeWithDualNumbers) {
  buildEntries();
  Outputs<double> step = evaluate("step");
  TensorMap gradients(step.gradients.begin(), step.gradients.end());
  auto inputs = randomInputs(model.get(), "model", kRow, 3);
  ASSERT_TRUE(succeeded(inputs));
  double trained = 0;
  for (const Datum<double> &argument : inputs->arguments)
    if (auto *docs = std::get_if<Segments>(&argument))
      trained = static_cast<double>(docs->trained());
  for (auto &[name, gradient] : gradients) {
    TensorMap direction{{name, {}}};
    Random random(5, name);
    direction[name] = randomNormal(gradient.shape(), random);
    auto outputs = evaluateFunction(model.get(), "model", along(*inputs, direction));
    ASSERT_TRUE(succeeded(outputs)) << model.diagnostics();
    Dual loss = std::get<Tensor<Dual>>(outputs->results[0])[0];
    EXPECT_LE(relativeDifference(tensorOf(step.results[0])[0], loss.value), 1e-12);
    EXPECT_NE(loss.derivative, 0) << name;
    EXPECT_LE(relativeDifference(innerProduct(gradient, direction[name]) * trained, loss.derivative), 1e-10) << name;
  }
  // Every trained parameter has a gradient.
  for (auto &[name, direction] : randomDirection(model.get(), 1))
    EXPECT_TRUE(gradients.contains(name)) << name;
  EXPECT_EQ(gradients.size(), randomDirection(model.get(), 1).size());
}

TEST_P(Phases, HiddenStatesAreThoseOfTheModel) {
  buildEntries();
  auto inputs = randomInputs(model.get(), "model", kRow, 3);
  auto outputs = evaluateFunction(model.get(), "model", *inputs);
  ASSERT_TRUE(succeeded(outputs)) << model.diagnostics();
  ASSERT_EQ(outputs->hidden.size(), 3u);
  expectSame(evaluate("step").hidden, outputs->hidden, 1e-12);
  expectSame(evaluate("eval").hidden, outputs->hidden, 1e-12);
  EXPECT_TRUE(evaluate("accumulate").hidden.empty());
}

/// Two micro-batches that are alike, each with the N of both, do the same as one: gradients add up, apply updates and
/// clears.
TEST_P(Phases, AccumulateAndApplyDoWhatAStepDoes) {
  buildEntries();
  Outputs<double> step = evaluate("step");
  Outputs<double> once = evaluate("accumulate");
  Outputs<double> twice = evaluate("accumulate", &once.symbols);
  EXPECT_EQ(tensorOf(once.results[0])[0], tensorOf(step.results[0])[0]);
  SymbolMap<double> halves = twice.symbols;
  for (auto &[name, value] : halves)
    if (llvm::StringRef(name).ends_with(".gradient"))
      for (double &element : std::get<Tensor<double>>(value).elements())
        element /= 2;
  Outputs<double> apply = evaluate("apply", &halves);
  EXPECT_LE(relativeDifference(tensorOf(apply.results[0])[0], tensorOf(step.results[1])[0]), 1e-12);
  // Gradients that the update reads are zero again, as they are before and after a step.
  expectSameSymbols(apply.symbols, step.symbols, 1e-10);
  size_t changed = 0;
  SymbolMap<double> before = randomSymbols(module.get(), 3);
  for (auto &[name, value] : step.symbols)
    if (auto *tensor = std::get_if<Tensor<double>>(&value))
      changed += relativeDifference(*tensor, std::get<Tensor<double>>(before.at(name))) > 0;
  EXPECT_GE(changed, 3 * step.gradients.size()) << "each trained weight and both its moments change";
}

TEST_P(Phases, EvalGivesTheLossOfEachRow) {
  buildEntries();
  Outputs<double> eval = evaluate("eval");
  ASSERT_EQ(eval.results.size(), 2u);
  double sum = 0;
  for (double row : tensorOf(eval.results[1]).elements())
    sum += row;
  EXPECT_LE(relativeDifference(sum, tensorOf(eval.results[0])[0]), 1e-12);
  EXPECT_EQ(tensorOf(eval.results[0])[0], tensorOf(evaluate("step").results[0])[0]);
}

TEST_P(Phases, Bucketed) {
  buildEntries();
  specialize();
  expectPhaseAgrees(std::string(".") + kBucket);
}

TEST_P(Phases, Fused) {
  buildEntries();
  specialize();
  fuse();
  expectPhaseAgrees(std::string(".") + kBucket);
}

TEST_P(Phases, Remat) {
  buildEntries();
  specialize();
  fuse();
  std::string name = std::string("step.") + kBucket;
  Outputs<double> before = evaluate(name);
  remat();
  expectPhaseAgrees(std::string(".") + kBucket);
  // What is computed again is the same to the bit.
  expectSame(evaluate(name).gradients, before.gradients, 0);
  size_t barriers = 0;
  module.get().lookupSymbol<func::FuncOp>(name).walk([&](qt::BarrierOp) { ++barriers; });
  EXPECT_GT(barriers, 0u);
}

} // namespace
