// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An export that dies at any system call leaves nothing under its name, and the next one works.
#include "runtime/train/ExportCheckpoint.h"
#include "tests/unit/runtime/support/LethalCalls.h"
#include "tests/unit/runtime/support/TempDirectory.h"
#include "tests/unit/runtime/support/TinyCheckpoint.h"
#include "tests/unit/runtime/support/TinySession.h"

namespace qrt {
namespace {

using namespace test;

TEST(ExportCrash, IsWholeOrNotThere) {
  TempDirectory directory;
  std::string in = directory / "in", out = directory / "out";
  writeTensors(in, tinyTensors());
  ASSERT_OK(writeFileAtomically(joinPath(in, "config.json"), "{}"));
  // One thread: the child has no other.
  std::unique_ptr<Session> session = makeSession({}, {kTinyBucket}, {.threads = 1});
  StatusOr<WeightSource> source = WeightSource::open(session->program(), in);
  ASSERT_OK(source);
  ASSERT_OK(loadWeights(*session, *source));
  int deaths = 0, incomplete = 0;
  for (int lethal = 1;; ++lethal) {
    ASSERT_LT(lethal, 1000);
    bool died = diesAtCall(
        lethal, [&] { return exportCheckpoint(*session, out, {.source = &*source, .maxShardBytes = 500}).ok(); });
    if (pathExists(out)) {
      EXPECT_EQ(readTensors(out), tinyTensors());
      ASSERT_TRUE(pathExists(joinPath(out, "config.json")));
      ASSERT_OK(removeFlatDirectory(out));
    } else {
      ++incomplete;
    }
    deaths += died;
    if (!died)
      break;
  }
  EXPECT_GT(deaths, 15);
  EXPECT_GE(incomplete, deaths - 3);
}

} // namespace
} // namespace qrt
