// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Pack.h"

#include "runtime/base/Philox.h"
#include "runtime/data/Shuffle.h"
#include "tests/unit/runtime/support/Shards.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <numeric>

using namespace qrt;
using qrt::test::TempDirectory;

namespace {

std::vector<std::vector<int64_t>> rowsOf(const PackedRows &packed) {
  std::vector<std::vector<int64_t>> rows;
  for (int64_t r = 0; r < packed.rows(); ++r)
    rows.emplace_back(packed.items.begin() + packed.rowOffsets[r], packed.items.begin() + packed.rowOffsets[r + 1]);
  return rows;
}

std::vector<std::vector<int64_t>> pack(const std::vector<int64_t> &lengths, int64_t rowLength) {
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  return rowsOf(packBestFit(lengths, rowLength, order));
}

/// Every row of packed data, as (first id of each document) lists.
std::vector<std::vector<int32_t>> firstIds(const TokenData &data) {
  std::vector<std::vector<int32_t>> result;
  TokenRow row;
  for (int64_t r = 0; r < data.rows(); ++r) {
    data.readRow(r, row);
    result.emplace_back();
    for (int64_t d = 0; d < row.documents(); ++d)
      result.back().push_back(row.ids[row.documentOffsets[d]]);
  }
  return result;
}

StatusOr<TokenData> packDocuments(const TempDirectory &directory, const std::vector<int64_t> &lengths,
                                  PackOptions options) {
  static int number = 0;
  std::string name = fmt::format("{}", number++);
  TokenDataWriterOptions written{.vocabularyBound = 1000, .tokenizerSha256 = std::string(64, 'b'), .shardTokens = 7};
  QRT_ASSIGN_OR_RETURN(Manifest unused, test::writeDocuments(directory / (name + "t"), lengths, written));
  QRT_ASSIGN_OR_RETURN(TokenData tokens, TokenData::open(directory / (name + "t"), DataKind::Tokens));
  QRT_ASSIGN_OR_RETURN(PackResult packed, packTokens(tokens, directory / (name + "p"), options));
  return TokenData::open(directory / (name + "p"), DataKind::Packed);
}

} // namespace

TEST(PackBestFit, PutsEachWhereItLeavesTheLeastRoom) {
  // 6 and 5 open rows of 10; 4 goes to the 6 (no room left) and not to the 5; 3 to the 5; then 2 fills it.
  EXPECT_EQ(pack({5, 4, 2, 6, 3}, 10), (std::vector<std::vector<int64_t>>{{0, 2, 4}, {1, 3}}));
  // Rows with room for 2, 4 and 5: 3 goes to the middle one.
  EXPECT_EQ(pack({8, 6, 5, 3}, 10), (std::vector<std::vector<int64_t>>{{0}, {1, 3}, {2}}));
  EXPECT_EQ(pack({10, 10}, 10), (std::vector<std::vector<int64_t>>{{0}, {1}}));
  EXPECT_EQ(pack({1, 1, 1}, 2), (std::vector<std::vector<int64_t>>{{0, 1}, {2}}));
  EXPECT_EQ(pack({}, 10), (std::vector<std::vector<int64_t>>{}));
}

TEST(PackBestFit, OrderDecidesBetweenEqualsAndNumbersTheRows) {
  std::vector<int64_t> lengths = {5, 5, 5, 5};
  std::vector<int64_t> order = {3, 0, 2, 1};
  EXPECT_EQ(rowsOf(packBestFit(lengths, 10, order)), (std::vector<std::vector<int64_t>>{{3, 0}, {2, 1}}));
}

TEST(PackBestFit, RandomLengths) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::vector<int64_t> lengths;
    int64_t total = 0;
    for (uint32_t i = 0; i < 500; ++i) {
      int64_t length = 1 + static_cast<int64_t>(philox4x32({i, seed, 0, 0}, {1, 2})[0] % (seed % 2 ? 100 : 30));
      lengths.push_back(length);
      total += length;
    }
    auto rows = pack(lengths, 100);
    std::vector<bool> seen(lengths.size(), false);
    int64_t firstOfLast = -1;
    for (const auto &row : rows) {
      int64_t used = 0;
      for (size_t i = 0; i < row.size(); ++i) {
        EXPECT_FALSE(seen[row[i]]);
        seen[row[i]] = true;
        used += lengths[row[i]];
        if (i > 0)
          EXPECT_LT(row[i - 1], row[i]);
      }
      EXPECT_LE(used, 100);
      EXPECT_GT(row[0], firstOfLast);
      firstOfLast = row[0];
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](bool item) { return item; }));
    // No two rows could be one, so fewer than one are half empty.
    EXPECT_LT(static_cast<int64_t>(rows.size()), 2 * total / 100 + 2);
    if (seed % 2 == 0)
      EXPECT_LE(static_cast<int64_t>(rows.size()), (total + 99) / 100 + 1) << "short items must fill the rows";
  }
}

