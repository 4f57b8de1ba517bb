// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/nvml/Nvml.h"

namespace qrt::cuda {

Status Nvml::load() {
  QRT_ASSIGN_OR_RETURN(DynamicLibrary library,
                       DynamicLibrary::open("NVML, a part of the NVIDIA driver", {"libnvidia-ml.so.1"}));
#define QRT_NVML(name, ...)                                                                                            \
  {                                                                                                                    \
    QRT_ASSIGN_OR_RETURN(void *address, library.symbol(#name));                                                        \
    functions_.name = reinterpret_cast<decltype(functions_.name)>(address);                                            \
  }
#include "runtime/backends/cuda/nvml/NvmlApi.def"
  if (int result = functions_.nvmlInit_v2())
    return error(StatusCode::Unsupported, "nvmlInit_v2: error {}", result);
  return Status();
}

StatusOr<const Nvml *> Nvml::open() { return OpenedLibrary<Nvml>::get(); }

StatusOr<NvmlDevice> Nvml::device(const std::string &pciBusId) const {
  NvmlDevice device = nullptr;
  if (int result = functions_.nvmlDeviceGetHandleByPciBusId_v2(pciBusId.c_str(), &device))
    return error(StatusCode::Unsupported, "NVML knows no GPU at {} (error {})", pciBusId, result);
  return device;
}

std::optional<double> Nvml::multiprocessorMegahertz(NvmlDevice device) const {
  constexpr int kMultiprocessors = 1;
  unsigned megahertz = 0;
  if (functions_.nvmlDeviceGetClockInfo(device, kMultiprocessors, &megahertz))
    return std::nullopt;
  return megahertz;
}

std::optional<double> Nvml::watts(NvmlDevice device) const {
  unsigned milliwatts = 0;
  if (functions_.nvmlDeviceGetPowerUsage(device, &milliwatts))
    return std::nullopt;
  return milliwatts * 1e-3;
}

} // namespace qrt::cuda
