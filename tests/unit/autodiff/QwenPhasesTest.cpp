// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qwen models of head ratios 1, 2 and 3, tied and untied, through the pipeline from the model as it is written to what
// is recomputed, on random packings: loss, hidden states, directional derivatives, and every gradient by the reference
// evaluator.
#include "compiler/Pipeline.h"
#include "dialects/qt/reference/RandomInputs.h"
#include "dialects/step/Step.h"
#include "models/qwen/Qwen35.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <ostream>

using namespace mlir;
using namespace qt::reference;

namespace {

constexpr double kTolerance = 1e-10;

/// No two widths of a model are the same, so that no dimension passes for another.
struct Model {
  int64_t ratio, kvHeads;
  bool tied;

  qcc::qwen::Config config() const {
    using enum qcc::qwen::LayerType;
    qcc::qwen::Config config;
    config.vocabulary = 44;
    config.hidden = 28;
    config.intermediate = 36;
    config.heads = 4;
    config.kvHeads = kvHeads;
    config.headDim = 16;
    config.gdnKeyHeads = 2;
    config.gdnValueHeads = 2 * ratio;
    config.gdnKeyDim = 8;
    config.gdnValueDim = 10;
    config.tied = tied;
    config.layers = {LinearAttention, LinearAttention, FullAttention, LinearAttention};
    config.dtype = qrt::DType::BF16; // with all casts
    return config;
  }
};

struct Case {
  Model model;
  uint64_t seed;
};
void PrintTo(const Case &c, std::ostream *os) {
  *os << "head ratio " << c.model.ratio << (c.model.tied ? ", tied" : ", untied") << ", seed " << c.seed;
}

/// Lengths about the chunks of the delta rule and the tiles of attention.
constexpr int64_t kLengths[] = {0, 1, 2, 3, 63, 64, 65, 127, 128, 129};

/// All of kLengths, shuffled and cut into three rows. None is without a document of more than three tokens: a row with
/// nothing trained compares only zeros.
std::vector<RowSpec> randomRows(uint64_t seed) {
  Random random(seed, "packing");
  std::vector<int64_t> lengths(std::begin(kLengths), std::end(kLengths));
  const auto count = static_cast<int64_t>(lengths.size());
  while (true) {
    for (int64_t i = count - 1; i > 0; --i)
      std::swap(lengths[i], lengths[random.below(i + 1)]);
    int64_t first = 1 + random.below(count - 2), second = first + 1 + random.below(count - first - 1);
    std::vector<RowSpec> rows(3);
    for (int64_t i = 0; i < count; ++i)
      rows[(i >= first) + (i >= second)].lengths.push_back(lengths[i]);
    if (llvm::all_of(rows, [](const RowSpec &row) { return *llvm::max_element(row.lengths) > 3; }))
      return rows;
  }
}

std::string print(const std::vector<RowSpec> &rows) {
  std::string text;
  for (const RowSpec &row : rows) {
    text += text.empty() ? "rows" : ";";
    for (int64_t length : row.lengths)
      text += " " + std::to_string(length);
  }
  return text;
}

/// The smallest bucket of all rows, with some room in each extent.
qrt::BucketShape bucketFor(ModuleOp module, const std::vector<RowSpec> &rows, uint64_t seed) {
  Random random(seed, "bucket");
  qrt::BucketShape bucket;
  for (const RowSpec &row : rows) {
    FailureOr<Inputs<double>> inputs = randomInputs(module, "model", row, seed);
    EXPECT_TRUE(succeeded(inputs));
    for (const Datum<double> &argument : inputs->arguments)
      if (auto *docs = std::get_if<Segments>(&argument)) {
        bucket.tokens = std::max(bucket.tokens, docs->used());
        bucket.trained = std::max(bucket.trained, docs->trained());
      }
    bucket.documents = std::max(bucket.documents, static_cast<int64_t>(row.lengths.size()));
    bucket.longest = std::max(bucket.longest, *llvm::max_element(row.lengths));
  }
  bucket.tokens += 1 + random.below(40);
  bucket.documents += random.below(4);
  bucket.longest += random.below(4);
  bucket.trained += 1 + random.below(20);
  return bucket;
}

class QwenPhases : public ::testing::TestWithParam<Case> {
protected:
  QwenPhases() {
    context.loadDialect<qt::QtDialect, step::StepDialect, func::FuncDialect>();
    module = qcc::qwen::buildModel(context, GetParam().model.config());
    options.remat = qt::RematPolicy::MemoryBound;
  }

