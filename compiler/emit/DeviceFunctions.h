// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_EMIT_DEVICEFUNCTIONS_H
#define COMPILER_EMIT_DEVICEFUNCTIONS_H

#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace qcc {

/// Machine code of one function, and its symbol in there.
struct DeviceFunction {
  std::string symbol;
  std::vector<uint8_t> image;
};

/// Machine code that is there already, as in the program that a further bucket is for.
using FindDeviceFunction = std::function<std::optional<DeviceFunction>(llvm::StringRef name)>;

/// The device functions that the instructions of a planned module become on a GPU, by name.
struct DeviceFunctions {
  std::map<std::string, DeviceFunction> functions;
  /// Of these: those that `find` did not have, and that the cache on disk did not have either.
  int64_t built = 0, compiled = 0;
};
/// What `find` (may be empty) does not have is compiled through the cache on disk. Failures are diagnosed.
mlir::FailureOr<DeviceFunctions> compileDeviceFunctions(mlir::ModuleOp module, const Target &target,
                                                        const FindDeviceFunction &find = {});

/// What compiles them: "NVRTC 13.0". Diagnosed where there is none.
mlir::FailureOr<std::string> deviceCompiler(mlir::ModuleOp module);

} // namespace qcc

#endif // COMPILER_EMIT_DEVICEFUNCTIONS_H
