// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/BucketShape.h"

#include "tests/unit/runtime/support/StatusMatchers.h"

using namespace qrt;

TEST(BucketShape, PrintsAndParses) {
  for (BucketShape bucket : {BucketShape{8192, 16, 8192, 4096}, BucketShape::anyOf(512), BucketShape{1, 1, 1, 1},
                             BucketShape{BucketShape::kMaxTokens, 1, 2, 3}}) {
    auto parsed = parseBucket(printBucket(bucket));
    ASSERT_OK(parsed);
    EXPECT_EQ(*parsed, bucket);
  }
  EXPECT_EQ(printBucket({8192, 16, 8192, 4096}), "8192x16x8192x4096");
  EXPECT_EQ(printBucket(BucketShape::anyOf(8192)), "8192");
}

TEST(BucketShape, RefusesWhatIsNone) {
  for (const char *text : {"", "x", "0", "-1", "8192x", "8192x1", "8192x1x1", "8192x1x1x1x1", "8192x1x1x1x", "8192 ",
                           " 1", "8192x0x1x1", "2147483648", "99999999999999999999", "8192x1x1x-1", "8k", "1,2"})
    EXPECT_ERROR(parseBucket(text), StatusCode::InvalidUsage, text);
  EXPECT_ERROR(parseBucket("8x1x9x1"), StatusCode::InvalidUsage, "must not exceed the 8 tokens");
}

TEST(BucketShape, Lists) {
  auto parsed = parseBuckets("512,8192x16x8192x4096");
  ASSERT_OK(parsed);
  EXPECT_EQ(*parsed, (std::vector<BucketShape>{BucketShape::anyOf(512), {8192, 16, 8192, 4096}}));
  for (const char *text : {"", ",", "512,", ",512", "512,,1024"})
    EXPECT_ERROR(parseBuckets(text), StatusCode::InvalidUsage, "expected TOKENS");
  EXPECT_ERROR(parseBuckets("512,512x512x512x512"), StatusCode::InvalidUsage, "512 is there twice");
}
