// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tools/tokenize.py and this library write token data each by itself: the same documents must give the same shards, and
// what Python writes must open.
#include "runtime/data/TokenData.h"
#include "tests/unit/runtime/support/Shards.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <cstdlib>

using namespace qrt;

TEST(TokenData, PythonWritesTheSameShards) {
  if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3 is not here";
  test::TempDirectory directory;
  std::string script = fmt::format(R"(
import sys
sys.path.insert(0, "{}/tools")
from types import SimpleNamespace
from chatdata.tokenfiles import TokenWriter
with TokenWriter("{}/python", "a" * 64, "", 100, 4) as writer:
    for d, length in enumerate([3, 1, 4, 1, 5]):
        ids = [10 * d + t for t in range(length)]
        writer.add(SimpleNamespace(ids=ids, mask=bytes([0] + [1] * (length - 1))))
    writer.finish()
)",
                                   QCC_SOURCE_DIR, directory.path());
  ASSERT_OK(writeFileAtomically(directory / "script.py", script));
  ASSERT_EQ(std::system(("PYTHONDONTWRITEBYTECODE=1 python3 " + (directory / "script.py")).c_str()), 0);
  auto data = TokenData::open(directory / "python", DataKind::Tokens);
  ASSERT_OK(data);
  EXPECT_EQ(data->manifest().tokenizerSha256, std::string(64, 'a'));
  auto ours = test::writeDocuments(directory / "ours", {3, 1, 4, 1, 5},
                                   {.vocabularyBound = 100, .tokenizerSha256 = std::string(64, 'a'), .shardTokens = 4});
  ASSERT_OK(ours);
  EXPECT_TRUE(*ours == data->manifest());
}
