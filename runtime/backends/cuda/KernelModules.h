// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_KERNELMODULES_H
#define RUNTIME_BACKENDS_CUDA_KERNELMODULES_H

#include "runtime/backends/cuda/DeviceCode.h"
#include "runtime/backends/cuda/driver/Driver.h"
#include "runtime/backends/cuda/plan/KernelPlan.h"

#include <cstdint>
#include <functional>
#include <map>

namespace qrt::cuda {

/// Where the machine code of a device function comes from: a program's table, or a compiler.
using FindDeviceCode = std::function<StatusOr<DeviceCode>(std::string_view source, const std::string &function)>;

/// Device functions by name, loaded once each into the current context.
class KernelModules {
public:
  KernelModules(const Driver &driver, FindDeviceCode find) : driver_(driver), find_(std::move(find)) {}
  ~KernelModules();
  KernelModules(const KernelModules &) = delete;

  /// The function of a launch, made ready for its shared memory.
  StatusOr<CUfunction> function(const DeviceLaunch &launch);

  /// Functions loaded so far.
  int64_t size() const { return static_cast<int64_t>(loaded_.size()); }

private:
  struct Loaded {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    uint32_t sharedBytes = 0;
  };

  const Driver &driver_;
  FindDeviceCode find_;
  std::map<std::string, Loaded> loaded_;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_KERNELMODULES_H
