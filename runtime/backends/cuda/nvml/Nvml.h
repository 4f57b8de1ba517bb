// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVML, the driver's library that tells a GPU's clocks and power, opened while the program runs. The few types and
// numbers that are used are declared here; they are part of its binary interface.
#ifndef RUNTIME_BACKENDS_CUDA_NVML_NVML_H
#define RUNTIME_BACKENDS_CUDA_NVML_NVML_H

#include "runtime/base/DynamicLibrary.h"

#include <optional>
#include <type_traits>

namespace qrt::cuda {

using NvmlDevice = struct NvmlDeviceOpaque *;

struct NvmlFunctions {
#define QRT_NVML(name, ...) std::add_pointer_t<__VA_ARGS__> name;
#include "runtime/backends/cuda/nvml/NvmlApi.def"
};

class Nvml {
public:
  /// Opened and initialized on first use, then shared. Unsupported where the driver came without it.
  static StatusOr<const Nvml *> open();

  /// The GPU at a PCI address as the CUDA driver prints it: "0000:1b:00.0". Unsupported if NVML knows none there.
  StatusOr<NvmlDevice> device(const std::string &pciBusId) const;
  /// The clock of its multiprocessors in MHz, and the power that it draws in W, as averaged by the driver; nothing
  /// where NVML does not tell it.
  std::optional<double> multiprocessorMegahertz(NvmlDevice device) const;
  std::optional<double> watts(NvmlDevice device) const;

private:
  friend class OpenedLibrary<Nvml>;
  Nvml() = default;
  Status load();

  NvmlFunctions functions_{};
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_NVML_NVML_H
