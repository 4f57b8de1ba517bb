// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/TokenData.h"

#include "tests/unit/runtime/support/Shards.h"
#include "tests/unit/runtime/support/TempDirectory.h"

using namespace qrt;
using qrt::test::ShardContents;
using qrt::test::TempDirectory;

namespace {

/// Three documents of 2, 3 and 1 tokens; rows of the first two and of the last.
const ShardContents right = {{5, 6, 7, 8, 9, 1}, {0, 1, 0, 0, 1, 0}, {0, 2, 5, 6}, std::vector<int64_t>{0, 2, 3}};

StatusOr<TokenShard> check(const ShardContents &contents, int64_t rowLength = 5) {
  TempDirectory directory;
  test::writeShard(directory / "shard", contents);
  // The map outlives the file's name.
  QRT_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(directory / "shard"));
  return TokenShard::check(std::move(file), {contents.rows ? DataKind::Packed : DataKind::Tokens, 10, rowLength});
}

/// The right shard with one change.
template <typename Change> StatusOr<TokenShard> checkChanged(Change &&change) {
  ShardContents contents = right;
  change(contents);
  return check(contents);
}

Status addOne(std::vector<int32_t> ids, std::vector<uint8_t> mask,
              TokenDataWriterOptions options = {.vocabularyBound = 10}) {
  TempDirectory directory;
  QRT_ASSIGN_OR_RETURN(TokenDataWriter writer, TokenDataWriter::create(directory / "d", options));
  return writer.addDocument(ids, mask);
}

} // namespace

