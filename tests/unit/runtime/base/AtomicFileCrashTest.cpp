// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that is killed at any system call of a save leaves the previous file, whole (docs/failures.md, row 30).
#include "runtime/base/File.h"
#include "tests/unit/runtime/support/LethalCalls.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

using namespace qrt;

TEST(AtomicFileCrash, TheOldOrTheNewFileIsThereWhole) {
  test::TempDirectory directory;
  std::string path = directory / "checkpoint";
  std::string before(4'000'000, 'a');
  std::string after(5'000'000, 'b');
  ASSERT_OK(writeFileAtomically(path, before));
  int deaths = 0;
  bool renamed = false;
  for (int lethal = 1;; ++lethal) {
    bool died = test::diesAtCall(lethal, [&] {
      auto file = AtomicFile::create(path);
      bool ok = file.ok();
      for (size_t i = 0; ok && i < after.size(); i += 1'500'000)
        ok = file->append(asBytes(std::string_view(after).substr(i, 1'500'000))).ok();
      return ok && file->commit().ok();
    });
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
