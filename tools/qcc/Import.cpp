// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/Import.h"

#include "models/qwen/Qwen35.h"
#include "runtime/base/File.h"
#include "tools/qcc/Output.h"

#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

using qrt::Status;
using qrt::StatusCode;
using qrt::StatusOr;

namespace qcc {

static StatusOr<qwen::Config> readConfig(const ImportOptions &options) {
  if (options.source.empty() == options.size.empty())
    return qrt::error(StatusCode::InvalidUsage, "expected a Hugging Face folder or --size, one of the two");
  if (!options.size.empty())
    return qwen::configByName(options.size);
  std::string path = qrt::isDirectory(options.source) ? qrt::joinPath(options.source, "config.json") : options.source;
  QRT_ASSIGN_OR_RETURN(qrt::Json json, qrt::readJsonFile(path));
  return qwen::parseConfig(json, path);
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
  return writeOutput(options.output, contents);
}

} // namespace qcc