TEST(TokenShard, ReadsWhatIsThere) {
  auto shard = check(right);
  ASSERT_OK(shard);
  EXPECT_EQ(shard->documents(), 3);
  EXPECT_EQ(shard->tokens(), 6);
  EXPECT_EQ(shard->trainedTokens(), 2);
  EXPECT_EQ(shard->emptyDocuments(), 0);
  EXPECT_EQ(shard->rowShapes(), (std::vector<BucketShape>{{5, 2, 3, 2}, {1, 1, 1, 0}}));
  TokenRow row;
  shard->append(shard->rowBegin(0), shard->rowBegin(1), row);
  EXPECT_EQ(row.ids, (std::vector<int32_t>{5, 6, 7, 8, 9}));
  EXPECT_EQ(row.lossMask, (std::vector<uint8_t>{0, 1, 0, 0, 1}));
  EXPECT_EQ(row.documentOffsets, (std::vector<int64_t>{0, 2, 5}));
  // Into the same row: offsets go on. A piece's first token is no target.
  shard->appendPiece(0, 1, 1, row);
  shard->appendPiece(1, 1, 2, row);
  EXPECT_EQ(row.ids, (std::vector<int32_t>{5, 6, 7, 8, 9, 6, 8, 9}));
  EXPECT_EQ(row.lossMask, (std::vector<uint8_t>{0, 1, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(row.documentOffsets, (std::vector<int64_t>{0, 2, 5, 6, 8}));
  EXPECT_EQ(shard->countTargets(1, 5), 2);
}

TEST(TokenShard, RefusesEveryBrokenInvariant) {
  auto bad = StatusCode::InvalidData;
  ASSERT_OK(checkChanged([](ShardContents &) {}));
  EXPECT_ERROR(checkChanged([](auto &c) { c.ids[3] = 10; }), bad, "shard: input_ids[3]: expected 0 to 9, got 10");
  EXPECT_ERROR(checkChanged([](auto &c) { c.ids[0] = -1; }), bad, "input_ids[0]: expected 0 to 9, got -1");
  EXPECT_ERROR(checkChanged([](auto &c) { c.mask[1] = 2; }), bad, "loss_mask[1]: expected 0 or 1, got 2");
  EXPECT_ERROR(checkChanged([](auto &c) { c.mask[2] = 1; }), bad,
               "loss_mask[2]: the first token of document 1 is a target, but nothing predicts it");
  EXPECT_ERROR(checkChanged([](auto &c) { c.mask.push_back(0); }), bad,
               "loss_mask: expected one for each of 6 tokens, got 7");
  EXPECT_ERROR(checkChanged([](auto &c) { c.documents[0] = 1; }), bad, "doc_offsets: expected 0 to 6, got 1 to 6");
  EXPECT_ERROR(checkChanged([](auto &c) { c.documents[3] = 5; }), bad, "doc_offsets: expected 0 to 6, got 0 to 5");
  EXPECT_ERROR(checkChanged([](auto &c) { c.documents[1] = 6; }), bad, "doc_offsets[2]: falls from 6 to 5");
  EXPECT_ERROR(checkChanged([](auto &c) { c.documents[1] = -1; }), bad, "doc_offsets[1]: falls from 0 to -1");
  EXPECT_ERROR(checkChanged([](auto &c) { c.documents.clear(); }), bad, "doc_offsets: expected at least one offset");
  EXPECT_ERROR(checkChanged([](auto &c) { c.rows = {0, 2}; }), bad, "row_offsets: expected 0 to 3, got 0 to 2");
  EXPECT_ERROR(checkChanged([](auto &c) { c.rows = {0, 4, 3}; }), bad, "row_offsets[2]: falls from 4 to 3");
  EXPECT_ERROR(checkChanged([](auto &c) { c.rows = {0, 3}; }), bad, "shard: row 0: expected 1 to 5 tokens, got 6");
  EXPECT_ERROR(checkChanged([](auto &c) { c.rows = {0, 2, 2, 3}; }), bad, "row 1: expected 1 to 5 tokens, got 0");
  EXPECT_ERROR(checkChanged([](auto &c) { c.rows = {1, 2, 3}; }), bad, "row_offsets: expected 0 to 3, got 1 to 3");
}

TEST(TokenShard, RefusesOtherTensors) {
  auto bad = StatusCode::InvalidData;
  TempDirectory directory;
  test::writeShard(directory / "packed", right);
  auto open = [&](const char *name, DataKind kind) -> StatusOr<TokenShard> {
    QRT_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::open(directory / name));
    return TokenShard::check(std::move(file), {kind, 10, 5});
  };
  EXPECT_ERROR(open("packed", DataKind::Tokens), bad, "'row_offsets' has no place in a shard of tokens data");
  ShardContents documents = right;
  documents.rows.reset();
  test::writeShard(directory / "tokens", documents);
  EXPECT_OK(open("tokens", DataKind::Tokens));
  EXPECT_ERROR(open("tokens", DataKind::Packed), bad, "tokens: no tensor 'row_offsets'");
  auto writer = SafetensorsWriter::create(directory / "wide", {{"input_ids", DType::I64, {1}}}, {});
  ASSERT_OK(writer);
  ASSERT_OK(writer->append("input_ids", asBytes("12345678")));
  ASSERT_OK(writer->finish());
  EXPECT_ERROR(open("wide", DataKind::Tokens), bad, "'input_ids': expected i32 of rank 1, got i64[1]");
}

// docs/failures.md, row 5: [2, 0, 3, 0, 1], empty ones in the middle, at a row's ends, and alone at the end.
TEST(TokenShard, SkipsEmptyDocuments) {
  ShardContents contents = right;
  contents.documents = {0, 0, 2, 2, 5, 5, 6, 6};
  contents.rows = {0, 5, 7};
  auto shard = check(contents);
  ASSERT_OK(shard);
  EXPECT_EQ(shard->documents(), 3);
  EXPECT_EQ(shard->emptyDocuments(), 4);
  EXPECT_EQ(shard->rowShapes(), (std::vector<BucketShape>{{5, 2, 3, 2}, {1, 1, 1, 0}}));
  TokenRow row;
  shard->append(shard->rowBegin(1), shard->rowBegin(2), row);
  EXPECT_EQ(row.ids, std::vector<int32_t>{1});
  EXPECT_EQ(row.documentOffsets, (std::vector<int64_t>{0, 1}));
  // A row of empty documents only has nothing to train on.
  contents.rows = {0, 5, 6, 7};
  EXPECT_ERROR(check(contents), StatusCode::InvalidData, "row 2: expected 1 to 5 tokens, got 0");
}

TEST(TokenData, WritesShardsAndReadsThem) {
  TempDirectory directory;
  auto manifest = test::writeDocuments(directory / "tokens/", {3, 1, 4, 1, 5}, {.shardTokens = 4});
  ASSERT_OK(manifest);
  EXPECT_EQ(manifest->shards.size(), 3u);
  EXPECT_EQ(manifest->vocabularyBound, 45);
  EXPECT_EQ(*listDirectory(directory.path()), std::vector<std::string>{"tokens"});
  EXPECT_EQ(*listDirectory(directory / "tokens"),
            (std::vector<std::string>{"manifest.json", "shard-00000.safetensors", "shard-00001.safetensors",
                                      "shard-00002.safetensors"}));
  auto data = TokenData::open(directory / "tokens", DataKind::Tokens);
  ASSERT_OK(data);
  EXPECT_TRUE(data->manifest() == *manifest);
  EXPECT_TRUE(data->warnings().empty());
  EXPECT_EQ(data->shards()[0].documents(), 2);
  EXPECT_EQ(data->shards()[2].documents(), 2);
  TokenRow row;
  data->shards()[2].append(1, 2, row);
  EXPECT_EQ(row.ids, (std::vector<int32_t>{40, 41, 42, 43, 44}));
  EXPECT_ERROR(TokenData::open(directory / "tokens", DataKind::Packed), StatusCode::InvalidUsage,
               "tokens: expected packed data, got tokens data");
}

TEST(TokenData, SameInputSameBytes) {
  TempDirectory directory;
  for (const char *name : {"a", "b"})
    ASSERT_OK(test::writeDocuments(directory / name, {3, 1, 4, 1, 5}, {.shardTokens = 4}));
  for (const char *file : {"manifest.json", "shard-00000.safetensors", "shard-00002.safetensors"})
    EXPECT_EQ(test::hashOf(directory / ("a/" + std::string(file))),
              test::hashOf(directory / ("b/" + std::string(file))));
}

TEST(TokenData, SeesWhatHappenedToTheFiles) {
  TempDirectory directory;
  ASSERT_OK(test::writeDocuments(directory / "t", {3, 1, 4}));
  std::string path = directory / "t/shard-00000.safetensors";
  std::string shard = *readFile(path, 10000);
  std::string manifest = *readFile(directory / "t/manifest.json", 10000);
  auto open = [&] { return TokenData::open(directory / "t", DataKind::Tokens); };
  ASSERT_OK(open());

  // One bit of one id.
  std::string damaged = shard;
  damaged[damaged.size() - 20] ^= 1;
  ASSERT_OK(writeFileAtomically(path, damaged));
  EXPECT_ERROR(open(), StatusCode::InvalidData, "shard-00000.safetensors: damaged or exchanged: its SHA-256 is");
  ASSERT_OK(writeFileAtomically(path, shard.substr(0, shard.size() - 1)));
  EXPECT_ERROR(open(), StatusCode::InvalidData, "shard-00000.safetensors: ");

  // A shard of other contents whose hash the manifest has.
  test::writeShard(path, {{0, 1, 2, 10, 20, 21}, {0, 1, 1, 0, 0, 1}, {0, 3, 4, 6}, std::nullopt});
  std::string lying = manifest;
  lying.replace(lying.find(*sha256(asBytes(shard))), 64, test::hashOf(path));
  ASSERT_OK(writeFileAtomically(directory / "t/manifest.json", lying));
  EXPECT_ERROR(open(), StatusCode::InvalidData, "the manifest says 8 tokens, the shard has 6");

  ASSERT_OK(writeFileAtomically(directory / "t/manifest.json", manifest));
  ASSERT_OK(removeFlatDirectory(directory / "t"));
  EXPECT_ERROR(open(), StatusCode::Io, "manifest.json: cannot open");
}

TEST(TokenData, RowsAsTheManifestSaysThem) {
  TempDirectory directory;
  ASSERT_OK(createDirectories(directory / "p"));
  test::writeShard(directory / "p/shard-00000.safetensors", right);
  Manifest manifest;
  manifest.kind = DataKind::Packed;
  manifest.vocabularyBound = 10;
  manifest.documents = 3;
  manifest.tokens = 6;
  manifest.trainedTokens = 2;
  manifest.rowLength = 5;
  manifest.rows = 2;
  manifest.shards = {{"shard-00000.safetensors",
                      test::hashOf(directory / "p/shard-00000.safetensors"),
                      3,
                      6,
                      2,
                      {{5, 2, 3, 2}, {1, 1, 1, 0}}}};
  auto open = [&] {
    EXPECT_OK(writeFileAtomically(directory / "p/manifest.json", printManifest(manifest)));
    return TokenData::open(directory / "p", DataKind::Packed);
  };
  auto data = open();
  ASSERT_OK(data);
  EXPECT_EQ(data->rows(), 2);
  EXPECT_EQ(data->rowShape(1), (BucketShape{1, 1, 1, 0}));
  TokenRow row;
  data->readRow(0, row);
  data->readRow(1, row);
  EXPECT_EQ(row.ids, std::vector<int32_t>{1});
  EXPECT_EQ(row.lossMask, std::vector<uint8_t>{0});

  manifest.shards[0].rows = {{5, 2, 4, 2}, {1, 1, 1, 0}};
  EXPECT_ERROR(open(), StatusCode::InvalidData, "row 0: the manifest says 5x2x4x2, the shard has 5x2x3x2");
  manifest.shards[0].rows = {{5, 2, 3, 2}, {1, 1, 1, 0}};
  manifest.rowLength = 6;
  EXPECT_OK(open());
  manifest.vocabularyBound = 9;
  EXPECT_ERROR(open(), StatusCode::InvalidData, "input_ids[4]: expected 0 to 8, got 9");
}

TEST(TokenData, WarnsOfEmptyDocuments) {
  TempDirectory directory;
  ASSERT_OK(test::writeDocuments(directory / "t", {2, 1}));
  std::string path = directory / "t/shard-00000.safetensors";
  Manifest manifest = *readManifest(directory / "t");
  test::writeShard(path, {{0, 1, 10}, {0, 1, 0}, {0, 2, 2, 3}, std::nullopt});
  manifest.shards[0].sha256 = test::hashOf(path);
  ASSERT_OK(writeFileAtomically(directory / "t/manifest.json", printManifest(manifest)));
  auto data = TokenData::open(directory / "t", DataKind::Tokens);
  ASSERT_OK(data);
  EXPECT_EQ(data->warnings(), std::vector<std::string>{path + ": skipped 1 empty document"});
}

TEST(TokenDataWriter, RefusesBrokenDocuments) {
  auto bad = StatusCode::InvalidData;
  EXPECT_OK(addOne({1, 2}, {0, 1}));
  EXPECT_ERROR(addOne({}, {}), bad, "d: document 0: empty");
  EXPECT_ERROR(addOne({1, 2}, {0}), bad, "2 tokens, but 1 of its mask");
  EXPECT_ERROR(addOne({1, 10}, {0, 1}), bad, "token 1: expected an id from 0 to 9, got 10");
  EXPECT_ERROR(addOne({1, -1}, {0, 1}), bad, "got -1");
  EXPECT_ERROR(addOne({1, 2}, {0, 2}), bad, "token 1: expected a mask of 0 or 1, got 2");
  EXPECT_ERROR(addOne({1, 2}, {1, 1}), bad, "its first token is a target");
  EXPECT_ERROR(addOne({1, 2}, {0, 1}, {.kind = DataKind::Packed, .rowLength = 1}), StatusCode::ResourceExhausted,
               "2 tokens do not fit a row of 1 with 0 in it");
  EXPECT_ERROR(addOne({1}, {0}, {.kind = DataKind::Packed}), StatusCode::InvalidUsage, "row length: expected 1 to");
  EXPECT_ERROR(addOne({1}, {0}, {.vocabularyBound = 0}), StatusCode::InvalidUsage, "vocabulary bound: expected 1 to");
  TempDirectory directory;
  EXPECT_ERROR(test::writeDocuments(directory / "none", {}), bad, "none: there are no documents to write");
  auto writer = TokenDataWriter::create(directory / "rows", {.kind = DataKind::Packed, .rowLength = 4});
  ASSERT_OK(writer);
  EXPECT_ERROR(writer->endRow(), bad, "rows: row 0: empty");
}

TEST(TokenDataWriter, TheDirectoryAppearsWholeOrNotAtAll) {
  TempDirectory directory;
  {
    auto writer = TokenDataWriter::create(directory / "a/t", {.shardTokens = 1});
    ASSERT_OK(writer);
    ASSERT_OK(writer->addDocument(std::vector<int32_t>{1}, std::vector<uint8_t>{0}));
    EXPECT_TRUE(pathExists(directory / "a/t.partial/shard-00000.safetensors"));
    EXPECT_FALSE(pathExists(directory / "a/t"));
  }
  EXPECT_EQ(listDirectory(directory / "a")->size(), 0u);
  // What a dead process left is not mixed in.
  ASSERT_OK(createDirectories(directory / "a/t.partial"));
  ASSERT_OK(writeFileAtomically(directory / "a/t.partial/shard-00007.safetensors", "old"));
  ASSERT_OK(test::writeDocuments(directory / "a/t", {1}));
  EXPECT_EQ(*listDirectory(directory / "a/t"), (std::vector<std::string>{"manifest.json", "shard-00000.safetensors"}));
  EXPECT_ERROR(test::writeDocuments(directory / "a/t", {1}), StatusCode::InvalidUsage,
               "expected a new or empty directory");
}
