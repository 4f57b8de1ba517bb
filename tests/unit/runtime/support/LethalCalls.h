// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kills a process at a chosen system call of a save. A program that includes this file (once) has its own write, fsync
// and rename: they count down and the process dies in the place of the last call.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_LETHALCALLS_H
#define TESTS_UNIT_RUNTIME_SUPPORT_LETHALCALLS_H

#include <csignal>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace qrt::test {

inline int lethalCallsLeft = -1;

inline void countDown() {
  if (lethalCallsLeft > 0 && --lethalCallsLeft == 0)
    ::kill(::getpid(), SIGKILL);
}

/// Runs save() (true: it worked) in a child that dies at its call number `lethal` to write, fsync or rename. Returns
/// whether it died; if not, it has saved.
template <typename Save> bool diesAtCall(int lethal, Save &&save) {
  pid_t child = ::fork();
  if (child == 0) {
    lethalCallsLeft = lethal;
    ::_exit(save() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

} // namespace qrt::test

extern "C" ssize_t write(int descriptor, const void *data, size_t size) {
  qrt::test::countDown();
  return ::syscall(SYS_write, descriptor, data, size);
}
extern "C" int fsync(int descriptor) {
  qrt::test::countDown();
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char *from, const char *to) noexcept {
  qrt::test::countDown();
  return static_cast<int>(::syscall(SYS_rename, from, to));
}

#endif // TESTS_UNIT_RUNTIME_SUPPORT_LETHALCALLS_H
