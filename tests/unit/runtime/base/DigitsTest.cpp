// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Digits.h"

#include <gtest/gtest.h>
#include <limits>

using namespace qrt;

TEST(Digits, GroupsByThree) {
  EXPECT_EQ(groupDigits(0), "0");
  EXPECT_EQ(groupDigits(999), "999");
  EXPECT_EQ(groupDigits(1000), "1,000");
  EXPECT_EQ(groupDigits(1234567), "1,234,567");
  EXPECT_EQ(groupDigits(-123), "-123");
  EXPECT_EQ(groupDigits(-123456), "-123,456");
  EXPECT_EQ(groupDigits(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}
