// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/Build.h"

#include "compiler/Explain.h"
#include "compiler/Pipeline.h"
#include "compiler/emit/EmitProgram.h"
#include "compiler/emit/MemoryReport.h"
#include "dialects/step/Step.h"
#include "runtime/data/Buckets.h"
#include "runtime/program/Program.h"
#include "tools/qcc/Output.h"

#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using qrt::Status;
using qrt::StatusCode;
using qrt::StatusOr;

namespace qcc {

static StatusOr<PipelineOptions> pipelineOptions(const BuildOptions &options) {
  PipelineOptions pipeline;
  QRT_RETURN_IF_ERROR(parseChoices(options.states, options.remat, options.target, pipeline));
  pipeline.disabledKernel = options.disabledKernel;
  if (!options.disabledKernel.empty() && !qrt::kernelByName(options.disabledKernel))
    return qrt::error(StatusCode::InvalidUsage, "--disable-kernel: there is no kernel {}", options.disabledKernel);
  if (!options.buckets.empty() && !options.data.empty())
    return qrt::error(StatusCode::InvalidUsage, "--buckets and --data exclude each other");
  if (!options.buckets.empty()) {
    QRT_ASSIGN_OR_RETURN(pipeline.buckets, qrt::parseBuckets(options.buckets));
  }
  if (!options.data.empty()) {
    QRT_ASSIGN_OR_RETURN(qrt::Manifest manifest, qrt::readManifest(options.data));
    if (manifest.kind != qrt::DataKind::Packed)
      return qrt::error(StatusCode::InvalidUsage, "--data: {} holds {} data; `qrun pack` makes rows of it",
                        options.data, qrt::dataKindName(manifest.kind));
    pipeline.buckets = qrt::chooseBuckets(manifest);
  }
  return pipeline;
}

/// "141GB", "80GiB", "512MB" or a number of bytes.
static StatusOr<int64_t> parseBytes(const std::string &text) {
  const std::pair<llvm::StringRef, double> units[] = {
      {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"GB", 1e9}, {"MB", 1e6}, {"", 1}};
  for (auto &[unit, size] : units) {
    llvm::StringRef number = text;
    double value;
    if (number.consume_back(unit) && !number.trim().getAsDouble(value) && value > 0 && value * size < 0x1p62)
      return static_cast<int64_t>(value * size);
  }
  return qrt::error(StatusCode::InvalidUsage, "--memory: expected an amount like 141GB or 80GiB, got {}", text);
}

Status build(const BuildOptions &options) {
  std::optional<Phase> until = qt::symbolizePhase(options.compileTo);
  if (!until)
    return qrt::error(StatusCode::InvalidUsage, "--compile-to: there is no phase {}", options.compileTo);
  if (*until == Phase::Program && options.output.empty())
    return qrt::error(StatusCode::InvalidUsage, "-o: a program needs a file to go to");
  QRT_ASSIGN_OR_RETURN(PipelineOptions pipeline, pipelineOptions(options));
  std::optional<int64_t> budget;
  if (!options.memory.empty()) {
    QRT_ASSIGN_OR_RETURN(budget, parseBytes(options.memory));
  }

  // One thread: remarks of passes that run in parallel race, and the order of diagnostics would change.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<qt::QtDialect, step::StepDialect, mlir::func::FuncDialect>();
  llvm::SourceMgr sources;
  // A whole module after its error would bury it.
  context.printOpOnDiagnostic(false);
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  std::optional<Explanation> explanation;
  if (options.explain)
    explanation.emplace(context);

  if (options.input != "-") {
    QRT_RETURN_IF_ERROR(qrt::checkReadable(options.input));
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(options.input, sources, &context);
  if (!module)
    return qrt::error(StatusCode::InvalidData, "{}: not a module of this compiler (see above)", options.input);
  Phase last = *until == Phase::Program ? Phase::Planned : *until;
  if (phaseOf(*module) < Phase::Bucketed && last >= Phase::Bucketed && pipeline.buckets.empty())
    return qrt::error(StatusCode::InvalidUsage, "no bucket to compile for: expected --buckets or --data");
  if (explanation && phaseOf(*module) == Phase::Model)
    explanation->countWritten(*module);
  if (explanation && phaseOf(*module) <= Phase::Fused && last >= Phase::Formed) {
    // Costs are those of the entry functions as they will run, before they become instructions.
    mlir::LogicalResult compiled = compileTo(*module, std::min(last, Phase::Fused), pipeline);
    // A model that got stuck is the one to explain.
    explanation->print(*module, llvm::outs());
    if (mlir::failed(compiled))
      return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  }
  if (mlir::failed(compileTo(*module, last, pipeline)))
    return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  if (*until != Phase::Program) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    stream << "\n";
    return writeOutput(options.output, text);
  }

  mlir::FailureOr<std::vector<uint8_t>> program = emitProgram(*module);
  if (mlir::failed(program))
    return qrt::error(StatusCode::InvalidData, "{}: the build failed (see above)", options.input);
  // The runtime's verifier has the last word, before anything is written.
  std::vector<uint8_t> bytes = std::move(*program);
  QRT_RETURN_IF_ERROR(qrt::Program::fromBytes(bytes, options.output).status());
  // Written first: a reader of the report may go away before its end.
  QRT_RETURN_IF_ERROR(writeOutput(options.output, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
  printMemoryReport(reportMemory(*module), llvm::outs(), budget);
  return Status();
}

} // namespace qcc
