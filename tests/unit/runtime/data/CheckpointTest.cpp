// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Checkpoint.h"

#include "tests/unit/runtime/support/SafetensorsBytes.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

using namespace qrt;
using qrt::test::safetensorsBytes;
using qrt::test::TempDirectory;

namespace {

const std::vector<TensorSpec> specs = {{"z.first", DType::BF16, {10}},
                                       {"a.second", DType::F32, {5}},
                                       {"big", DType::U8, {100}},
                                       {"last", DType::I64, {1}}};

std::string dataOf(const TensorSpec &spec) {
  std::string data(static_cast<size_t>(*tensorBytes(spec)), '\0');
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i + spec.name.size());
  return data;
}

Status save(const std::string &directory, int64_t maxShardBytes) {
  QRT_ASSIGN_OR_RETURN(CheckpointWriter writer,
                       CheckpointWriter::create(directory, specs, {.maxShardBytes = maxShardBytes}));
  for (const TensorSpec &spec : specs) {
    std::string data = dataOf(spec);
    QRT_RETURN_IF_ERROR(writer.append(spec.name, asBytes(std::string_view(data).substr(0, 7))));
    QRT_RETURN_IF_ERROR(writer.append(spec.name, asBytes(std::string_view(data).substr(7))));
  }
  return writer.finish();
}

void expectComplete(const std::string &directory) {
  auto reader = CheckpointReader::open(directory);
  ASSERT_OK(reader);
  EXPECT_EQ(reader->tensors().size(), specs.size());
  for (const TensorSpec &spec : specs) {
    auto tensor = reader->tensor(spec.name);
    ASSERT_OK(tensor);
    EXPECT_EQ(*tensor->spec, spec);
    EXPECT_EQ(std::string(tensor->bytes.begin(), tensor->bytes.end()), dataOf(spec));
  }
  for (const SafetensorsFile &file : reader->files())
    EXPECT_EQ(file.metadata().at("format"), "pt");
}

/// A shard of one-byte tensors.
std::string shardOf(std::vector<std::string> names) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i)
    header +=
        fmt::format(R"({}"{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})", i ? "," : "", names[i], i, i + 1);
  return safetensorsBytes(header + "}", names.size());
}

} // namespace

TEST(Checkpoint, OneFile) {
  TempDirectory directory;
  ASSERT_OK(save(directory / "out/here", 1 << 30));
  EXPECT_EQ(*listDirectory(directory / "out/here"), std::vector<std::string>{"model.safetensors"});
  expectComplete(directory / "out/here");
}

