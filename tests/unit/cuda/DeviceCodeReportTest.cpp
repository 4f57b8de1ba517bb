// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assembler's log, as NVRTC 13.0 gives it.
#include "runtime/backends/cuda/CompileDeviceCode.h"

#include <gtest/gtest.h>

namespace qrt::cuda {
namespace {

constexpr std::string_view kLog = R"(ptxas info    : 20 bytes gmem
ptxas info    : Compiling entry function '_Z5otherv' for 'sm_90a'
ptxas info    : Function properties for _Z5otherv
ptxas         .     512 bytes stack frame, 500 bytes spill stores, 700 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 512 bytes cumulative stack size, 9000 bytes smem
ptxas info    : Compile time = 241.608 ms
ptxas info    : Compiling entry function '_Z4oursv' for 'sm_90a'
ptxas info    : Function properties for _Z4oursv
ptxas         .     16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 168 registers, used 16 barriers, 16 bytes cumulative stack size, 36 bytes smem
ptxas info    : Compile time = 1442.624 ms
)";

TEST(DeviceCodeReport, IsThatOfTheFunction) {
  StatusOr<DeviceCodeReport> report = readReport({"_Z4oursv", {}, std::string(kLog)});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->registers, 168);
  EXPECT_EQ(report->stackBytes, 16);
  EXPECT_EQ(report->spillStoreBytes, 12);
  EXPECT_EQ(report->spillLoadBytes, 8);
  EXPECT_EQ(report->sharedBytes, 36);
  EXPECT_TRUE(report->warnings.empty());
}

TEST(DeviceCodeReport, HasWarningsOfLostSpeed) {
  const std::string warnings[] = {
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at "
      "entry.",
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
      "insufficient register resources for the wgmma pipeline in the function '_Z5otherv'",
      "ptxas info    : (C7520) Potential Performance Loss: a warning to come"};
  std::string log(kLog);
  for (const std::string &warning : warnings)
    log += warning + "\n";
  StatusOr<DeviceCodeReport> report = readReport({"_Z4oursv", {}, log});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->warnings, std::vector<std::string>(std::begin(warnings), std::end(warnings)));
}

TEST(DeviceCodeReport, NeedsTheFunction) {
  StatusOr<DeviceCodeReport> report = readReport({"_Z4our", {}, std::string(kLog)});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("the log of _Z4our says nothing of it"), std::string::npos)
      << report.status().message();
}

} // namespace
} // namespace qrt::cuda
