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

TEST(Digits, CountsThings) {
  EXPECT_EQ(countOf(0, "document"), "0 documents");
  EXPECT_EQ(countOf(1, "document"), "1 document");
  EXPECT_EQ(countOf(20480, "document"), "20,480 documents");
}

TEST(Digits, PrintsMemory) {
  EXPECT_EQ(printGib(0), "0.000 GiB");
  EXPECT_EQ(printGib(int64_t{80} << 30), "80.000 GiB");
  EXPECT_EQ(printGib(141'000'000'000), "131.316 GiB");
  EXPECT_EQ(printBytes(4819968), "4,819,968 bytes (0.004 GiB)");
}
