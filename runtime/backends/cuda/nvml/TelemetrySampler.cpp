// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/nvml/TelemetrySampler.h"

#include "runtime/backends/cuda/nvml/Nvml.h"

#include <algorithm>
#include <chrono>

namespace qrt::cuda {

TelemetrySampler::TelemetrySampler(const std::string &pciBusId) {
  StatusOr<const Nvml *> nvml = Nvml::open();
  if (!nvml.ok())
    return;
  StatusOr<NvmlDevice> device = (*nvml)->device(pciBusId);
  if (!device.ok())
    return;
  thread_ = std::jthread([this, nvml = *nvml, device = *device](const std::stop_token &stop) {
    constexpr std::chrono::milliseconds kPause(20);
    while (!stop.stop_requested()) {
      if (std::optional<double> megahertz = nvml->multiprocessorMegahertz(device))
        megahertz_.push_back(*megahertz);
      if (std::optional<double> watts = nvml->watts(device))
        watts_.push_back(*watts);
      std::this_thread::sleep_for(kPause);
    }
  });
}

Telemetry TelemetrySampler::finish() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  return {medianWhenWarm(std::move(megahertz_)), medianWhenWarm(std::move(watts_))};
}

std::optional<double> medianWhenWarm(std::vector<double> samples) {
  if (samples.empty())
    return std::nullopt;
  auto half = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2), middle = half + (samples.end() - half) / 2;
  std::nth_element(half, middle, samples.end());
  return *middle;
}

} // namespace qrt::cuda
