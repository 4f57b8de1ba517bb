// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What counts as waiting for earlier grids, in functions that do and do not.
#include "tests/unit/cuda/MachineCode.h"

#include "runtime/backends/cuda/DeviceSources.h"

#include <gtest/gtest.h>

namespace qrt::cuda::test {
namespace {

/// What is said of a function with this body, of an array of `count` floats.
std::string refusal(const std::string &body) {
  StatusOr<const Nvrtc *> nvrtc = Nvrtc::open();
  EXPECT_TRUE(nvrtc.ok()) << nvrtc.status().message();
  std::string source = "#include \"Common.cuh\"\nusing namespace qrt::device;\n"
                       "template <typename T> __global__ void f(T *data, int count) {\n"
                       "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
                       body + "}\n";
  StatusOr<Cubin> cubin = (*nvrtc)->compile(deviceSources(), source, "f<float>", "sm_90a");
  EXPECT_TRUE(cubin.ok()) << cubin.status().message();
  Status status = checkAwaitsEarlierGrids(*cubin);
  return status.ok() ? "" : status.message();
}

constexpr const char *kBefore = "before any", *kNone = "got none";

TEST(MachineCode, WaitsBeforeItDoesAnything) {
  EXPECT_EQ(refusal("awaitEarlierGrids(); if (i < count) data[i] = 1;"), "");
  EXPECT_EQ(refusal("awaitEarlierGrids(); if (i < count) data[i] += data[count];"), "");
}

TEST(MachineCode, TellsWhoDoesNotWait) {
  EXPECT_NE(refusal("if (i < count) data[i] = 1;").find(kBefore), std::string::npos);
  EXPECT_NE(refusal("").find(kBefore), std::string::npos) << "it ends at once";
}

TEST(MachineCode, TellsWhoWaitsTooLate) {
  EXPECT_NE(refusal("data[i] = 1; awaitEarlierGrids();").find(kBefore), std::string::npos) << "a store";
  EXPECT_NE(refusal("float x = data[i]; awaitEarlierGrids(); data[i] = x + 1;").find(kBefore), std::string::npos);
  EXPECT_NE(refusal("if (i >= count) return; awaitEarlierGrids(); data[i] = 1;").find(kBefore), std::string::npos)
      << "some threads end before";
  EXPECT_NE(refusal("if (i < count) awaitEarlierGrids(); data[i] = 1;").find(kBefore), std::string::npos)
      << "some threads do not wait";
  EXPECT_NE(refusal("__shared__ int x; x = i; __syncthreads(); awaitEarlierGrids(); data[x] = 1;").find(kBefore),
            std::string::npos)
      << "nothing may come before";
}

TEST(MachineCode, NeedsTheFunction) {
  Cubin cubin;
  cubin.symbol = "f";
  cubin.image.resize(64 + 64);
  // A header with one section, which has no name and holds none.
  cubin.image[40] = 64;
  cubin.image[60] = 1;
  EXPECT_NE(checkAwaitsEarlierGrids(cubin).message().find(kNone), std::string::npos);
}

} // namespace
} // namespace qrt::cuda::test
