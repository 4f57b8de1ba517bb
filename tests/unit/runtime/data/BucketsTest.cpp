// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Buckets.h"

#include "runtime/base/Philox.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

using namespace qrt;

namespace {

Manifest manifestOf(int64_t rowLength, std::vector<BucketShape> rows) {
  Manifest manifest;
  manifest.kind = DataKind::Packed;
  manifest.rowLength = rowLength;
  manifest.shards.resize(2);
  for (size_t r = 0; r < rows.size(); ++r)
    manifest.shards[r % 2].rows.push_back(rows[r]);
  return manifest;
}

} // namespace

TEST(Buckets, Rounding) {
  EXPECT_EQ(chooseBuckets(manifestOf(8192, {{8000, 5, 700, 1025}})), (std::vector<BucketShape>{{8192, 8, 704, 2048}}));
  EXPECT_EQ(chooseBuckets(manifestOf(8192, {{8192, 1, 8192, 8191}})),
            (std::vector<BucketShape>{{8192, 1, 8192, 8192}}));
  EXPECT_EQ(chooseBuckets(manifestOf(8192, {{64, 1, 64, 0}})), (std::vector<BucketShape>{{8192, 1, 64, 1024}}));
  // Nothing exceeds the tokens.
  EXPECT_EQ(chooseBuckets(manifestOf(100, {{100, 70, 31, 10}})), (std::vector<BucketShape>{{100, 100, 64, 100}}));
  EXPECT_EQ(chooseBuckets(manifestOf(50, {{50, 1, 50, 49}})), (std::vector<BucketShape>{{50, 1, 50, 50}}));
  EXPECT_TRUE(chooseBuckets(manifestOf(50, {})).empty());
}

// Two kinds of rows: two buckets. The larger one takes what the smaller one does.
TEST(Buckets, PartsWhatDiffers) {
  std::vector<BucketShape> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back({8192, 40, 900, 1000});
    rows.push_back({8192, 3, 5000, 7000});
  }
  EXPECT_EQ(chooseBuckets(manifestOf(8192, rows)),
            (std::vector<BucketShape>{{8192, 64, 960, 1024}, {8192, 64, 5056, 7168}}));
}

// One odd row in a thousand is not worth a program of its own.
TEST(Buckets, NoBucketForLittle) {
  std::vector<BucketShape> rows(1000, {8192, 8, 2048, 4000});
  rows.push_back({8192, 8, 2048, 1000});
  EXPECT_EQ(chooseBuckets(manifestOf(8192, rows)).size(), 1u);
}

TEST(Buckets, AtMostFourAndEveryRowFitsOne) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::vector<BucketShape> rows;
    for (uint32_t i = 0; i < 300; ++i) {
      auto random = philox4x32({i, seed, 0, 0}, {3, 4});
      int64_t longest = 1 + random[0] % 16384;
      int64_t documents = 1 + random[1] % 200;
      rows.push_back({16384, documents, longest, static_cast<int64_t>(random[2] % 16184)});
    }
    auto buckets = chooseBuckets(manifestOf(16384, rows));
    EXPECT_EQ(buckets.size(), 4u);
    double ours = 0;
    for (const BucketShape &row : rows) {
      auto found = findBucket(buckets, row);
      ASSERT_OK(found);
      ours += static_cast<double>(buckets[*found].trained);
    }
    // The best of all choices of four thresholds, tried one by one.
    double best = 1e18;
    for (int64_t a = 1; a <= 16; ++a)
      for (int64_t b = a; b <= 16; ++b)
        for (int64_t c = b; c <= 16; ++c) {
          double cost = 0;
          for (const BucketShape &row : rows)
            for (int64_t limit : {a, b, c, int64_t{16}})
              if (row.trained <= limit * 1024) {
                cost += static_cast<double>(limit * 1024);
                break;
              }
          best = std::min(best, cost);
        }
    EXPECT_DOUBLE_EQ(ours, best);
  }
}

TEST(Buckets, FindsTheLeast) {
  std::vector<BucketShape> buckets = {
      BucketShape::anyOf(16384), {8192, 64, 8192, 8192}, {8192, 64, 8192, 1024}, BucketShape::anyOf(8192)};
  EXPECT_EQ(*findBucket(buckets, {8000, 3, 5000, 1000}), 2u);
  EXPECT_EQ(*findBucket(buckets, {8000, 3, 5000, 1025}), 1u);
  EXPECT_EQ(*findBucket(buckets, {8000, 65, 5000, 1000}), 3u);
  EXPECT_EQ(*findBucket(buckets, {8193, 3, 5000, 1000}), 0u);
  EXPECT_ERROR(
      findBucket(buckets, {16385, 1, 16385, 1}), StatusCode::ResourceExhausted,
      "no bucket takes a row of 16,385 tokens, 1 document, 16,385 tokens in its longest document and 1 trained "
      "token; there are: 16384, 8192x64x8192x8192, 8192x64x8192x1024, 8192");
  EXPECT_ERROR(findBucket({}, {1, 1, 1, 1}), StatusCode::ResourceExhausted, "there are: none");
}
