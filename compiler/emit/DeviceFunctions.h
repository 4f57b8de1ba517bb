// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_EMIT_DEVICEFUNCTIONS_H
#define COMPILER_EMIT_DEVICEFUNCTIONS_H

#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace qcc {

/// Machine code of one function, and its symbol in there.
struct DeviceFunction {
  std::string symbol;
  std::vector<uint8_t> image;
};

/// The device functions that the instructions of a planned module become on a GPU, by name, compiled through the cache
/// on disk. Failures are diagnosed.
mlir::FailureOr<std::map<std::string, DeviceFunction>> compileDeviceFunctions(mlir::ModuleOp module,
                                                                              const Target &target);

/// What compiles them: "NVRTC 13.0". Diagnosed where there is none.
mlir::FailureOr<std::string> deviceCompiler(mlir::ModuleOp module);

} // namespace qcc

#endif // COMPILER_EMIT_DEVICEFUNCTIONS_H
