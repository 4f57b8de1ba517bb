// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qcc-lsp-server: an editor's view of the compiler's dialects.
#include "dialects/qt/Qt.h"
#include "dialects/step/Step.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<qt::QtDialect, step::StepDialect, mlir::func::FuncDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
