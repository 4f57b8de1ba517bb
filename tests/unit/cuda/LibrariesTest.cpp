// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The libraries that are looked at while a GPU works, on a machine with or without one.
#include "runtime/backends/cuda/cupti/Cupti.h"
#include "runtime/backends/cuda/nvml/Nvml.h"
#include "runtime/backends/cuda/nvml/TelemetrySampler.h"

#include <gmock/gmock.h>

namespace qrt::cuda {
namespace {

using testing::HasSubstr;

TEST(Libraries, CuptiSaysWhatItIsForWhereItIsMissing) {
  ASSERT_EQ(::setenv("QCC_CUPTI_DIR", "/nonexistent", 1), 0);
  StatusOr<const Cupti *> cupti = Cupti::open();
  ASSERT_FALSE(cupti.ok());
  EXPECT_EQ(cupti.status().code(), StatusCode::Unsupported);
  EXPECT_THAT(cupti.status().message(),
              HasSubstr("CUPTI, which records what a GPU does (QCC_CUPTI_DIR names its folder) cannot be opened: "));
}

TEST(Libraries, WithoutAGpuThereIsNoTelemetry) {
  TelemetrySampler sampler("ffff:ff:1f.0");
  Telemetry telemetry = sampler.finish();
  EXPECT_EQ(telemetry.megahertz, std::nullopt);
  EXPECT_EQ(telemetry.watts, std::nullopt);
}

TEST(Libraries, MediansAreOfTheSecondHalf) {
  EXPECT_EQ(medianWhenWarm({}), std::nullopt);
  EXPECT_EQ(medianWhenWarm({5}), 5);
  EXPECT_EQ(medianWhenWarm({1900, 1900, 1900, 1400, 1300, 1500}), 1400);
}

} // namespace
} // namespace qrt::cuda
