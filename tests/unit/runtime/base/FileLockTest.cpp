// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/FileLock.h"

#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <atomic>
#include <optional>
#include <thread>

namespace qrt {
namespace {

using namespace test;

// Each adds to a number that is no atomic one: none is lost.
TEST(FileLock, OneAtATime) {
  TempDirectory directory;
  std::string path = directory / "lock";
  constexpr int kThreads = 4, kRounds = 200;
  volatile int count = 0;
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        StatusOr<FileLock> lock = FileLock::take(path);
        ASSERT_OK(lock);
        EXPECT_EQ(++inside, 1);
        count = count + 1;
        --inside;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(FileLock, NamesWhatCannotBeMade) {
  TempDirectory directory;
  EXPECT_ERROR(FileLock::take(directory / "missing/lock"), StatusCode::Io, "missing/lock: No such file or directory");
}

} // namespace
} // namespace qrt
