// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Sha256.h"

#include "runtime/base/File.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

using namespace qrt;

// The examples of FIPS 180-4's companion: the empty text, "abc", 56 characters (two blocks), a million 'a'.
TEST(Sha256, PublishedVectors) {
  std::pair<std::string, const char *> cases[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (auto &[text, digest] : cases) {
    auto hash = sha256(asBytes(text));
    ASSERT_OK(hash);
    EXPECT_EQ(*hash, digest);
    EXPECT_TRUE(isSha256(*hash));

    Sha256 pieces;
    for (size_t i = 0; i < text.size(); i += 7777)
      pieces.update(asBytes(std::string_view(text).substr(i, 7777)));
    auto same = pieces.finish();
    ASSERT_OK(same);
    EXPECT_EQ(*same, digest);
  }
}

TEST(Sha256, Spelling) {
  EXPECT_FALSE(isSha256(""));
  EXPECT_FALSE(isSha256(std::string(63, 'a')));
  EXPECT_FALSE(isSha256(std::string(64, 'A')));
  EXPECT_FALSE(isSha256(std::string(64, 'g')));
}