TEST(Checkpoint, ShardsAndTheirIndex) {
  TempDirectory directory;
  // 20 + 20 bytes fill a shard exactly, 100 are alone although they exceed it, 8 follow.
  ASSERT_OK(save(directory.path(), 40));
  EXPECT_EQ(*listDirectory(directory.path()),
            (std::vector<std::string>{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                      "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  EXPECT_EQ(*readFile(directory / "model.safetensors.index.json", 10000), R"({
  "metadata": {
    "total_size": 148
  },
  "weight_map": {
    "a.second": "model-00001-of-00003.safetensors",
    "big": "model-00002-of-00003.safetensors",
    "last": "model-00003-of-00003.safetensors",
    "z.first": "model-00001-of-00003.safetensors"
  }
}
)");
  expectComplete(directory.path());
  TempDirectory other;
  ASSERT_OK(save(other.path(), 39));
  EXPECT_EQ(listDirectory(other.path())->size(), 5u);
  expectComplete(other.path());
}

TEST(Checkpoint, WriterRefuses) {
  TempDirectory directory;
  ASSERT_OK(save(directory.path(), 40));
  EXPECT_ERROR(save(directory.path(), 40), StatusCode::InvalidUsage,
               "expected a directory without weights, but it holds");
  auto bad = StatusCode::InvalidData;
  EXPECT_ERROR(CheckpointWriter::create(directory / "x", {{"a", DType::U8, {1}}, {"a", DType::U8, {1}}}), bad,
               "'a' is there twice");
  auto writer =
      CheckpointWriter::create(directory / "y", {{"a", DType::U8, {1}}, {"b", DType::U8, {1}}}, {.maxShardBytes = 1});
  ASSERT_OK(writer);
  EXPECT_ERROR(writer->append("c", asBytes("x")), bad, "no tensor 'c' was announced");
  EXPECT_ERROR(writer->append("b", asBytes("x")), bad, "'a' lacks 1 bytes");
  ASSERT_OK(writer->append("a", asBytes("x")));
  ASSERT_OK(writer->append("b", asBytes("x")));
  EXPECT_ERROR(writer->append("a", asBytes("x")), bad, "bytes of 'a' came");
  ASSERT_OK(writer->finish());
}

TEST(Checkpoint, NothingThere) {
  TempDirectory directory;
  EXPECT_ERROR(CheckpointReader::open(directory.path()), StatusCode::Io, "neither model.safetensors nor");
  EXPECT_ERROR(CheckpointReader::open(directory / "x"), StatusCode::Io, "x: neither");
}

TEST(Checkpoint, ShardNamesStayInTheDirectory) {
  TempDirectory directory;
  ASSERT_OK(writeFileAtomically(directory / "secret", shardOf({"a"})));
  ASSERT_OK(createDirectories(directory / "model"));
  for (std::string name : {"../secret", "/etc/passwd", "..", ".", "", "sub/x", "a\\\\b", "\\u0000", "x\\u0000y"}) {
    ASSERT_OK(writeFileAtomically(directory / "model/model.safetensors.index.json",
                                  R"({"weight_map":{"a":")" + name + "\"}}"));
    EXPECT_ERROR(CheckpointReader::open(directory / "model"), StatusCode::InvalidData,
                 "expected the name of a file in the same directory");
  }
}

TEST(Checkpoint, IndexAndShardsMustAgree) {
  TempDirectory directory;
  auto bad = StatusCode::InvalidData;
  auto open = [&](const std::string &index) {
    EXPECT_OK(writeFileAtomically(directory / "model.safetensors.index.json", index));
    return CheckpointReader::open(directory.path());
  };
  ASSERT_OK(writeFileAtomically(directory / "1", shardOf({"a", "b"})));
  ASSERT_OK(writeFileAtomically(directory / "2", shardOf({"c"})));
  EXPECT_OK(open(R"({"weight_map":{"a":"1","b":"1","c":"2"}})"));
  EXPECT_ERROR(open(R"({"weight_map":{"a":"1","b":"1","c":"1"}})"), bad,
               "'c' is said to be in '1', which does not hold it");
  EXPECT_ERROR(open(R"({"weight_map":{"a":"1","b":"2","c":"2"}})"), bad,
               "1: holds 'b', which model.safetensors.index.json says is in '2'");
  EXPECT_ERROR(open(R"({"weight_map":{"a":"1","c":"2"}})"), bad, "says is nowhere");
  EXPECT_ERROR(open(R"({"weight_map":{"a":"1","b":"1","d":"3"}})"), StatusCode::Io, "3: cannot open");
  EXPECT_ERROR(open(R"({"weight_map":{"a":"1","a":"2"}})"), bad, "the key 'a' twice");
  EXPECT_ERROR(open(R"({"weight_map":{"a":1}})"), bad, "weight_map.a: expected a string");
  EXPECT_ERROR(open(R"({"weight_map":{}})"), bad, "names no tensor");
  EXPECT_ERROR(open(R"({"weight_map":[]})"), bad, "expected an object");
  EXPECT_ERROR(open(R"({})"), bad, "weight_map: missing");
  EXPECT_ERROR(open("["), bad, "not valid JSON");
  // A tensor in two shards.
  ASSERT_OK(writeFileAtomically(directory / "2", shardOf({"c", "a"})));
  EXPECT_ERROR(open(R"({"weight_map":{"a":"1","b":"1","c":"2"}})"), bad, "2: holds 'a'");
}

TEST(Checkpoint, GoldenModelsOpen) {
  for (const char *name : {"tiny_tied", "tiny_untied", "tiny_long", "wide_r1", "wide_r3"}) {
    auto reader = CheckpointReader::open(fmt::format("{}/tests/golden/{}", QCC_SOURCE_DIR, name));
    ASSERT_OK(reader);
    auto embedding = reader->tensor("model.embed_tokens.weight");
    ASSERT_OK(embedding);
    EXPECT_EQ(embedding->spec->shape.size(), 2u);
  }
}
