// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_EMIT_EMITPROGRAM_H
#define COMPILER_EMIT_EMITPROGRAM_H

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace qcc {

struct EmitOptions {
  /// Who made it, with the version: "qcc 0.1.0".
  std::string producer;
  std::string target = "cpu";
  /// The options of the build: what another bucket must be built with. The order does not matter.
  std::vector<std::pair<std::string, std::string>> options;
};

/// The bytes of a .qprog (runtime/schema/step_program.fbs) for a module in the phase `planned`: its step entries, the
/// table of parameters, and the functions for any row, from which further buckets are made, as bytecode in the phase
/// `grad` without locations. The same module and options give the same bytes. Failures are diagnosed.
mlir::FailureOr<std::vector<uint8_t>> emitProgram(mlir::ModuleOp module, const EmitOptions &options);

} // namespace qcc

#endif // COMPILER_EMIT_EMITPROGRAM_H