TEST(Pack, NaiveBatches) {
  EXPECT_EQ(naiveBatchSlots(std::vector<int64_t>{3, 1, 4, 1, 5}, 2), 2 * 3 + 2 * 4 + 5);
  EXPECT_EQ(naiveBatchSlots(std::vector<int64_t>{3, 1, 4, 1, 5}, 8), 5 * 5);
  EXPECT_EQ(naiveBatchSlots(std::vector<int64_t>{}, 8), 0);
}

TEST(Pack, WholeDocumentsInRows) {
  TempDirectory directory;
  auto data = packDocuments(directory, {5, 4, 2, 6, 3}, {.rowLength = 10, .naiveBatch = 2});
  ASSERT_OK(data);
  EXPECT_EQ(firstIds(*data), (std::vector<std::vector<int32_t>>{{0, 20, 40}, {10, 30}}));
  const Manifest &manifest = data->manifest();
  EXPECT_EQ(manifest.vocabularyBound, 1000);
  EXPECT_EQ(manifest.tokenizerSha256, std::string(64, 'b'));
  EXPECT_EQ(manifest.documents, 5);
  EXPECT_EQ(manifest.tokens, 20);
  EXPECT_EQ(manifest.trainedTokens, 15);
  EXPECT_EQ(manifest.slots(), 20);
  EXPECT_EQ(data->rowShape(0), (BucketShape{10, 3, 5, 7}));
  EXPECT_EQ(manifest.packing, (PackCounts{.naiveBatch = 2, .naiveSlots = 10 + 12 + 3}));
  EXPECT_EQ(
      printPackReport(manifest),
      "5 documents, 20 tokens (15 trained) in 2 rows of 10: 100.00% full, 0 slots empty\n"
      "batches of 2 documents in file order, padded to the longest, would have 25 slots: 20.00% padding, 1.25 times "
      "the slots of these rows\n");
  TokenRow row;
  data->readRow(1, row);
  EXPECT_EQ(row.ids, (std::vector<int32_t>{10, 11, 12, 13, 30, 31, 32, 33, 34, 35}));
  EXPECT_EQ(row.lossMask, (std::vector<uint8_t>{0, 1, 1, 1, 0, 1, 1, 1, 1, 1}));
}

TEST(Pack, LongDocumentsOnlyAsAsked) {
  TempDirectory directory;
  std::vector<int64_t> lengths = {3, 11, 2};
  EXPECT_ERROR(packDocuments(directory, lengths, {.rowLength = 5}), StatusCode::InvalidUsage,
               "shard-00000.safetensors: document 1: 11 tokens, but a row holds 5; longer than a row: 1 of 3 "
               "documents, the longest of 11 tokens");
  EXPECT_ERROR(packDocuments(directory, {6}, {.rowLength = 5, .overflow = Overflow::Drop}), StatusCode::InvalidData,
               "no document fits a row of 5 tokens: all 1 are longer");

  auto dropped = packDocuments(directory, lengths, {.rowLength = 5, .overflow = Overflow::Drop});
  ASSERT_OK(dropped);
  EXPECT_EQ(firstIds(*dropped), (std::vector<std::vector<int32_t>>{{0, 20}}));
  EXPECT_EQ(dropped->manifest().packing, (PackCounts{.overflow = Overflow::Drop,
                                                     .droppedDocuments = 1,
                                                     .droppedTokens = 11,
                                                     .lostTargets = 10,
                                                     .naiveBatch = 8,
                                                     .naiveSlots = 6}));

  auto cut = packDocuments(directory, lengths, {.rowLength = 5, .overflow = Overflow::Cut});
  ASSERT_OK(cut);
  EXPECT_EQ(firstIds(*cut), (std::vector<std::vector<int32_t>>{{0, 20}, {10}}));
  EXPECT_EQ(cut->manifest().packing, (PackCounts{.overflow = Overflow::Cut,
                                                 .cutDocuments = 1,
                                                 .cutTokens = 6,
                                                 .lostTargets = 6,
                                                 .naiveBatch = 8,
                                                 .naiveSlots = 15}));

  auto split = packDocuments(directory, lengths, {.rowLength = 5, .overflow = Overflow::Split});
  ASSERT_OK(split);
  EXPECT_EQ(firstIds(*split), (std::vector<std::vector<int32_t>>{{0, 20}, {10}, {15}, {20}}));
  EXPECT_EQ(split->manifest().tokens, 16);
  EXPECT_EQ(split->manifest().documents, 5);
  // The first token of the second and the third piece.
  EXPECT_EQ(split->manifest().trainedTokens, 13 - 2);
  EXPECT_EQ(split->manifest().packing, (PackCounts{.overflow = Overflow::Split,
                                                   .splitDocuments = 1,
                                                   .splitPieces = 3,
                                                   .lostTargets = 2,
                                                   .naiveBatch = 8,
                                                   .naiveSlots = 25}));
  auto lastLine = [](const StatusOr<TokenData> &data) {
    std::string report = printPackReport(data->manifest());
    return report.substr(report.rfind('\n', report.size() - 2) + 1);
  };
  EXPECT_EQ(lastLine(dropped),
            "dropped 1 document longer than a row, of 11 tokens, 10 trained (--overflow cut or split keeps them)\n");
  EXPECT_EQ(lastLine(cut), "cut 1 document to the length of a row: without 6 tokens at their ends, 6 trained "
                           "(--overflow split keeps them)\n");
  EXPECT_EQ(lastLine(split), "split 1 document longer than a row into 3; 2 trained tokens now open a piece, where "
                             "nothing predicts them, and are not trained (with a longer --seq-len fewer)\n");
}

