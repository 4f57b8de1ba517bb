// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_NVML_TELEMETRYSAMPLER_H
#define RUNTIME_BACKENDS_CUDA_NVML_TELEMETRYSAMPLER_H

#include "runtime/device/Device.h"

#include <string>
#include <thread>
#include <vector>

namespace qrt::cuda {

/// Looks at a GPU's clock and power while it works, some fifty times a second, in a thread of its own.
class TelemetrySampler {
public:
  /// Begins. Where there is no NVML, or no GPU at this PCI address, nothing is seen.
  explicit TelemetrySampler(const std::string &pciBusId);

  /// Ends it: the medians of what was seen in the second half of the time, when the GPU is warm.
  Telemetry finish();

private:
  std::vector<double> megahertz_, watts_;
  /// Last: ends before what it writes to.
  std::jthread thread_;
};

/// The median of the second half of samples in the order in which they were taken; nothing of none.
std::optional<double> medianWhenWarm(std::vector<double> samples);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_NVML_TELEMETRYSAMPLER_H
