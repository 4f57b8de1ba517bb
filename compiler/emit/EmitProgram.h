// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_EMIT_EMITPROGRAM_H
#define COMPILER_EMIT_EMITPROGRAM_H

#include "compiler/emit/DeviceFunctions.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace qcc {

/// The bytes of a .qprog (runtime/schema/step_program.fbs) for a module in the phase `planned`: its step entries, the
/// table of parameters, the choices that the module records, and the functions for any row, from which further buckets
/// are made, as bytecode in the phase `grad` without locations. The same module gives the same bytes. Failures are
/// diagnosed.
///
/// On a GPU, machine code that `find` has is taken, the rest compiled; `compiled`, if given, grows by the number of
/// functions that the device compiler made.
mlir::FailureOr<std::vector<uint8_t>> emitProgram(mlir::ModuleOp module, const FindDeviceFunction &find = {},
                                                  int64_t *compiled = nullptr);

} // namespace qcc

#endif // COMPILER_EMIT_EMITPROGRAM_H