TEST(Pack, WarnsOfWhatIsNotTrained) {
  TempDirectory directory;
  auto writer = TokenDataWriter::create(directory / "t", {});
  ASSERT_OK(writer);
  for (std::vector<uint8_t> mask : {std::vector<uint8_t>{0, 1, 1}, {0, 0, 0}, {0, 0}})
    ASSERT_OK(writer->addDocument(std::vector<int32_t>(mask.size(), 1), mask));
  ASSERT_OK(writer->finish());
  auto tokens = TokenData::open(directory / "t", DataKind::Tokens);
  ASSERT_OK(tokens);
  auto packed = packTokens(*tokens, directory / "p", {.rowLength = 3},
                           PackSource{"a.jsonl", [](int64_t document) { return fmt::format("line {}", document); }});
  ASSERT_OK(packed);
  EXPECT_EQ(packed->warnings,
            (std::vector<std::string>{
                "a.jsonl: 2 of 3 documents without a trained token: they take time and teach nothing",
                (directory / "p") + ": 2 of 3 rows without a trained token: a step of such rows alone ends a run"}));
  EXPECT_NE(printPackReport(packed->manifest).find("rows without a trained token: 2\n"), std::string::npos);
  EXPECT_ERROR(packTokens(*tokens, directory / "q", {.rowLength = 2},
                          PackSource{"a.jsonl", [](int64_t document) { return fmt::format("line {}", document); }}),
               StatusCode::InvalidUsage, "line 0: 3 tokens, but a row holds 2; longer than a row: 2 of 3 documents");
}

TEST(Pack, DeterministicAndShuffledOnlyIfAsked) {
  TempDirectory directory;
  std::vector<int64_t> lengths(40, 5);
  auto rows = [&](std::optional<uint64_t> seed) {
    auto data = packDocuments(directory, lengths, {.rowLength = 10, .seed = seed, .shardTokens = 50});
    EXPECT_OK(data);
    EXPECT_EQ(data->manifest().packing->seed, seed);
    return std::pair(firstIds(*data), data->manifest().shards);
  };
  auto plain = rows(std::nullopt);
  EXPECT_EQ(plain.second.size(), 4u);
  EXPECT_EQ(plain.first[0], (std::vector<int32_t>{0, 10}));
  EXPECT_EQ(plain.first[19], (std::vector<int32_t>{380, 390}));
  EXPECT_TRUE(plain == rows(std::nullopt));
  auto seeded = rows(7);
  EXPECT_TRUE(seeded == rows(7));
  EXPECT_FALSE(seeded.first == plain.first);
  EXPECT_FALSE(seeded.first == rows(8).first);
}

TEST(Shuffle, IsAPermutationThatDependsOnAllArguments) {
  auto base = shuffledIndices(1000, 1, ShuffleUse::Rows, 0);
  auto sorted = base;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 1000; ++i)
    EXPECT_EQ(sorted[i], i);
  EXPECT_EQ(base, shuffledIndices(1000, 1, ShuffleUse::Rows, 0));
  EXPECT_NE(base, shuffledIndices(1000, 2, ShuffleUse::Rows, 0));
  EXPECT_NE(base, shuffledIndices(1000, 1 + (uint64_t{1} << 32), ShuffleUse::Rows, 0));
  EXPECT_NE(base, shuffledIndices(1000, 1, ShuffleUse::Packing, 0));
  EXPECT_NE(base, shuffledIndices(1000, 1, ShuffleUse::Rows, 1));
  EXPECT_EQ(shuffledIndices(0, 1, ShuffleUse::Rows, 0).size(), 0u);
  // A change of this order would silently change every resumed run.
  EXPECT_EQ(shuffledIndices(8, 1, ShuffleUse::Rows, 0), (std::vector<int64_t>{5, 2, 1, 6, 0, 3, 4, 7}));
}

// All six orders of three items, about equally often.
TEST(Shuffle, IsUniform) {
  std::map<std::vector<int64_t>, int> counts;
  for (uint32_t round = 0; round < 6000; ++round)
    ++counts[shuffledIndices(3, 99, ShuffleUse::Rows, round)];
  EXPECT_EQ(counts.size(), 6u);
  for (const auto &[order, count] : counts)
    EXPECT_NEAR(count, 1000, 150) << "five standard deviations";
}
