// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole models, from the way they are written to the bytes of a program: views cost nothing, memory is packed tightly,
// the runtime accepts what comes out, and a further bucket can be made from it.
#include "compiler/Pipeline.h"
#include "compiler/emit/EmitProgram.h"
#include "compiler/emit/TransientPeaks.h"
#include "dialects/step/Step.h"
#include "models/qwen/Qwen35.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace mlir;

namespace {

struct Case {
  const char *config;
  qrt::DType dtype;
  qt::RematPolicy remat;
};

class QwenProgram : public testing::TestWithParam<Case> {
protected:
  QwenProgram() {
    std::string file = std::string(QCC_SOURCE_DIR) + "/tests/golden/" + GetParam().config + "/config.json";
    qrt::StatusOr<qrt::Json> json = qrt::readJsonFile(file);
    qrt::StatusOr<qcc::qwen::Config> config = qcc::qwen::parseConfig(*json, file);
    config->dtype = GetParam().dtype;
    context.loadDialect<qt::QtDialect, step::StepDialect, func::FuncDialect>();
    module = qcc::qwen::buildModel(context, *config);
    options.buckets = {{256, 8, 200, 100}, qrt::BucketShape::anyOf(65)};
    if (GetParam().remat == qt::RematPolicy::Budget)
      options.memory = budget();
    options.remat = GetParam().remat;
  }

  /// What a run with seven eighths of the transient memory takes that keeping everything needs.
  int64_t budget() {
    OwningOpRef<ModuleOp> copy = module->clone();
    qrt::StatusOr<qrt::Program> program = compile(*copy, options);
    EXPECT_TRUE(program.ok()) << program.status().message();
    qrt::SpaceBytes spaces = program->spaceBytes(/*accumulate=*/false);
    return qrt::totalBytes(spaces) - spaces[static_cast<int>(qrt::Space::Transient)] / 8;
  }

  qrt::StatusOr<qrt::Program> compile(ModuleOp from, const qcc::PipelineOptions &options) {
    if (failed(qcc::compileTo(from, qcc::Phase::Planned, options)))
      return qrt::Status(qrt::StatusCode::InvalidData, "the pipeline failed");
    FailureOr<std::vector<uint8_t>> bytes = qcc::emitProgram(from);
    if (failed(bytes))
      return qrt::Status(qrt::StatusCode::InvalidData, "the emission failed");
    return qrt::Program::fromBytes(*bytes, "test.qprog");
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  qcc::PipelineOptions options;
};

TEST_P(QwenProgram, IsAcceptedAndWastesNothing) {
  qrt::StatusOr<qrt::Program> program = compile(*module, options);
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program->entries().size(), 7u); // step, accumulate and eval of two buckets; apply
  if (options.memory)
    EXPECT_LE(qrt::totalBytes(program->spaceBytes(/*accumulate=*/false)), *options.memory);
  int64_t copies = 0;
  module->walk([&](step::CopyOp) { ++copies; });
  EXPECT_EQ(copies, 0) << "each view lies where it is read";
  for (const qcc::TransientPeak &peak : qcc::findTransientPeaks(*module, {qt::Target::Cpu, std::nullopt}))
    EXPECT_LE(static_cast<double>(peak.unused), 0.02 * static_cast<double>(peak.transient)) << peak.entry;
}

TEST_P(QwenProgram, KeepsTheBudgetOfInstructions) {
  qrt::StatusOr<qrt::Program> program = compile(*module, options);
  ASSERT_TRUE(program.ok()) << program.status().message();
  const qrt::Entry &step = *program->findEntry(qrt::EntryKind::Step, options.buckets[0]);
  std::map<std::string_view, int> places; // by the layer, or the first part of the scope
  std::set<std::string_view> attention;
  for (const qrt::Instruction &instruction : step.instructions) {
    std::string_view scope = instruction.scope;
    std::string_view place = scope.substr(0, scope.find('.', scope.starts_with("layers.") ? 7 : 0));
    ++places[place];
    if (scope.find("self_attn") != scope.npos)
      attention.insert(place);
  }
  // The norm, the counters, and an update for each parameter outside packs and each pack.
  int updates = 0;
  module->walk([&](qt::StateOp state) { updates += state.getKind() == qt::StateKind::ExpAvg; });
  const std::map<std::string_view, int> others = {
      {"embed_tokens", 2}, // the rows and their gradient
      {"norm", 2},         // with the last sum, and its adjoint
      {"lm_head", 4}, // the trained rows and their labels; the loss with its gradients; the rows back in their places
      {"optimizer", updates + 2}};
  size_t layers = 0;
  for (auto [place, count] : places) {
    if (!place.starts_with("layers.")) {
      auto budget = others.find(place);
      ASSERT_NE(budget, others.end()) << count << " instructions of '" << place << "'";
      bool again = options.memory && place == "embed_tokens" && count == budget->second + 1;
      EXPECT_TRUE(count == budget->second || again) << place << ": " << count << ", not " << budget->second;
      continue;
    }
    ++layers;
    // Forward: two norms, four products, SwiGLU; the delta rule with its inputs and norm, or q/k norm and attention.
    // Backward: an instruction for each, and one more for each product. What is computed again: at most every
    // memory-bound one, the convolution included; under a budget all but the two products into the residual stream.
    int forward = attention.contains(place) ? 9 : 10;
    int again = GetParam().remat == qt::RematPolicy::None     ? 0
                : GetParam().remat == qt::RematPolicy::Budget ? forward - 2
                                                              : forward - 5;
    EXPECT_LE(count, 2 * forward + 4 + again) << place;
    EXPECT_GT(count, 2 * forward) << place;
  }
  EXPECT_EQ(places.size(), layers + others.size());
  EXPECT_GT(layers, 0u);
}

TEST_P(QwenProgram, AFurtherBucketIsMadeFromIt) {
  qrt::StatusOr<qrt::Program> program = compile(*module, options);
  ASSERT_TRUE(program.ok()) << program.status().message();
  llvm::StringRef model(reinterpret_cast<const char *>(program->model().data()), program->model().size());
  qcc::PipelineOptions further;
  further.buckets = {{128, 4, 128, 96}};
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(model, ParserConfig(&context));
  ASSERT_TRUE(parsed);
  qrt::StatusOr<qrt::Program> other = compile(*parsed, further);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_TRUE(other->findEntry(qrt::EntryKind::Step, further.buckets[0]));
  qrt::Status same = qrt::checkSameState(*program, *other);
  EXPECT_TRUE(same.ok()) << same.message();
  EXPECT_EQ(other->options(), program->options());
  // What it carries along is the same again.
  EXPECT_TRUE(std::ranges::equal(other->model(), program->model()));
}

INSTANTIATE_TEST_SUITE_P(Models, QwenProgram,
                         testing::Values(Case{"tiny_tied", qrt::DType::F32, qt::RematPolicy::None},
                                         Case{"tiny_untied", qrt::DType::BF16, qt::RematPolicy::None},
                                         Case{"tiny_long", qrt::DType::F32, qt::RematPolicy::MemoryBound},
                                         Case{"wide_r1", qrt::DType::BF16, qt::RematPolicy::MemoryBound},
                                         Case{"wide_r3", qrt::DType::F32, qt::RematPolicy::MemoryBound},
                                         Case{"tiny_long", qrt::DType::BF16, qt::RematPolicy::Budget}),
                         [](const auto &info) {
                           bool budget = info.param.remat == qt::RematPolicy::Budget;
                           return std::string(info.param.config) + (budget ? "_budget" : "");
                         });

} // namespace
