// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qcc-opt: any pass or phase of the compiler on any module, in the manner of mlir-opt.
#include "compiler/Passes.h"
#include "dialects/qt/Qt.h"
#include "dialects/step/Step.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<qt::QtDialect, step::StepDialect, mlir::func::FuncDialect>();
  qcc::registerQccPasses();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "qcc-opt: run compiler passes one by one\n", registry));
}
