// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published values of the hash: a resumed run must draw the same numbers.
#include "compiler/autodiff/MemberKey.h"

#include <gtest/gtest.h>

TEST(MemberKey, IsFnv1a) {
  EXPECT_EQ(qcc::memberKey(""), static_cast<int64_t>(0xcbf29ce484222325 >> 1));
  EXPECT_EQ(qcc::memberKey("a"), static_cast<int64_t>(0xaf63dc4c8601ec8c >> 1));
  EXPECT_EQ(qcc::memberKey("foobar"), static_cast<int64_t>(0x85944171f73967e8 >> 1));
}
