// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module goes out as bytes; the runtime's own loader, which trusts nothing, reads them back.
#include "compiler/emit/EmitProgram.h"

#include "compiler/Passes.h"
#include "compiler/emit/DeviceFunctions.h"
#include "compiler/emit/TransientPeaks.h"
#include "runtime/backends/cuda/plan/KernelPlan.h"
#include "runtime/base/SegmentTable.h"
#include "runtime/program/Memory.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace qcc;

namespace {

class EmitProgram : public testing::Test {
protected:
  EmitProgram() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<qt::QtDialect, step::StepDialect, mlir::func::FuncDialect>();
    mlir::ParserConfig config(&context);
    module = mlir::parseSourceFile<mlir::ModuleOp>(QCC_SOURCE_DIR "/tests/lit/lower/step-entry.mlir", config);
    (*module)->setAttr(qt::kModelConfigAttr, mlir::StringAttr::get(&context, "{\"vocab_size\": 32}"));
    (*module)->setAttr(qt::kOtherTensorsAttr, mlir::Builder(&context).getStrArrayAttr({"draft.", "vision."}));
    module->lookupSymbol<qt::ParameterOp>("norm.weight")
        .setTiedAttr(mlir::Builder(&context).getStrArrayAttr({"again"}));
    (*module)->setAttr(qt::kStatesAttr, qt::StateFormatAttr::get(&context, qt::StateFormat::F32));
    (*module)->setAttr(qt::kRematAttr, qt::RematPolicyAttr::get(&context, qt::RematPolicy::MemoryBound));
    (*module)->setAttr(qt::kTargetAttr, qt::TargetAttr::get(&context, qt::Target::Cpu));
    (*module)->setAttr(qt::kPhaseAttr, qt::PhaseAttr::get(&context, qt::Phase::Planned));
    mlir::PassManager passes(&context);
    passes.addPass(createLowerToStep());
    passes.addPass(createVerifyPlanned());
    EXPECT_TRUE(succeeded(passes.run(*module)));
  }

  std::vector<uint8_t> emit() {
    auto bytes = emitProgram(*module);
    EXPECT_TRUE(succeeded(bytes));
    return succeeded(bytes) ? *bytes : std::vector<uint8_t>();
  }

