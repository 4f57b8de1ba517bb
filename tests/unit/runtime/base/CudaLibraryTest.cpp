// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/CudaLibrary.h"

#include <filesystem>
#include <gmock/gmock.h>

namespace qrt {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFile = "libqcc-there-is-none.so.13";

Status openNothing() {
  return openCudaLibrary("nothing", kFile, "QCC_NOTHING_DIR", "tools/cuda_wheels.sh --gpu").status();
}

/// A build that was copied elsewhere has what `tools/cuda_wheels.sh` installed there.
TEST(CudaLibrary, IsLookedForInTheTreeOfTheRunningProgram) {
  std::filesystem::path build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::string wheels = build.parent_path() / ".cuda/nvidia/cu13/lib" / kFile;
  Status status = openNothing();
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_THAT(status.message(),
              HasSubstr("nothing (it comes with CUDA toolkit 13, or `tools/cuda_wheels.sh --gpu` installs "
                        "it; QCC_NOTHING_DIR may name its folder) cannot be opened: "));
  EXPECT_THAT(status.message(), HasSubstr(wheels + ": cannot open"));
  EXPECT_THAT(status.message(), HasSubstr("/usr/local/cuda/lib64/"));
}

TEST(CudaLibrary, IsThatOfTheVariableAlone) {
  ASSERT_EQ(::setenv("QCC_NOTHING_DIR", "/nowhere", 1), 0);
  EXPECT_THAT(std::string(openNothing().message()),
              testing::StartsWith("nothing (QCC_NOTHING_DIR names its folder) cannot be opened: /nowhere/"));
  EXPECT_THAT(openNothing().message(), testing::Not(HasSubstr(".cuda/")));
  ::unsetenv("QCC_NOTHING_DIR");
}

} // namespace
} // namespace qrt
