// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/NameKey.h"

#include <gtest/gtest.h>

namespace qrt {
namespace {

// Published values of the hash, without their lowest bit: what was trained with a key must find it again.
TEST(NameKey, IsFnv1a) {
  EXPECT_EQ(nameKey(""), static_cast<int64_t>(0xcbf29ce484222325 >> 1));
  EXPECT_EQ(nameKey("a"), static_cast<int64_t>(0xaf63dc4c8601ec8c >> 1));
  EXPECT_EQ(nameKey("foobar"), static_cast<int64_t>(0x85944171f73967e8 >> 1));
}

} // namespace
} // namespace qrt
