// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_QCC_BUILDDIAGNOSTICS_H
#define TOOLS_QCC_BUILDDIAGNOSTICS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace qcc {

/// Prints diagnostics with file, line and caret to standard error. What is about a module as a whole comes without its
/// first line, whose attributes are longer than any message.
class BuildDiagnostics : public mlir::SourceMgrDiagnosticHandler {
public:
  BuildDiagnostics(llvm::SourceMgr &sources, mlir::MLIRContext &context);

  /// Says which module is built, once it has been read.
  void setModule(mlir::ModuleOp module) { module_ = module.getLoc(); }

private:
  void print(mlir::Diagnostic &diagnostic);

  std::optional<mlir::Location> module_;
};

} // namespace qcc

#endif // TOOLS_QCC_BUILDDIAGNOSTICS_H
