// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/InProcessCompiler.h"

#include "compiler/Pipeline.h"
#include "compiler/emit/DeviceFunctions.h"
#include "compiler/emit/EmitProgram.h"
#include "dialects/step/Step.h"
#include "runtime/base/File.h"
#include "runtime/program/Program.h"

#include "llvm/Support/SourceMgr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using qrt::Status;
using qrt::StatusCode;
using qrt::StatusOr;

namespace qcc {
namespace {

/// A context whose errors become the message of a Status.
class Compilation {
public:
  Compilation() : context_(MLIRContext::Threading::DISABLED) {
    context_.loadDialect<qt::QtDialect, step::StepDialect, func::FuncDialect>();
    context_.printOpOnDiagnostic(false);
    context_.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      // A warning stands by itself: a build that succeeds has no message to be a part of.
      if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
        llvm::errs() << print(diagnostic, "warning") << "\n";
      else
        messages_ += "\n" + print(diagnostic, "error");
    });
  }

  MLIRContext &context() { return context_; }

  Status failed(const std::string &source) const {
    return qrt::error(StatusCode::InvalidData, "{}: the build failed:{}", source, messages_);
  }

  /// A parsed module, compiled to the bytes of a program.
  StatusOr<std::vector<uint8_t>> run(OwningOpRef<ModuleOp> module, const PipelineOptions &options,
                                     const std::string &source, int64_t &compiled,
                                     const FindDeviceFunction &find = {}) {
    if (!module || mlir::failed(compileTo(*module, Phase::Planned, options)))
      return failed(source);
    FailureOr<std::vector<uint8_t>> program = emitProgram(*module, find, &compiled);
    if (mlir::failed(program))
      return failed(source);
    return std::move(*program);
  }

private:
  /// With its notes, a line each, as `file:line:col: kind: message`.
  static std::string print(const Diagnostic &diagnostic, StringRef kind) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    auto printLine = [&](const Diagnostic &line, StringRef lineKind) {
      if (auto place = line.getLocation()->findInstanceOf<FileLineColLoc>())
        stream << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn() << ": ";
      stream << lineKind << ": " << line;
    };
    printLine(diagnostic, kind);
    for (const Diagnostic &note : diagnostic.getNotes()) {
      stream << "\n";
      printLine(note, "note");
    }
    return text;
  }

  MLIRContext context_;
  std::string messages_;
};

} // namespace

StatusOr<std::vector<uint8_t>> InProcessCompiler::compile(const std::string &path,
                                                          const std::vector<qrt::BucketShape> &buckets,
                                                          const qrt::CompileOptions &options) {
  PipelineOptions pipeline;
  pipeline.buckets = buckets;
  QRT_RETURN_IF_ERROR(parseChoices(options.states, options.remat, options.target, options.memory, pipeline));
  QRT_RETURN_IF_ERROR(qrt::checkReadable(path));
  Compilation compilation;
  return compilation.run(parseSourceFile<ModuleOp>(path, &compilation.context()), pipeline, path, compiledFunctions_);
}

StatusOr<std::vector<uint8_t>> InProcessCompiler::specialize(const qrt::Program &program,
                                                             const qrt::BucketShape &bucket) {
  // The module in the program records the choices that it was built with.
  PipelineOptions pipeline;
  pipeline.buckets = {bucket};
  Compilation compilation;
  std::span<const uint8_t> model = program.model();
  llvm::StringRef bytes(reinterpret_cast<const char *>(model.data()), model.size());
  // The program's own functions have run with these plans: none of them is compiled again.
  auto find = [&program](llvm::StringRef name) -> std::optional<DeviceFunction> {
    const qrt::DeviceFunction *function = program.findDeviceFunction({name.data(), name.size()});
    if (!function)
      return std::nullopt;
    return DeviceFunction{std::string(function->symbol), {function->image.begin(), function->image.end()}};
  };
  return compilation.run(parseSourceString<ModuleOp>(bytes, &compilation.context()), pipeline, program.source(),
                         compiledFunctions_, find);
}

} // namespace qcc
