// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Jsonl.h"

#include "runtime/data/TokenData.h"
#include "tests/unit/runtime/support/Shards.h"
#include "tests/unit/runtime/support/TempDirectory.h"

using namespace qrt;
using qrt::test::TempDirectory;

namespace {

Status read(const std::string &text, int64_t bound = 100) {
  JsonlReader reader(text, "f.jsonl", bound);
  JsonlDocument document;
  while (true) {
    QRT_ASSIGN_OR_RETURN(bool more, reader.next(document));
    if (!more)
      return Status();
  }
}

} // namespace

// Labels are not shifted: where labels[t] is the id, position t - 1 predicts it. The first token's label is dropped.
TEST(Jsonl, LabelsBecomeTheMask) {
  std::string text = "{\"input_ids\": [5, 6, 7, 8], \"labels\": [-100, -100, 7, 8], \"extra\": {\"a\": 1}}\r\n"
                     "\n  \t\n"
                     "{\"labels\": [1, 2], \"input_ids\": [1, 2], \"attention_mask\": [1, 1]}\n"
                     "{\"input_ids\": [], \"labels\": []}";
  JsonlReader reader(text, "f", 100);
  JsonlDocument document;
  ASSERT_TRUE(*reader.next(document));
  EXPECT_EQ(document.ids, (std::vector<int32_t>{5, 6, 7, 8}));
  EXPECT_EQ(document.lossMask, (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_FALSE(document.firstWasTarget);
  ASSERT_TRUE(*reader.next(document));
  EXPECT_EQ(reader.line(), 4);
  EXPECT_EQ(document.ids, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(document.lossMask, (std::vector<uint8_t>{0, 1}));
  EXPECT_TRUE(document.firstWasTarget);
  ASSERT_TRUE(*reader.next(document));
  EXPECT_TRUE(document.ids.empty());
  EXPECT_FALSE(document.firstWasTarget);
  EXPECT_FALSE(*reader.next(document));
  EXPECT_FALSE(*reader.next(document));
}

TEST(Jsonl, ErrorsNameTheLine) {
  auto bad = StatusCode::InvalidData;
  std::string good = "{\"input_ids\": [1], \"labels\": [1]}\n";
  auto expect = [&](const std::string &line, const std::string &part) {
    EXPECT_ERROR(read(good + "\n" + line + "\n" + good), bad, "f.jsonl:3: " + part);
  };
  EXPECT_OK(read(good + good));
  EXPECT_OK(read(""));
  expect("{", "not valid JSON");
  expect("[1]", "expected an object, got an array");
  expect(R"({"labels": []})", "input_ids: missing");
  expect(R"({"input_ids": [1]})", "labels: missing");
  expect(R"({"messages": []})", "expected token ids (input_ids and labels), got a chat: "
                                "tools/tokenize.py makes token data of it");
  expect(R"({"input_ids": "text", "labels": []})", "input_ids: expected an array, got a string");
  expect(R"({"input_ids": [1, 100], "labels": [1, 100]})", "input_ids[1]: expected 0 to 99, got 100");
  expect(R"({"input_ids": [-1], "labels": [-100]})", "input_ids[0]: expected 0 to 99, got -1");
  expect(R"({"input_ids": [1.5], "labels": [-100]})", "input_ids[0]: expected an integer, got a fraction");
  expect(R"({"input_ids": [[1]], "labels": [-100]})", "input_ids[0]: expected an integer, got an array");
  expect(R"({"input_ids": [1, 2], "labels": [1]})", "labels: expected one for each of 2 ids, got 1");
  // Shifted labels.
  expect(R"({"input_ids": [1, 2, 3], "labels": [2, 3, -100]})",
         "labels[0]: expected input_ids[0] = 1 or -100, got 2 (labels must not");
  expect(R"({"input_ids": [1, 2], "labels": [-1, 2]})", "labels[0]: expected");
  expect(R"({"input_ids": [1, 2], "labels": [1, 2], "attention_mask": [1, 0]})", "attention_mask: expected 2 ones");
  expect(R"({"input_ids": [1, 2], "labels": [1, 2], "attention_mask": [1]})", "attention_mask: expected 2 ones");
  expect(R"({"input_ids": [1], "labels": [1], "labels": [-100]})", "JSON object with the key 'labels' twice");
}

TEST(Jsonl, Imports) {
  TempDirectory directory;
  ASSERT_OK(writeFileAtomically(directory / "a.jsonl", "{\"input_ids\": [5, 6, 7], \"labels\": [-100, 6, 7]}\n"
                                                       "{\"input_ids\": [], \"labels\": []}\n"
                                                       "{\"input_ids\": [], \"labels\": []}\n"));
  ASSERT_OK(writeFileAtomically(directory / "b.jsonl", "{\"input_ids\": [9], \"labels\": [9]}"));
  auto result = importJsonl({directory / "a.jsonl", directory / "b.jsonl"}, directory / "t", {});
  ASSERT_OK(result);
  EXPECT_EQ(result->places, (std::vector<std::pair<size_t, int64_t>>{{0, 1}, {1, 1}}));
  EXPECT_EQ(result->emptyDocuments, 2);
  EXPECT_EQ(result->firstTargets, 1);
  EXPECT_EQ(result->warnings.size(), 2u);
  EXPECT_EQ(result->warnings[0], directory / "a.jsonl: skipped 2 empty documents, the first in line 2");
  auto data = TokenData::open(directory / "t", DataKind::Tokens);
  ASSERT_OK(data);
  EXPECT_EQ(data->manifest().documents, 2);
  EXPECT_EQ(data->manifest().vocabularyBound, 10);
  EXPECT_EQ(data->manifest().trainedTokens, 2);
  TokenRow row;
  data->shards()[0].append(0, 2, row);
  EXPECT_EQ(row.ids, (std::vector<int32_t>{5, 6, 7, 9}));
  EXPECT_EQ(row.lossMask, (std::vector<uint8_t>{0, 1, 1, 0}));

  EXPECT_ERROR(importJsonl({directory / "a.jsonl"}, directory / "u", {.vocabularyBound = 7}), StatusCode::InvalidData,
               "a.jsonl:1: input_ids[2]: expected 0 to 6, got 7");
  EXPECT_FALSE(pathExists(directory / "u"));
  ASSERT_OK(writeFileAtomically(directory / "e.jsonl", "\n"));
  EXPECT_ERROR(importJsonl({directory / "e.jsonl"}, directory / "u", {}), StatusCode::InvalidData,
               "e.jsonl: expected documents, a line each, got none");
  EXPECT_ERROR(importJsonl({directory / "none"}, directory / "u", {}), StatusCode::Io, "none: cannot open");
}
