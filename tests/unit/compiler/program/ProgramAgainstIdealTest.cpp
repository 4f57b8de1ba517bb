// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program on the CPU in f32 against the reference evaluator in f64, on the same weights and rows: the loss, each
// hidden state, each gradient (docs/design.md, The proof). Head ratios 1, 2 and 3, tied and untied.
#include "compiler/Pipeline.h"
#include "compiler/emit/EmitProgram.h"
#include "dialects/qt/reference/RandomInputs.h"
#include "dialects/step/Step.h"
#include "models/qwen/Qwen35.h"
#include "runtime/backends/cpu/CpuDevice.h"
#include "runtime/executor/Session.h"
#include "runtime/train/LoadWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace qt::reference;

namespace {

/// Collects what the debug table names, as f64.
class Collector : public qrt::Observer {
public:
  bool wants(const qrt::DebugValue &) override { return true; }
  qrt::Status observe(const qrt::DebugValue &value, const qrt::TensorShape &shape,
                      std::span<const std::byte> bytes) override {
    EXPECT_EQ(shape.dtype, qrt::DType::F32);
    std::span numbers(reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float));
    (value.isGradient ? gradients : hidden)[std::string(value.name)] = {numbers.begin(), numbers.end()};
    return qrt::Status();
  }

  std::map<std::string, std::vector<double>> hidden, gradients;
};

/// Norm of the difference over the norm of `expected`.
double difference(std::span<const double> actual, std::span<const double> expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double square = 0, whole = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    square += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    whole += expected[i] * expected[i];
  }
  return std::sqrt(square / whole);
}

std::span<const double> numbersOf(const Tensor<double> &tensor) {
  return {tensor.data(), static_cast<size_t>(tensor.size())};
}

/// Makes another model of a Qwen's: a gate x sigmoid(1.702 x) in place of the silu, branches halved before they are
/// added, the embedding times 3. No compound takes these in.
void makePointwise(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    StringRef scope = op->hasAttr(qt::kScopeAttr) ? op->getAttrOfType<StringAttr>(qt::kScopeAttr).getValue() : "";
    bool branch = isa<qt::AddOp>(op) && isa_and_nonnull<qt::LinearOp>(op->getOperand(1).getDefiningOp());
    if (branch || isa<qt::EmbeddingOp>(op) || (isa<qt::SiluOp>(op) && scope.ends_with(".mlp")))
      ops.push_back(op);
  });
  OpBuilder builder(module.getContext());
  for (Operation *op : ops) {
    Location loc = op->getLoc();
    if (isa<qt::AddOp>(op)) {
      builder.setInsertionPoint(op);
      Value branch = op->getOperand(1);
      op->setOperand(1, qt::ScaleOp::create(builder, loc, branch.getType(), branch, APFloat(0.5)));
      continue;
    }
    builder.setInsertionPointAfter(op);
    Value before = op->getResult(0), after;
    if (isa<qt::EmbeddingOp>(op)) {
      after = qt::ScaleOp::create(builder, loc, before.getType(), before, APFloat(3.0));
      before.replaceAllUsesExcept(after, after.getDefiningOp());
      continue;
    }
    Value x = op->getOperand(0);
    Value gate = qt::SigmoidOp::create(builder, loc, qt::ScaleOp::create(builder, loc, x.getType(), x, APFloat(1.702)));
    after = qt::MulOp::create(builder, loc, x.getType(), x, gate);
    after.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    before.replaceAllUsesWith(after);
    op->erase();
  }
}

struct Row {
  RowSpec spec;
  qrt::BucketShape bucket;
};

class ProgramAgainstIdeal : public ::testing::TestWithParam<const char *> {
protected:
  ProgramAgainstIdeal() {
    context.loadDialect<qt::QtDialect, step::StepDialect, func::FuncDialect>();
    directory = std::string(QCC_SOURCE_DIR) + "/tests/golden/" + GetParam();
    std::string file = directory + "/config.json";
    qrt::StatusOr<qrt::Json> json = qrt::readJsonFile(file);
    qrt::StatusOr<qcc::qwen::Config> config = qcc::qwen::parseConfig(*json, file);
    config->dtype = qrt::DType::F32;
    module = qcc::qwen::buildModel(context, *config);
  }

