// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Manifest.h"

#include "runtime/base/Json.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

using namespace qrt;

namespace {

const std::string hash(64, 'a');

Manifest tokensManifest() {
  Manifest manifest;
  manifest.vocabularyBound = 2048;
  manifest.tokenizerSha256 = hash;
  manifest.documents = 5;
  manifest.tokens = 40;
  manifest.trainedTokens = 12;
  manifest.shards = {{"shard-00000.safetensors", hash, 3, 30, 10, {}}, {"shard-00001.safetensors", hash, 2, 10, 2, {}}};
  return manifest;
}

Manifest packedManifest() {
  Manifest manifest = tokensManifest();
  manifest.kind = DataKind::Packed;
  manifest.rowLength = 20;
  manifest.rows = 3;
  manifest.packing = PackCounts{.overflow = Overflow::Split,
                                .seed = ~uint64_t{0},
                                .splitDocuments = 1,
                                .splitPieces = 2,
                                .lostTargets = 1,
                                .naiveBatch = 8,
                                .naiveSlots = 60};
  manifest.shards[0].rows = {{20, 1, 20, 9}, {10, 2, 6, 1}};
  manifest.shards[1].rows = {{10, 2, 9, 2}};
  return manifest;
}

/// The text with one change.
std::string changed(const Manifest &manifest, const std::string &from, const std::string &to) {
  std::string text = printManifest(manifest);
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

} // namespace

TEST(Manifest, PrintsAndParses) {
  for (const Manifest &manifest : {tokensManifest(), packedManifest()}) {
    auto parsed = parseManifest(printManifest(manifest), "m");
    ASSERT_OK(parsed);
    EXPECT_TRUE(*parsed == manifest);
    EXPECT_EQ(printManifest(*parsed), printManifest(manifest));
  }
}

TEST(Manifest, OptionalParts) {
  Manifest manifest = packedManifest();
  manifest.packing->overflow.reset();
  manifest.packing->seed.reset();
  auto parsed = parseManifest(printManifest(manifest), "m");
  ASSERT_OK(parsed);
  EXPECT_TRUE(*parsed == manifest);
  manifest.packing.reset();
  ASSERT_OK(parseManifest(printManifest(manifest), "m"));
  EXPECT_OK(parseManifest(changed(tokensManifest(), "\"kind\"", "\"unknown\": {\"x\": [1]}, \"kind\""), "m"));
}

TEST(Manifest, AnotherVersionNamesBoth) {
  EXPECT_ERROR(parseManifest("{\"schema_version\": 7, \"anything\": 0}", "d/manifest.json"), StatusCode::InvalidData,
               "d/manifest.json: schema_version: the data has version 7, this program reads version 1");
  EXPECT_ERROR(parseManifest("{}", "m"), StatusCode::InvalidData, "m: schema_version: missing");
}

TEST(Manifest, RefusesWhatDoesNotAgree) {
  auto bad = StatusCode::InvalidData;
  auto expect = [&](const Manifest &manifest, const std::string &from, const std::string &to, const std::string &part) {
    EXPECT_ERROR(parseManifest(changed(manifest, from, to), "m"), bad, part);
  };
  Manifest tokens = tokensManifest();
  expect(tokens, "\"kind\": \"tokens\"", "\"kind\": \"token\"", "m: kind: expected 'tokens' or 'packed', got 'token'");
  expect(tokens, "2048", "0", "vocabulary_bound: expected 1 to 2147483647, got 0");
  expect(tokens, "2048", "2147483648", "vocabulary_bound");
  expect(tokens, "\"tokenizer_sha256\": \"a", "\"tokenizer_sha256\": \"A", "tokenizer_sha256: expected 64 lower-case");
  expect(tokens, "\"sha256\": \"" + hash, "\"sha256\": \"", "shards[0].sha256: expected 64");
  expect(tokens, "\"documents\": 5", "\"documents\": 6", "m: documents: is 6, but the shards have 5");
  expect(tokens, "\"tokens\": 40", "\"tokens\": 41", "tokens: is 41, but the shards have 40");
  expect(tokens, "\"trained_tokens\": 12", "\"trained_tokens\": 11", "trained_tokens: is 11, but the shards have 12");
  expect(tokens, "shard-00001", "shard-00000", "shards[1]: 'shard-00000.safetensors' is there twice");
  expect(tokens, "shard-00001.safetensors", "../shard", "shards[1].file: expected the name of a file in the same");
  expect(tokens, "\"tokens\": 30", "\"tokens\": 2", "shards[0].tokens: expected 3 to");
  expect(tokens, "\"trained_tokens\": 10", "\"trained_tokens\": 28",
         "shards[0].trained_tokens: expected 0 to 27, got 28");
  expect(tokens, "\"tokens\": 30", "\"tokens\": 1e3", "expected an integer, got a fraction");
  expect(tokens, "\"documents\": 3", "\"documents\": -3", "shards[0].documents: expected 0 to");
  expect(tokens, "\"documents\": 3", "\"documents\": 9223372036854775807", "shards[0].documents: expected 0 to");

  Manifest packed = packedManifest();
  expect(packed, "\"row_length\": 20", "\"row_length\": 0", "row_length: expected 1 to");
  expect(packed, "\"slots\": 60", "\"slots\": 61", "slots: expected rows x row_length = 60, got 61");
  expect(packed, "\"rows\": 3,\n  \"slots\": 60", "\"rows\": 4,\n  \"slots\": 80", "rows: is 4, but the shards have 3");
  expect(packed, "[20, 1, 20, 9]", "[21, 1, 21, 9]",
         "shards[0].rows[0]: expected [tokens, documents, longest, trained] of a row of "
         "at most 20 tokens, got '[21,1,21,9]'");
  for (const char *row :
       {"[20, 1, 20]", "[20, 1, 20, 9, 1]", "[20, 1, 20, -1]", "[20, 1, 20, 9.0]", "[20, 0, 20, 9]", "[20, 1, 19, 9]",
        "[20, 2, 20, 9]", "[20, 1, 20, 20]", "20", "null", "[20, 1, 20, \"9\"]", "[18446744073709551615, 1, 20, 9]"})
    expect(packed, "[20, 1, 20, 9]", row, "shards[0].rows[0]: expected [tokens");
  expect(packed, "[20, 1, 20, 9]", "[20, 1, 20, 8]",
         "shards[0].rows: expected 30 tokens, 3 documents, 10 trained tokens in all");
  expect(packed, "\"overflow\": \"split\"", "\"overflow\": \"spill\"",
         "packing.overflow: overflow: expected drop, cut or split");
  expect(packed, "\"seed\": 18446744073709551615", "\"seed\": -1", "packing.seed: expected a number of 64 bits");
  expect(packed, "\"naive_slots\": 60", "\"naive_slots\": \"60\"", "packing.naive_slots: expected an integer");

  Manifest none;
  none.vocabularyBound = 1;
  EXPECT_ERROR(parseManifest(printManifest(none), "m"), bad, "m: there are no documents");
}
