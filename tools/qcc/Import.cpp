// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/Import.h"

#include "dialects/qt/Qt.h"
#include "models/qwen/Qwen35.h"
#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "tools/cli/PathKind.h"
#include "tools/qcc/Output.h"

#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

using qrt::Status;
using qrt::StatusCode;
using qrt::StatusOr;

namespace qcc {

/// What holds no config says which command it is for.
static Status checkSource(const std::string &path) {
  std::string hint;
  switch (qrt::pathKind(path)) {
  case qrt::PathKind::HuggingFace:
  case qrt::PathKind::Json:
    return Status();
  case qrt::PathKind::Missing:
    return qrt::checkReadable(path);
  case qrt::PathKind::Module:
    hint = fmt::format("; `qcc build {} -o model.qprog --data packed/` compiles it", path);
    break;
  case qrt::PathKind::Program:
    hint = fmt::format("; `qrun inspect {}` shows it", path);
    break;
  case qrt::PathKind::Run:
    hint = fmt::format("; `qcc import {}` takes its checkpoint", qrt::joinPath(path, "checkpoint"));
    break;
  case qrt::PathKind::Folder:
    hint = " without a config.json";
    break;
  case qrt::PathKind::Safetensors:
    hint = ": the config.json beside it says what the model is";
    break;
  case qrt::PathKind::File:
  case qrt::PathKind::Tokens:
  case qrt::PathKind::Packed:
  case qrt::PathKind::JsonLines:
    break;
  }
  return qrt::error(StatusCode::InvalidUsage, "{}{}", qrt::expectedPath(path, "a Hugging Face folder or a config.json"),
                    hint);
}

static StatusOr<qwen::Config> readConfig(const ImportOptions &options) {
  if (options.source.empty() == options.size.empty())
    return qrt::error(StatusCode::InvalidUsage, "expected HF_DIR or --size NAME, one of the two");
  if (!options.size.empty())
    return qwen::configByName(options.size);
  QRT_RETURN_IF_ERROR(checkSource(options.source));
  std::string path = qrt::isDirectory(options.source) ? qrt::joinPath(options.source, "config.json") : options.source;
  QRT_ASSIGN_OR_RETURN(qrt::Json json, qrt::readJsonFile(path));
  return qwen::parseConfig(json, path);
}

/// "model.mlir: 64 layers, 851 parameters with 26,895,998,464 elements, bf16".
static std::string describe(const std::string &path, mlir::ModuleOp module, const qwen::Config &config) {
  int64_t parameters = 0, elements = 0;
  for (auto parameter : module.getOps<qt::ParameterOp>()) {
    ++parameters;
    elements += llvm::cast<mlir::RankedTensorType>(parameter.getType()).getNumElements();
  }
  return fmt::format(
      "{}: {}, {} with {}, {}\n", path, qrt::countOf(static_cast<int64_t>(config.layers.size()), "layer"),
      qrt::countOf(parameters, "parameter"), qrt::countOf(elements, "element"), qrt::dtypeName(config.dtype));
}

Status importModel(const ImportOptions &options) {
  QRT_ASSIGN_OR_RETURN(qwen::Config config, readConfig(options));
  if (options.layers)
    QRT_RETURN_IF_ERROR(qwen::setLayers(config, *options.layers));
  if (options.dtype == "f32")
    config.dtype = qrt::DType::F32;
  else if (options.dtype == "bf16")
    config.dtype = qrt::DType::BF16;
  else if (!options.dtype.empty())
    return qrt::error(StatusCode::InvalidUsage, "--dtype: expected bf16 or f32, got {}", options.dtype);

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module = qwen::buildModel(context, config);
  if (mlir::failed(mlir::verify(*module)))
    return qrt::error(StatusCode::InvalidData, "the model is not valid (see above)");

  std::string contents;
  llvm::raw_string_ostream out(contents);
  if (!options.bytecode)
    module->print(out);
  else if (mlir::failed(mlir::writeBytecodeToFile(*module, out)))
    return qrt::error(StatusCode::InvalidData, "the model cannot be written as bytecode");
  QRT_RETURN_IF_ERROR(writeOutput(options.output, contents));
  if (!isStandardOutput(options.output))
    llvm::outs() << describe(options.output, *module, config);
  return Status();
}

} // namespace qcc