  void check(const Row &row, qt::RematPolicy remat = qt::RematPolicy::None);

  /// Calls of `pointwise` in the planned module; those alone that compute again what the forward pass computed.
  int clusters(bool again = false) {
    int count = 0;
    planned->walk([&](step::LaunchOp launch) {
      count += launch.getKernel() == qrt::Kernel::Pointwise && (!again || launch->hasAttr(qt::kRecomputedAttr));
    });
    return count;
  }

  std::string directory;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module, planned;
};
INSTANTIATE_TEST_SUITE_P(Models, ProgramAgainstIdeal, ::testing::Values("tiny_long", "tiny_tied", "tiny_untied"),
                         [](const auto &info) { return std::string(info.param); });

template <typename To, typename From> std::vector<To> converted(const From *data, int64_t size) {
  return std::vector<To>(data, data + size);
}

/// The batch of the function's arguments, and 1/N.
qrt::HostBatch batchOf(func::FuncOp function, const Inputs<double> &inputs, const qrt::BucketShape &bucket,
                       float &inverse) {
  qrt::HostBatch batch;
  batch.bucket = bucket;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    const Datum<double> &value = inputs.arguments[i];
    auto role = function.getArgAttrOfType<qt::ArgumentRoleAttr>(i, qt::kArgumentAttr).getValue();
    if (role == qt::ArgumentRole::Segments) {
      const auto &docs = std::get<Segments>(value);
      batch.documentOffsets = converted<int32_t>(docs.offsets.data(), static_cast<int64_t>(docs.offsets.size()));
      batch.trainedRows = converted<int32_t>(docs.trainedRows.data(), static_cast<int64_t>(docs.trainedRows.size()));
    } else if (role == qt::ArgumentRole::InverseTokens) {
      inverse = static_cast<float>(std::get<Tensor<double>>(value)[0]);
    } else if (const auto *ints = std::get_if<IntTensor>(&value)) {
      std::vector<int32_t> numbers = converted<int32_t>(ints->data(), ints->size());
      if (role == qt::ArgumentRole::Ids)
        batch.ids = numbers;
      else if (role == qt::ArgumentRole::Labels)
        batch.labels = numbers;
      else if (role == qt::ArgumentRole::EmbeddingOrder)
        batch.embeddingOrder = numbers;
    }
  }
  return batch;
}

