// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_EMIT_EMITPROGRAM_H
#define COMPILER_EMIT_EMITPROGRAM_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace qcc {

/// The bytes of a .qprog (runtime/schema/step_program.fbs) for a module in the phase `planned`: its step entries, the
/// table of parameters, the choices that the module records, and the functions for any row, from which further buckets
/// are made, as bytecode in the phase `grad` without locations. The same module gives the same bytes. Failures are
/// diagnosed.
mlir::FailureOr<std::vector<uint8_t>> emitProgram(mlir::ModuleOp module);

} // namespace qcc

#endif // COMPILER_EMIT_EMITPROGRAM_H
