// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cost/PeakRates.h"

#include <gtest/gtest.h>

namespace qrt {
namespace {

TEST(PeakRates, OfTheDevicesOfTheTable) {
  EXPECT_EQ(peakRate("NVIDIA H200", DType::BF16), 989.4e12);
  EXPECT_EQ(peakRate("NVIDIA H100 80GB HBM3", DType::BF16), 989.4e12);
}

TEST(PeakRates, AreUnknownOfAllOthers) {
  EXPECT_EQ(peakRate("NVIDIA H200 NVL", DType::BF16), std::nullopt);
  EXPECT_EQ(peakRate("NVIDIA H100 PCIe", DType::BF16), std::nullopt);
  EXPECT_EQ(peakRate("NVIDIA", DType::BF16), std::nullopt);
  EXPECT_EQ(peakRate("cpu", DType::BF16), std::nullopt);
  EXPECT_EQ(peakRate("", DType::BF16), std::nullopt);
  EXPECT_EQ(peakRate("NVIDIA H200", DType::F32), std::nullopt);
}

} // namespace
} // namespace qrt
