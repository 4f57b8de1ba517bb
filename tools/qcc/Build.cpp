// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/Build.h"

#include "compiler/Explain.h"
#include "compiler/ExplainMemory.h"
#include "compiler/Pipeline.h"
#include "compiler/emit/EmitProgram.h"
#include "dialects/step/Step.h"
#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "runtime/data/Buckets.h"
#include "runtime/program/Program.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/MemorySize.h"
#include "tools/cli/PathKind.h"
#include "tools/qcc/BuildDiagnostics.h"
#include "tools/qcc/MemoryPlan.h"
#include "tools/qcc/Output.h"

#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using qrt::Status;
using qrt::StatusCode;
using qrt::StatusOr;

namespace qcc {

static StatusOr<PipelineOptions> pipelineOptions(const BuildOptions &options, std::optional<int64_t> budget) {
  PipelineOptions pipeline;
  QRT_RETURN_IF_ERROR(parseChoices(options.states, options.remat, options.target, budget, pipeline));
  pipeline.disabledKernel = options.disabledKernel;
  if (!options.disabledKernel.empty() && !qrt::kernelByName(options.disabledKernel)) {
    std::vector<std::string> names;
    for (int kernel = 0; kernel < qrt::kNumKernels; ++kernel)
      names.emplace_back(qrt::kernelInfo(static_cast<qrt::Kernel>(kernel)).name);
    return qrt::error(StatusCode::InvalidUsage, "--disable-kernel: there is no kernel '{}'{}", options.disabledKernel,
                      qrt::didYouMean(options.disabledKernel, names));
  }
  if (!options.buckets.empty() && !options.data.empty())
    return qrt::error(StatusCode::InvalidUsage, "--buckets and --data exclude each other");
  if (!options.buckets.empty()) {
    QRT_ASSIGN_OR_RETURN(pipeline.buckets, qrt::parseBuckets(options.buckets));
  }
  if (!options.data.empty()) {
    QRT_RETURN_IF_ERROR(qrt::checkPacked("--data", options.data));
    QRT_ASSIGN_OR_RETURN(qrt::Manifest manifest, qrt::readManifest(options.data));
    pipeline.buckets = qrt::chooseBuckets(manifest);
  }
  return pipeline;
}

/// What is no module says which command it is for.
static Status checkInput(const std::string &path) {
  if (path == "-")
    return Status();
  std::string hint;
  switch (qrt::pathKind(path)) {
  case qrt::PathKind::HuggingFace:
  case qrt::PathKind::Json:
    hint = fmt::format("`qcc import {} -o model.mlir` makes a module of it", path);
    break;
  case qrt::PathKind::Run:
    hint = fmt::format("`qcc import {} -o model.mlir` makes a module of its checkpoint",
                       qrt::joinPath(path, "checkpoint"));
    break;
  case qrt::PathKind::Packed:
    hint =
        fmt::format("that goes with --data, beside the module: `qcc build model.mlir --data {} -o model.qprog`", path);
    break;
  case qrt::PathKind::Tokens:
    hint = fmt::format("`qrun pack {} --out packed/` makes packed data of it, which --data takes", path);
    break;
  case qrt::PathKind::Program:
    hint = fmt::format("`qrun inspect {}` shows it", path);
    break;
  case qrt::PathKind::Folder:
  case qrt::PathKind::Safetensors:
  case qrt::PathKind::JsonLines:
    hint = "`qcc import HF_DIR -o model.mlir` writes one";
    break;
  case qrt::PathKind::Missing:
  case qrt::PathKind::File:
  case qrt::PathKind::Module:
    return qrt::checkReadable(path);
  }
  return qrt::error(StatusCode::InvalidUsage, "{}; {}", qrt::expectedPath(path, "a module (.mlir)"), hint);
}

static std::vector<std::string> phaseNames() {
  std::vector<std::string> names;
  for (uint32_t phase = 0; phase <= qt::getMaxEnumValForPhase(); ++phase)
    names.push_back(qt::stringifyPhase(static_cast<Phase>(phase)).str());
  return names;
}

/// "1 bucket: 8192".
static std::string describeBuckets(const qrt::Program &program) {
  std::vector<std::string> buckets;
  for (const qrt::Entry &entry : program.entries())
    if (entry.kind == qrt::EntryKind::Step)
      buckets.push_back(qrt::printBucket(entry.bucket));
  return fmt::format("{}: {}", qrt::countOf(static_cast<int64_t>(buckets.size()), "bucket"), fmt::join(buckets, ", "));
}

/// The explanation of a module of the phase `remat`, which may leave its target open.
static mlir::LogicalResult explainRemat(mlir::ModuleOp module, const PipelineOptions &options, llvm::raw_ostream &out) {
  mlir::FailureOr<Target> target = findTarget(module.getLoc(), targetOf(module, options), options.disabledKernel);
  if (mlir::failed(target))
    return mlir::failure();
  if (options.machine)
    return explainMemory(module, *target, CostModel(*options.machine), out);
  qrt::StatusOr<qrt::MachineRates> rates = qrt::defaultMachineRates(target->name().str());
  if (!rates.ok())
    return module.emitError() << rates.status().message();
  return explainMemory(module, *target, CostModel(std::move(*rates)), out);
}

Status build(const BuildOptions &options) {
  std::optional<Phase> until = qt::symbolizePhase(options.compileTo);
  if (!until)
    return qrt::error(StatusCode::InvalidUsage,
                      "--compile-to: expected a phase (`qcc build --help` lists them), got '{}'{}", options.compileTo,
                      qrt::didYouMean(options.compileTo, phaseNames()));
  if (*until == Phase::Program && options.output.empty())
    return qrt::error(StatusCode::InvalidUsage, "expected -o FILE.qprog: where the program is to be written");
  QRT_RETURN_IF_ERROR(checkInput(options.input));
  std::optional<int64_t> budget;
  if (!options.memory.empty()) {
    QRT_ASSIGN_OR_RETURN(budget, qrt::parseMemory(options.memory));
  }
  QRT_ASSIGN_OR_RETURN(PipelineOptions pipeline, pipelineOptions(options, budget));

  // Standard output may be the result's.
  llvm::raw_ostream &report = isStandardOutput(options.output) ? llvm::errs() : llvm::outs();
  // One thread: remarks of passes that run in parallel race, and the order of diagnostics would change.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<qt::QtDialect, step::StepDialect, mlir::func::FuncDialect>();
  llvm::SourceMgr sources;
  BuildDiagnostics diagnostics(sources, context);
  std::optional<Explanation> explanation;
  if (options.explain)
    explanation.emplace(context);

  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(options.input, sources, &context);
  if (!module)
    return qrt::error(StatusCode::InvalidData, "{}: not a module of this compiler (see above)", options.input);
  diagnostics.setModule(*module);
  bool keepsToBudget = policyOf(*module, pipeline) == qt::RematPolicy::Budget;
  // With another policy a budget is only checked against the plan.
  if (budget && !keepsToBudget && *until < Phase::Program)
    return qrt::error(StatusCode::InvalidUsage,
                      "--memory: with --remat {} it is compared with a program's memory plan, got --compile-to {}",
                      qt::stringifyRematPolicy(policyOf(*module, pipeline)).str(), options.compileTo);
  if (!options.machine.empty()) {
    bool searches = keepsToBudget && phaseOf(*module) < Phase::Remat && *until >= Phase::Remat;
    if (!searches && !options.explain)
      return qrt::error(StatusCode::InvalidUsage,
                        "--machine: nothing is predicted without --explain, or --memory and the phase remat");
    QRT_ASSIGN_OR_RETURN(pipeline.machine, qrt::readMachineRates(options.machine));
  }
  if (llvm::StringRef target = qt::stringifyTarget(targetOf(*module, pipeline));
      pipeline.machine && pipeline.machine->target != target)
    return qrt::error(StatusCode::InvalidUsage, "--machine: {} has the rates of {}, but {} is compiled for {}",
                      options.machine, pipeline.machine->target, options.input, target.str());
  Phase last = *until == Phase::Program ? Phase::Planned : *until;
  if (phaseOf(*module) < Phase::Bucketed && last >= Phase::Bucketed && pipeline.buckets.empty())
    return qrt::error(StatusCode::InvalidUsage, "no bucket to compile for: expected --buckets or --data");
  if (explanation)
    explanation->begin(*module);
  if (explanation && phaseOf(*module) <= Phase::Fused && last >= Phase::Formed) {
    // Costs are those of the entry functions as they will run, before they become instructions.
    mlir::LogicalResult compiled = compileTo(*module, std::min(last, Phase::Fused), pipeline);
    // A model that got stuck is the one to explain.
    explanation->print(*module, report);
    report.flush(); // diagnostics may follow
    if (mlir::failed(compiled))
      return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  }
  if (explanation && phaseOf(*module) <= Phase::Remat && last >= Phase::Remat &&
      (mlir::failed(compileTo(*module, Phase::Remat, pipeline)) ||
       mlir::failed(explainRemat(*module, pipeline, report))))
    return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  if (mlir::failed(compileTo(*module, last, pipeline)))
    return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  if (*until != Phase::Program) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    stream << "\n";
    return writeOutput(options.output, text);
  }

  mlir::FailureOr<std::vector<uint8_t>> emitted = emitProgram(*module);
  if (mlir::failed(emitted))
    return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  // The runtime's verifier has the last word, before anything is written.
  std::vector<uint8_t> bytes = std::move(*emitted);
  QRT_ASSIGN_OR_RETURN(qrt::Program program, qrt::Program::fromBytes(bytes, options.output));
  mlir::FailureOr<Target> target = findTarget(module->getLoc(), targetOf(*module, pipeline), /*disabledKernel=*/"");
  if (mlir::failed(target))
    return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  std::string plan = memoryPlan(program, findTransientPeaks(*module, *target), budget);
  if (Status fits = budget ? checkBudget(program, *budget) : Status(); !fits.ok()) {
    report << plan;
    report.flush();
    return fits;
  }
  // Written first: a reader of the report may go away before its end.
  QRT_RETURN_IF_ERROR(writeOutput(options.output, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
  report << (isStandardOutput(options.output) ? "" : options.output + ": ") << "program for " << program.target()
         << ", " << describeBuckets(program) << "\n\n"
         << plan;
  return Status();
}

} // namespace qcc
