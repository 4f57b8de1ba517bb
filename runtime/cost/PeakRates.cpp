// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cost/PeakRates.h"

namespace qrt {

std::optional<double> peakRate(std::string_view device, DType dtype) {
  // 528 tensor cores at 1,830 MHz, 1,024 operations a cycle each.
  constexpr struct {
    std::string_view device;
    DType dtype;
    double rate;
  } kPeaks[] = {
      {"NVIDIA H200", DType::BF16, 989.4e12},
      {"NVIDIA H100 80GB HBM3", DType::BF16, 989.4e12},
  };
  for (const auto &peak : kPeaks)
    if (peak.device == device && peak.dtype == dtype)
      return peak.rate;
  return std::nullopt;
}

} // namespace qrt
