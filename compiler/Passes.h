// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_PASSES_H
#define COMPILER_PASSES_H

#include "dialects/qt/Qt.h"
#include "dialects/step/Step.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace qcc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Passes.h.inc"

} // namespace qcc

#endif // COMPILER_PASSES_H