  qrt::Program load() {
    qrt::StatusOr<qrt::Program> program = qrt::Program::fromBytes(emit(), "test.qprog");
    EXPECT_TRUE(program.ok()) << program.status().message();
    return *std::move(program);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(EmitProgram, TheRuntimeAcceptsIt) {
  qrt::Program program = load();
  EXPECT_EQ(program.producer().substr(0, 4), "qcc ");
  EXPECT_EQ(program.target(), "cpu");
  EXPECT_EQ(program.options(), (std::vector<std::string>{"remat=memory-bound", "states=f32"}));
  EXPECT_EQ(program.vocabulary(), 32);
  EXPECT_EQ(program.modelConfig(), "{\"vocab_size\": 32}");
  EXPECT_EQ(program.otherTensors(), (std::vector<std::string>{"draft.", "vision."}));
  EXPECT_EQ(program.findParameter("norm.weight")->tiedNames, (std::vector<std::string>{"again"}));
  EXPECT_TRUE(program.findParameter("up.weight")->tiedNames.empty());
  EXPECT_EQ(program.stateBytes(), 5120);
  EXPECT_EQ(program.gradientBytes(), 1024);
  EXPECT_EQ(program.counters().offset, 4864);
}

TEST_F(EmitProgram, MembersOfAPackLieInIt) {
  qrt::Program program = load();
  // The pack's weight begins at 1024, its moments at 2816 and 3840, its gradient at 0; the second member follows 16 * 8
  // elements of 4 bytes.
  const qrt::Parameter *gate = program.findParameter("gate.weight"), *up = program.findParameter("up.weight");
  ASSERT_TRUE(gate && up);
  EXPECT_EQ(gate->weight().offset, 1024);
  EXPECT_EQ(up->weight().offset, 1024 + 512);
  EXPECT_EQ(up->part(qrt::ParameterPart::ExpAvg)->offset, 2816 + 512);
  EXPECT_EQ(up->part(qrt::ParameterPart::ExpAvgSq)->offset, 3840 + 512);
  EXPECT_EQ(up->part(qrt::ParameterPart::Gradient)->offset, 512);
  EXPECT_EQ(up->part(qrt::ParameterPart::Gradient)->space, qrt::Space::Gradients);
  EXPECT_FALSE(up->part(qrt::ParameterPart::Master));
  ASSERT_EQ(program.packs().size(), 1u);
  EXPECT_EQ(program.packs()[0].members, (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(up->decay);
  EXPECT_FALSE(program.findParameter("norm.weight")->decay);
}

TEST_F(EmitProgram, AnEntryHasItsInstructions) {
  qrt::Program program = load();
  const qrt::Entry *step = program.findEntry(qrt::EntryKind::Step, {4, 2, 4, 4});
  ASSERT_TRUE(step);
  ASSERT_TRUE(program.findEntry(qrt::EntryKind::Apply, {}));
  // embedding, gate_up, swiglu, down, add_rms_norm, head: 6; their gradients: 7; norm, step, adamw: 3.
  ASSERT_EQ(step->instructions.size(), 16u);
  EXPECT_EQ(step->instructions[0].scope, "embed");
  EXPECT_EQ(std::get<qrt::Launch>(step->instructions[0].work).kernel, qrt::Kernel::Embedding);
  const auto &gemm = std::get<qrt::Gemm>(step->instructions[1].work);
  EXPECT_TRUE(gemm.transposeB && !gemm.transposeA && !gemm.accumulate);
  const auto &swiglu = std::get<qrt::Launch>(step->instructions[2].work);
  const qrt::Slice &up = step->slices[swiglu.slices[1]];
  EXPECT_EQ(up.shape.dims[1], 16);
  EXPECT_EQ(up.shape.strides[0], 32);
  EXPECT_EQ(up.offset - step->slices[swiglu.slices[0]].offset, 16 * 4);
  const auto &adamw = std::get<qrt::Launch>(step->instructions[15].work);
  EXPECT_EQ(adamw.slices.back(), -1); // no master
  EXPECT_EQ(step->slices[adamw.slices[5]].space, qrt::Space::State);
  ASSERT_EQ(step->debug.size(), 2u);
  EXPECT_EQ(step->debug[0].name, "hidden.0");
  EXPECT_EQ(step->debug[0].instruction, 0);
  EXPECT_FALSE(step->debug[0].isGradient);
  EXPECT_EQ(step->debug[1].name, "gate_up");
  EXPECT_TRUE(step->debug[1].isGradient);
}

TEST_F(EmitProgram, TheModelComesAlongWithoutPrograms) {
  qrt::Program program = load();
  std::string bytes(program.model().begin(), program.model().end());
  auto model = mlir::parseSourceString<mlir::ModuleOp>(bytes, mlir::ParserConfig(&context));
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->getOps<step::EntryOp>().empty());
  EXPECT_TRUE(model->getOps<step::LayoutOp>().empty());
  EXPECT_TRUE(model->lookupSymbol("step"));
  EXPECT_TRUE(model->lookupSymbol("apply"));
  EXPECT_EQ((*model)->getAttrOfType<qt::PhaseAttr>(qt::kPhaseAttr).getValue(), qt::Phase::Grad);
  EXPECT_EQ(bytes.find("step-entry.mlir"), std::string::npos) << "locations of the build machine";
}

TEST_F(EmitProgram, TheSameModuleGivesTheSameBytes) {
  std::vector<uint8_t> first = emit();
  EXPECT_EQ(emit(), first);
  // Also after a round trip through text.
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  ASSERT_TRUE(module);
  EXPECT_EQ(emit(), first);
}

TEST_F(EmitProgram, ReportsMemoryToTheByte) {
  qrt::Program program = load();
  // Weights: 1024 + 1024 + 512 + 32. Two moments of 1024. Counters 16. The norm's 32 and the counters' 16 bytes are
  // padded to 256.
  qrt::StateMemory state = qrt::stateMemory(program);
  EXPECT_EQ(state.weights, 2592);
  EXPECT_EQ(state.masters, 0);
  EXPECT_EQ(state.moments, 2048);
  EXPECT_EQ(state.counters, 16);
  EXPECT_EQ(state.alignment, 224 + 240);
  EXPECT_EQ(program.otherTensors(), (std::vector<std::string>{"draft.", "vision."}));
  EXPECT_EQ(program.findParameter("norm.weight")->tiedNames, (std::vector<std::string>{"again"}));
  EXPECT_TRUE(program.findParameter("up.weight")->tiedNames.empty());
  EXPECT_EQ(program.stateBytes(), 5120);

  std::vector<TransientPeak> peaks = findTransientPeaks(*module, {qt::Target::Cpu, std::nullopt});
  ASSERT_EQ(peaks.size(), 2u);
  const TransientPeak &step = peaks[0];
  EXPECT_EQ(step.entry, "step 4x2x4x4");
  EXPECT_EQ(step.activations + step.gradients + step.workspace + step.unused, step.transient);
  EXPECT_GT(step.gradients, 0);
  EXPECT_EQ(qrt::totalBytes(program.spaceBytes(false)), 5120 + step.io + step.transient);
  EXPECT_EQ(qrt::totalBytes(program.spaceBytes(true)),
            5120 + 1024 + std::max(step.io, peaks[1].io) + std::max(step.transient, peaks[1].transient));
}

TEST_F(EmitProgram, RefusesWhatIsNotPlanned) {
  auto bare = mlir::parseSourceString<mlir::ModuleOp>("module {}", mlir::ParserConfig(&context));
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(emitProgram(*bare)));
  EXPECT_EQ(message, "expected a module in the phase planned, got one without a step.layout");
  (*module)->removeAttr(qt::kTargetAttr);
  EXPECT_TRUE(failed(emitProgram(*module)));
  EXPECT_EQ(message, "expected the attribute qt.target on a planned module, got none");
}

// Planned for the CPU, whose kernel needs less than the GPU's.
TEST_F(EmitProgram, AGpuCallNeedsTheWorkspaceThatWasPlanned) {
  std::vector<step::LaunchOp> others;
  module->walk([&](step::LaunchOp launch) {
    if (launch.getKernel() != qrt::Kernel::AddRmsNormGrad)
      others.push_back(launch);
  });
  for (step::LaunchOp launch : others)
    launch.erase();
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(compileDeviceFunctions(*module, Target{qt::Target::Sm90a, std::nullopt})));
  EXPECT_EQ(message.substr(0, 33), "expected a workspace of at least ") << message;
}

// It makes launches of what libraries fill, and no instruction says that they do.
TEST_F(EmitProgram, AGpuProgramHasTheFunctionThatFills) {
  module->walk([](mlir::Operation *op) {
    if (mlir::isa<step::LaunchOp, step::CopyOp, step::FillOp>(op))
      op->erase();
  });
  std::vector<std::string> asked;
  auto find = [&](llvm::StringRef name) {
    asked.push_back(name.str());
    return std::optional(DeviceFunction{"symbol", {1}});
  };
  mlir::FailureOr<DeviceFunctions> device =
      compileDeviceFunctions(*module, Target{qt::Target::Sm90a, std::nullopt}, find);
  ASSERT_TRUE(succeeded(device));
  EXPECT_EQ(asked, std::vector{qrt::cuda::kernelFill(0, qrt::cuda::kKernelFillUnit).function});
  EXPECT_EQ(device->functions.size(), 1u);
  EXPECT_EQ(device->built, 0);
}

} // namespace
