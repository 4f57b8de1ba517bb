// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A save of several shards that is killed at any system call leaves a directory that is refused, until all of it is
// there; and the previous checkpoint, in its own directory, loads (docs/failures.md, row 30).
#include "runtime/data/Checkpoint.h"
#include "tests/unit/runtime/support/LethalCalls.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

using namespace qrt;

namespace {

const std::string data(3'000'000, 'x');
const int64_t size = static_cast<int64_t>(data.size());

bool save(const std::string &directory) {
  auto writer = CheckpointWriter::create(directory,
                                         {{"a", DType::U8, {size}}, {"b", DType::U8, {size}}, {"c", DType::U8, {size}}},
                                         {.maxShardBytes = size});
  bool ok = writer.ok();
  for (const char *name : {"a", "b", "c"})
    ok = ok && writer->append(name, asBytes(data)).ok();
  return ok && writer->finish().ok();
}

} // namespace

TEST(CheckpointCrash, APartialCheckpointIsRefused) {
  test::TempDirectory directory;
  ASSERT_TRUE(save(directory / "step-1"));
  int deaths = 0;
  bool complete = false;
  for (int lethal = 1;; ++lethal) {
    std::string path = directory / fmt::format("step-2.{}", lethal);
    bool died = test::diesAtCall(lethal, [&] { return save(path); });
    EXPECT_OK(CheckpointReader::open(directory / "step-1"));
    auto reader = CheckpointReader::open(path);
    // The index is renamed last; after it only its directory is flushed.
    complete = complete || reader.ok();
    EXPECT_EQ(reader.ok(), complete) << "killed at call " << lethal;
    if (reader.ok()) {
      for (const char *name : {"a", "b", "c"})
        EXPECT_TRUE(std::string_view(reinterpret_cast<const char *>(reader->tensor(name)->bytes.data()), data.size()) ==
                    data);
    }
    if (!died)
      break;
    ++deaths;
  }
  EXPECT_TRUE(complete);
  // Four files: two writes or more, a flush, a rename and the directory's flush for each (the index: one write).
  EXPECT_GE(deaths, 19);
}