void ProgramAgainstIdeal::check(const Row &row, qt::RematPolicy remat) {
  qcc::PipelineOptions options;
  options.buckets = {row.bucket};
  options.remat = remat;
  ASSERT_TRUE(succeeded(qcc::compileTo(*module, qcc::Phase::Bucketed, options)));
  std::string name = "step." + qrt::printBucket(row.bucket);
  FailureOr<Inputs<double>> inputs = randomInputs(*module, name, row.spec, /*seed=*/11);
  ASSERT_TRUE(succeeded(inputs));

  planned = module->clone();
  ASSERT_TRUE(succeeded(qcc::compileTo(*planned, qcc::Phase::Planned, options)));
  FailureOr<std::vector<uint8_t>> bytes = qcc::emitProgram(*planned);
  ASSERT_TRUE(succeeded(bytes));
  qrt::StatusOr<qrt::Program> program = qrt::Program::fromBytes(std::move(*bytes), "test");
  ASSERT_TRUE(program.ok()) << program.status().message();
  std::vector<qrt::Program> programs;
  programs.push_back(std::move(*program));
  auto session = qrt::Session::create(std::move(programs), qrt::cpu::createCpuDevice({.threads = 2, .poison = true}));
  ASSERT_TRUE(session.ok()) << session.status().message();

  // The golden checkpoint's weights on both sides. (Those of randomInputs make models that are too sensitive for f32:
  // moving each weight by 6e-8 of itself moves gradients by up to 1e-2 in f64.)
  qrt::StatusOr<qrt::WeightSource> source = qrt::WeightSource::open((*session)->program(), directory);
  ASSERT_TRUE(source.ok()) << source.status().message();
  ASSERT_TRUE(qrt::loadWeights(**session, *source).ok());
  for (const qrt::Parameter &parameter : (*session)->program().parameters()) {
    std::vector<float> weight(static_cast<size_t>(parameter.elements));
    ASSERT_TRUE((*session)
                    ->readParameter(parameter, qrt::ParameterPart::Weight, 0, std::as_writable_bytes(std::span(weight)))
                    .ok());
    auto &symbol = std::get<Tensor<double>>(inputs->symbols.at(parameter.name));
    ASSERT_EQ(symbol.size(), parameter.elements);
    std::copy(weight.begin(), weight.end(), symbol.data());
  }
  FailureOr<Outputs<double>> ideal = evaluateFunction(*module, name, *inputs);
  ASSERT_TRUE(succeeded(ideal));

  float inverse = 0;
  qrt::HostBatch batch = batchOf(module->lookupSymbol<func::FuncOp>(name), *inputs, row.bucket, inverse);
  qrt::Status loaded = (*session)->loadBatch(batch);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  (*session)->setScalars(inverse, qrt::Hyperparameters{}, 0);
  Collector collector;
  qrt::StatusOr<qrt::RunResult> result = (*session)->run(qrt::EntryKind::Step, &collector);
  ASSERT_TRUE(result.ok()) << result.status().message();

  double loss = std::get<Tensor<double>>(ideal->results[0])[0];
  EXPECT_LE(std::abs(result->loss - loss) / loss, 1e-6);
  ASSERT_EQ(collector.hidden.size(), ideal->hidden.size());
  for (auto &[key, expected] : ideal->hidden)
    EXPECT_LE(difference(collector.hidden.at(key), numbersOf(expected)), 5e-5) << key;
  for (auto &[key, expected] : ideal->hiddenGradients)
    EXPECT_LE(difference(collector.gradients.at(key), numbersOf(expected)), 5e-5) << "gradient of " << key;

  // A pack's gradient is those of its members, one behind the other.
  std::map<std::string, std::vector<double>> gradients = collector.gradients;
  for (const qrt::Pack &pack : (*session)->program().packs()) {
    const std::vector<double> &whole = gradients.at(pack.name);
    size_t begin = 0;
    for (uint32_t index : pack.members) {
      const qrt::Parameter &member = (*session)->program().parameters()[index];
      auto size = static_cast<size_t>(member.elements);
      ASSERT_LE(begin + size, whole.size());
      gradients[member.name].assign(whole.begin() + static_cast<ptrdiff_t>(begin),
                                    whole.begin() + static_cast<ptrdiff_t>(begin + size));
      begin += size;
    }
  }
  ASSERT_EQ(ideal->gradients.size(), (*session)->program().parameters().size());
  for (auto &[key, expected] : ideal->gradients)
    EXPECT_LE(difference(gradients.at(key), numbersOf(expected)), 5e-5) << key;
}

TEST_P(ProgramAgainstIdeal, LongRowWithATailAndAnEmptyDocument) {
  check({{.lengths = {129, 1, 64, 3, 0, 127}}, {336, 8, 129, 320}});
}

TEST_P(ProgramAgainstIdeal, PointwiseClusters) {
  makePointwise(*module);
  check({{.lengths = {2, 63, 9, 1}}, {80, 5, 64, 80}});
  EXPECT_GT(clusters(), 0);
}

TEST_P(ProgramAgainstIdeal, PointwiseClustersComputedAgain) {
  makePointwise(*module);
  check({{.lengths = {2, 63, 9, 1}}, {80, 5, 64, 80}}, qt::RematPolicy::MemoryBound);
  EXPECT_GT(clusters(/*again=*/true), 0);
}

TEST_P(ProgramAgainstIdeal, LengthsAroundAChunk) { check({{.lengths = {2, 63, 128, 65, 1}}, {259, 5, 128, 259}}); }

} // namespace
