// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/nvrtc/Nvrtc.h"

#include "runtime/base/File.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace qrt;

namespace {

/// Machine code of a function and a variable of an unnamed namespace, for which the compiler makes up a name.
std::vector<uint8_t> compile() {
  std::string source = "namespace { __device__ int count; }\n"
                       "template <typename T> __global__ void f(T *x) { *x = atomicAdd(&count, 1); }\n";
  StatusOr<const Nvrtc *> nvrtc = Nvrtc::open();
  StatusOr<Cubin> cubin = (*nvrtc)->compile({}, source, "f<int>", "sm_90a");
  EXPECT_TRUE(cubin.ok()) << cubin.status().message();
  return cubin.ok() ? cubin->image : std::vector<uint8_t>();
}

TEST(Nvrtc, MakesTheSameBytesInEveryProcess) {
  if (StatusOr<const Nvrtc *> nvrtc = Nvrtc::open(); !nvrtc.ok())
    GTEST_SKIP() << nvrtc.status().message();
  test::TempDirectory folder;
  std::string path = folder / "child.cubin";
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::vector<uint8_t> image = compile();
    _exit(writeFileAtomically(path, {reinterpret_cast<const char *>(image.data()), image.size()}).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  StatusOr<std::string> theirs = readFile(path, 1 << 20);
  ASSERT_TRUE(theirs.ok()) << theirs.status().message();
  std::vector<uint8_t> image = compile();
  std::string ours(reinterpret_cast<const char *>(image.data()), image.size());
  ASSERT_FALSE(ours.empty());
  EXPECT_TRUE(ours == *theirs) << ours.size() << " bytes here, " << theirs->size() << " bytes there";
}

} // namespace