  /// A budget that leaves half of the transient memory that keeping everything takes.
  int64_t halfTheTransient() {
    OwningOpRef<ModuleOp> copy = module->clone();
    qcc::PipelineOptions keep = options;
    keep.remat = qt::RematPolicy::None;
    EXPECT_TRUE(succeeded(qcc::compileTo(*copy, qcc::Phase::Planned, keep)));
    int64_t bytes = (*copy->getOps<step::LayoutOp>().begin()).getStateBytes(), io = 0, transient = 0;
    for (auto entry : copy->getOps<step::EntryOp>())
      if (entry.getKind() == qt::EntryKind::Step) {
        io = entry.getIoBytes();
        transient = entry.getTransientBytes();
      }
    return bytes + io + transient / 2;
  }

  Inputs<double> inputsOf(const std::string &function, const RowSpec &row) {
    FailureOr<Inputs<double>> inputs = randomInputs(*module, function, row, GetParam().seed);
    EXPECT_TRUE(succeeded(inputs));
    return *inputs;
  }
  Outputs<double> evaluate(const std::string &function, const RowSpec &row) {
    FailureOr<Outputs<double>> outputs = evaluateFunction(*module, function, inputsOf(function, row));
    EXPECT_TRUE(succeeded(outputs));
    return *outputs;
  }
  /// Values and derivatives along a direction.
  Outputs<Dual> evaluateAlong(const std::string &function, const RowSpec &row, const TensorMap &direction) {
    FailureOr<Outputs<Dual>> outputs = evaluateFunction(*module, function, along(inputsOf(function, row), direction));
    EXPECT_TRUE(succeeded(outputs));
    return *outputs;
  }
  /// 1 / (trained tokens of the row): what the gradients of a step are scaled with.
  double inverseTokens(const RowSpec &row) {
    Inputs<double> inputs = inputsOf("step", row);
    auto function = module->lookupSymbol<func::FuncOp>("step");
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttrOfType<qt::ArgumentRoleAttr>(i, qt::kArgumentAttr).getValue() ==
          qt::ArgumentRole::InverseTokens)
        return std::get<Tensor<double>>(inputs.arguments[i])[0];
    ADD_FAILURE() << "the step takes no 1/N";
    return 0;
  }

