// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qcc/BuildDiagnostics.h"

namespace qcc {

BuildDiagnostics::BuildDiagnostics(llvm::SourceMgr &sources, mlir::MLIRContext &context)
    : SourceMgrDiagnosticHandler(sources, &context) {
  // A whole module after its error would bury it.
  context.printOpOnDiagnostic(false);
  setHandler([this](mlir::Diagnostic &diagnostic) { print(diagnostic); });
}

void BuildDiagnostics::print(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getLocation() != module_)
    return emitDiagnostic(diagnostic);
  emitDiagnostic(diagnostic.getLocation(), diagnostic.str(), diagnostic.getSeverity(), /*displaySourceLine=*/false);
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    emitDiagnostic(note.getLocation(), note.str(), note.getSeverity(),
                   /*displaySourceLine=*/note.getLocation() != module_);
}

} // namespace qcc
