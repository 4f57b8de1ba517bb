// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_COMPILEDEVICECODE_H
#define RUNTIME_BACKENDS_CUDA_COMPILEDEVICECODE_H

#include "runtime/nvrtc/CubinCache.h"

namespace qrt::cuda {

/// Compiles a device function of device/ (see DeviceLaunch) for an architecture, through the cache.
StatusOr<Cubin> compileDeviceCode(CubinCache &cache, std::string_view source, const std::string &function,
                                  std::string_view architecture);

/// What the assembler reported of a device function.
struct DeviceCodeReport {
  int registers = 0;
  /// Bytes a thread.
  int64_t stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0;
  /// Bytes a block, besides what a launch asks for.
  int64_t sharedBytes = 0;
  /// Warnings that cost speed without a word at run time: C7504, C7508, C7520 and their kin (wgmma serialised,
  /// setmaxnreg ignored). Whole lines, of whatever was compiled together with the function.
  std::vector<std::string> warnings;
};
/// The report in a cubin's log. InvalidData if it has none of the cubin's function.
StatusOr<DeviceCodeReport> readReport(const Cubin &cubin);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_COMPILEDEVICECODE_H