  /// The tensors are the same where the shorter ones (a row without its bucket's tail) have elements; past these are
  /// zeros.
  static void expectSame(const TensorMap &actual, const TensorMap &expected, qcc::Phase phase, const char *kind) {
    EXPECT_FALSE(expected.empty()) << kind;
    ASSERT_EQ(actual.size(), expected.size()) << qt::stringifyPhase(phase).str() << ": " << kind;
    for (auto &[name, tensor] : expected) {
      SCOPED_TRACE(qt::stringifyPhase(phase).str() + ": " + kind + ", " + name);
      ASSERT_TRUE(actual.contains(name));
      const Tensor<double> &other = actual.at(name);
      ASSERT_GE(other.size(), tensor.size());
      Tensor<double> head(tensor.shape(), std::vector<double>(other.data(), other.data() + tensor.size()));
      EXPECT_LE(relativeDifference(head, tensor), kTolerance);
      EXPECT_TRUE(std::all_of(other.data() + tensor.size(), other.data() + other.size(), [](double element) {
        return element == 0;
      })) << "not zero in the tail";
    }
  }
  static void expectSame(const std::map<std::string, Tensor<Dual>> &actual,
                         const std::map<std::string, Tensor<Dual>> &expected, qcc::Phase phase) {
    expectSame(mapped(actual, valuesOf), mapped(expected, valuesOf), phase, "hidden state");
    expectSame(mapped(actual, derivativesOf), mapped(expected, derivativesOf), phase, "hidden state's derivative");
  }
  static TensorMap mapped(const std::map<std::string, Tensor<Dual>> &tensors,
                          Tensor<double> (*part)(const Tensor<Dual> &)) {
    TensorMap result;
    for (auto &[name, tensor] : tensors)
      result[name] = part(tensor);
    return result;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  qcc::PipelineOptions options;
};

constexpr Model kModels[] = {{1, 1, true}, {2, 2, true}, {3, 1, false}};
std::vector<Case> casesOf(std::initializer_list<uint64_t> seeds) {
  std::vector<Case> cases;
  for (const Model &model : kModels)
    for (uint64_t seed : seeds)
      cases.push_back({model, seed});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Models, QwenPhases, ::testing::ValuesIn(casesOf({1, 2, 3})), [](const auto &info) {
  return "ratio" + std::to_string(info.param.model.ratio) + (info.param.model.tied ? "_tied" : "_untied") + "_seed" +
         std::to_string(info.param.seed);
});

TEST_P(QwenPhases, SameNumbersInEachPhase) {
  using enum qcc::Phase;
  const uint64_t seed = GetParam().seed;
  const std::vector<RowSpec> rows = randomRows(seed);
  options.buckets = {bucketFor(*module, rows, seed)};
  if (seed % 2 == 0) {
    options.memory = halfTheTransient();
    options.remat = qt::RematPolicy::Budget;
  }
  const std::string bucket = qrt::printBucket(options.buckets[0]);
  SCOPED_TRACE(::testing::PrintToString(GetParam()) + ", " + print(rows) + ", bucket " + bucket);

  const TensorMap direction = randomDirection(*module, seed + 1);
  std::vector<Outputs<Dual>> model;
  for (const RowSpec &row : rows)
    model.push_back(evaluateAlong("model", row, direction));

  for (qcc::Phase phase : {Raised, Formed}) {
    ASSERT_TRUE(succeeded(qcc::compileTo(*module, phase, options)));
    for (size_t i = 0; i < rows.size(); ++i) {
      Outputs<Dual> outputs = evaluateAlong("model", rows[i], direction);
      Dual loss = std::get<Tensor<Dual>>(outputs.results[0])[0];
      Dual expected = std::get<Tensor<Dual>>(model[i].results[0])[0];
      EXPECT_LE(relativeDifference(loss.value, expected.value), kTolerance);
      EXPECT_LE(relativeDifference(loss.derivative, expected.derivative), kTolerance);
      expectSame(outputs.hidden, model[i].hidden, phase);
    }
  }

  ASSERT_TRUE(succeeded(qcc::compileTo(*module, Grad, options)));
  std::vector<Outputs<double>> grad;
  for (size_t i = 0; i < rows.size(); ++i) {
    Outputs<double> step = evaluate("step", rows[i]);
    Dual expected = std::get<Tensor<Dual>>(model[i].results[0])[0];
    EXPECT_LE(relativeDifference(std::get<Tensor<double>>(step.results[0])[0], expected.value), kTolerance);
    EXPECT_EQ(step.gradients.size(), direction.size());
    EXPECT_LE(relativeDifference(innerProduct(step.gradients, direction), expected.derivative * inverseTokens(rows[i])),
              kTolerance);
    expectSame(step.hidden, mapped(model[i].hidden, valuesOf), Grad, "hidden state");
    EXPECT_EQ(step.hiddenGradients.size(), step.hidden.size());
    grad.push_back(std::move(step));
  }

  for (qcc::Phase phase : {Bucketed, Sharded, Fused, Remat}) {
    ASSERT_TRUE(succeeded(qcc::compileTo(*module, phase, options)));
    for (size_t i = 0; i < rows.size(); ++i) {
      Outputs<double> step = evaluate("step." + bucket, rows[i]);
      for (size_t result : {0, 1}) // loss and gradient norm
        EXPECT_LE(relativeDifference(std::get<Tensor<double>>(step.results[result])[0],
                                     std::get<Tensor<double>>(grad[i].results[result])[0]),
                  kTolerance);
      expectSame(step.gradients, grad[i].gradients, phase, "gradient");
      expectSame(step.hidden, grad[i].hidden, phase, "hidden state");
      expectSame(step.hiddenGradients, grad[i].hiddenGradients, phase, "hidden state's gradient");
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
  RowSpec row;
  for (const RowSpec &part : randomRows(GetParam().seed))
    llvm::append_range(row.lengths, part.lengths);
  SCOPED_TRACE(::testing::PrintToString(GetParam()) + ", " + print({row}));
  FailureOr<Inputs<double>> inputs = randomInputs(*module, "step", row, GetParam().seed);
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
  expectSame(gradients, packed->gradients, qcc::Phase::Grad, "gradient");
}

} // namespace
