// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that is killed at any system call of a save leaves the previous file, whole (docs/failures.md, row 30).
// This program has its own write, fsync and rename: they count down and kill the process in the place of the last call.
#include "runtime/base/File.h"

#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int callsLeft = -1;

void countDown() {
  if (callsLeft > 0 && --callsLeft == 0)
    ::kill(::getpid(), SIGKILL);
}

} // namespace

extern "C" ssize_t write(int descriptor, const void *data, size_t size) {
  countDown();
  return ::syscall(SYS_write, descriptor, data, size);
}
extern "C" int fsync(int descriptor) {
  countDown();
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char *from, const char *to) noexcept {
  countDown();
  return static_cast<int>(::syscall(SYS_rename, from, to));
}

using namespace qrt;

namespace {

/// Saves in a child that dies at call `lethal`; returns whether it died.
bool saveAndDie(const std::string &path, const std::string &contents, int lethal) {
  pid_t child = ::fork();
  if (child == 0) {
    callsLeft = lethal;
    auto file = AtomicFile::create(path);
    bool ok = file.ok();
    for (size_t i = 0; ok && i < contents.size(); i += 1'500'000)
      ok = file->append(asBytes(std::string_view(contents).substr(i, 1'500'000))).ok();
    ok = ok && file->commit().ok();
    ::_exit(ok ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

} // namespace

TEST(AtomicFileCrash, TheOldOrTheNewFileIsThereWhole) {
  test::TempDirectory directory;
  std::string path = directory / "checkpoint";
  std::string before(4'000'000, 'a');
  std::string after(5'000'000, 'b');
  ASSERT_OK(writeFileAtomically(path, before));
  int deaths = 0;
  bool renamed = false;
  for (int lethal = 1;; ++lethal) {
    bool died = saveAndDie(path, after, lethal);
    auto read = readFile(path, 1 << 30);
    ASSERT_OK(read);
    if (!died) {
      EXPECT_TRUE(*read == after);
      break;
    }
    ++deaths;
    // Once the rename has happened it stays: only the flush of the directory follows.
    renamed = renamed || *read == after;
    EXPECT_TRUE(*read == (renamed ? after : before)) << "killed at call " << lethal;
  }
  // Three writes at least, the flush, the rename, the directory's flush.
  EXPECT_GE(deaths, 6);
  EXPECT_FALSE(pathExists(path + ".partial"));
}
