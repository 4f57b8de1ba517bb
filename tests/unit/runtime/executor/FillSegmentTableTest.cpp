// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/FillSegmentTable.h"

#include "tests/unit/runtime/support/StatusMatchers.h"

#include <numeric>
#include <random>
#include <vector>

namespace qrt {
namespace {

std::vector<int32_t> fill(const BucketShape &bucket, const std::vector<int32_t> &offsets,
                          const std::vector<int32_t> &trained) {
  SegmentLayout layout{bucket};
  std::vector<int32_t> table(static_cast<size_t>(layout.size()), 12345);
  EXPECT_OK(fillSegmentTable(layout, offsets, trained, table));
  return table;
}

std::vector<int32_t> part(const std::vector<int32_t> &table, int64_t begin, int64_t size) {
  return {table.begin() + begin, table.begin() + begin + size};
}

TEST(FillSegmentTable, IsFilledAsDocumented) {
  BucketShape bucket{200, 4, 130, 5};
  SegmentLayout layout{bucket};
  // Documents of 65, 0 and 130 tokens, a tail of 5.
  std::vector<int32_t> table = fill(bucket, {0, 65, 65, 195}, {3, 64, 190});
  EXPECT_EQ(part(table, 0, 5), (std::vector<int32_t>{195, 3, 5, 5, 3}));
  EXPECT_EQ(part(table, layout.documentOffsets(), 5), (std::vector<int32_t>{0, 65, 65, 195, 195}));
  for (int64_t t = 0; t < 200; ++t)
    EXPECT_EQ(table[static_cast<size_t>(layout.tokenDocument() + t)], t < 65 ? 0 : t < 195 ? 2 : -1) << t;
  ASSERT_EQ(layout.maxChunks(), 7);
  EXPECT_EQ(part(table, layout.chunkStart(), 7), (std::vector<int32_t>{0, 64, 65, 129, 193, -1, -1}));
  // Keys: 64, 65 | 64, 128, 130.
  EXPECT_EQ(part(table, layout.tileStart(), 7), (std::vector<int32_t>{193, 129, 64, 0, 65, -1, -1}));
  EXPECT_EQ(part(table, layout.trainedRows(), 5), (std::vector<int32_t>{3, 64, 190, -1, -1}));
}

TEST(FillSegmentTable, TakesTheExtremes) {
  // Nothing at all, one token a document, one document of everything.
  std::vector<int32_t> empty = fill({10, 2, 10, 1}, {0}, {});
  EXPECT_EQ(part(empty, 0, 5), (std::vector<int32_t>{0, 0, 0, 0, 0}));
  EXPECT_EQ(part(empty, 8, 3), (std::vector<int32_t>{0, 0, 0}));
  std::vector<int32_t> offsets(65);
  std::iota(offsets.begin(), offsets.end(), 0);
  SegmentLayout single{{64, 64, 1, 64}};
  std::vector<int32_t> table = fill(single.bucket, offsets, {});
  EXPECT_EQ(table[2], 64);
  EXPECT_EQ(part(table, single.tileStart(), 64), part(table, single.chunkStart(), 64));
  EXPECT_EQ(fill({64, 1, 64, 1}, {0, 64}, {62})[3], 1);
}

// Whatever the documents, the blocks of the table are those of its layout: nothing lies past a part's end.
TEST(FillSegmentTable, BlocksFitTheirLayout) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<int32_t> offsets{0};
    int64_t longest = 1;
    for (uint32_t documents = 1 + random() % 6; documents > 0; --documents) {
      auto length = static_cast<int32_t>(random() % 200);
      longest = std::max<int64_t>(longest, length);
      offsets.push_back(offsets.back() + length);
    }
    int64_t tokens = std::max<int64_t>({offsets.back(), longest, static_cast<int64_t>(offsets.size()) - 1});
    SegmentLayout layout{{tokens, static_cast<int64_t>(offsets.size()) - 1, longest, 1}};
    std::vector<int32_t> table = fill(layout.bucket, offsets, {});
    ASSERT_LE(table[2], layout.maxChunks());
    ASSERT_LE(table[3], layout.maxTiles());
    std::vector<int32_t> covered(static_cast<size_t>(tokens));
    Segments segments{layout, table.data()};
    for (int64_t i = 0; i < segments.chunks(); ++i) {
      int64_t begin = segments.chunkStart(i),
              end = std::min(begin + kChunkTokens, segments.end(segments.document(begin)));
      for (int64_t t = begin; t < end; ++t)
        ++covered[static_cast<size_t>(t)];
    }
    for (int64_t t = 0; t < tokens; ++t)
      ASSERT_EQ(covered[static_cast<size_t>(t)], t < offsets.back()) << t;
  }
}

TEST(FillSegmentTable, RefusesWhatDoesNotFit) {
  SegmentLayout layout{{100, 2, 60, 2}};
  std::vector<int32_t> table(static_cast<size_t>(layout.size()));
  auto attempt = [&](std::vector<int32_t> offsets, std::vector<int32_t> trained) {
    return fillSegmentTable(layout, offsets, trained, table);
  };
  EXPECT_ERROR(attempt({}, {}), StatusCode::InvalidData, "first offset");
  EXPECT_ERROR(attempt({1, 5}, {}), StatusCode::InvalidData, "first offset to be 0, got 1");
  EXPECT_ERROR(attempt({0, 10, 5}, {}), StatusCode::InvalidData, "document 1: ends at 5");
  EXPECT_ERROR(attempt({0, 1, 2, 3}, {}), StatusCode::ResourceExhausted, "3 documents in a bucket of 2 (100x2x60x2)");
  EXPECT_ERROR(attempt({0, 61}, {}), StatusCode::ResourceExhausted,
               "document 0: 61 tokens in a bucket for documents of 60");
  EXPECT_ERROR(attempt({0, 60, 101}, {}), StatusCode::ResourceExhausted, "101 tokens in a bucket of 100");
  EXPECT_ERROR(attempt({0, 60}, {1, 2, 3}), StatusCode::ResourceExhausted, "3 trained rows in a bucket of 2");
  EXPECT_ERROR(attempt({0, 60}, {2, 2}), StatusCode::InvalidData, "trained row 2");
  EXPECT_ERROR(attempt({0, 60}, {60}), StatusCode::InvalidData, "trained row 60");
  EXPECT_ERROR(attempt({0, 60}, {-1}), StatusCode::InvalidData, "trained row -1");
}

} // namespace
} // namespace qrt
