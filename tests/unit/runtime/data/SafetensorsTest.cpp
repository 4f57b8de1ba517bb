// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Safetensors.h"

#include "runtime/data/SafetensorsWriter.h"
#include "tests/unit/runtime/support/SafetensorsBytes.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <fcntl.h>
#include <unistd.h>

using namespace qrt;
using qrt::test::safetensorsBytes;
using qrt::test::TempDirectory;

namespace {

Status parseStatus(const std::string &file) { return SafetensorsFile::parse(asBytes(file), "f").status(); }

Status headerStatus(std::string_view header, size_t dataBytes) {
  return parseStatus(safetensorsBytes(header, dataBytes));
}

} // namespace

TEST(Safetensors, ReadsWhatTheHeaderSays) {
  std::string file = safetensorsBytes(R"({"b":{"dtype":"I32","shape":[2],"data_offsets":[6,14]},)"
                                      R"("__metadata__":{"format":"pt","k":"v"},)"
                                      R"("a":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]},)"
                                      R"("empty":{"dtype":"F32","shape":[0,7],"data_offsets":[6,6]},)"
                                      R"("scalar":{"dtype":"U8","shape":[],"data_offsets":[14,15]}}    )",
                                      15);
  auto parsed = SafetensorsFile::parse(asBytes(file), "f");
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->tensors(), (std::vector<TensorSpec>{{"a", DType::BF16, {3, 1}},
                                                        {"empty", DType::F32, {0, 7}},
                                                        {"b", DType::I32, {2}},
                                                        {"scalar", DType::U8, {}}}));
  EXPECT_EQ(parsed->metadata(), (std::map<std::string, std::string>{{"format", "pt"}, {"k", "v"}}));
  auto b = parsed->tensor("b");
  ASSERT_OK(b);
  EXPECT_EQ(b->elements(), 2);
  // Not aligned to its element, which is allowed.
  EXPECT_EQ(b->at<int32_t>(0), 0x09080706);
  EXPECT_EQ(b->at<int32_t>(1), 0x0D0C0B0A);
  int32_t one = 0;
  b->copy(1, std::span<int32_t>(&one, 1));
  EXPECT_EQ(one, 0x0D0C0B0A);
  EXPECT_EQ(parsed->find("empty")->elements(), 0);
  EXPECT_EQ(parsed->find("scalar")->at<uint8_t>(0), 14);
  EXPECT_FALSE(parsed->find("c"));
  EXPECT_ERROR(parsed->tensor("c"), StatusCode::InvalidData, "f: no tensor 'c'");
  EXPECT_OK(parsed->tensor("b", DType::I32, 1));
  EXPECT_ERROR(parsed->tensor("b", DType::I64, 1), StatusCode::InvalidData,
               "f: 'b': expected i64 of rank 1, got i32[2]");
  EXPECT_ERROR(parsed->tensor("b", DType::I32, 2), StatusCode::InvalidData, "of rank 2");
}

TEST(Safetensors, NoTensorsAtAll) {
  EXPECT_OK(headerStatus("{}", 0));
  EXPECT_ERROR(headerStatus("{}", 1), StatusCode::InvalidData,
               "bytes 0 to 1 at the end of the data belong to no tensor");
}

TEST(Safetensors, RefusesBrokenLengths) {
  EXPECT_ERROR(parseStatus(""), StatusCode::InvalidData, "f: not a safetensors file: 0 bytes");
  EXPECT_ERROR(parseStatus("1234567"), StatusCode::InvalidData, "7 bytes");
  for (uint64_t length : {uint64_t{3}, uint64_t{100'000'001}, uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 7}) {
    std::string file = safetensorsBytes("{}", 0);
    std::memcpy(file.data(), &length, sizeof(length));
    EXPECT_ERROR(parseStatus(file), StatusCode::InvalidData, fmt::format("should have {} bytes, 2 follow", length));
  }
  EXPECT_ERROR(headerStatus("", 0), StatusCode::InvalidData, "does not begin with '{'");
  EXPECT_ERROR(headerStatus(" {}", 0), StatusCode::InvalidData, "does not begin with '{'");
  EXPECT_ERROR(headerStatus("[]", 0), StatusCode::InvalidData, "does not begin with '{'");
  EXPECT_ERROR(headerStatus("{} x", 0), StatusCode::InvalidData, "f: not valid JSON");
  // The pointer file that stands for a large file in a repository.
  EXPECT_ERROR(parseStatus("version https://git-lfs.github.com/spec/v1\n"), StatusCode::InvalidData,
               "not a safetensors");
}

// docs/failures.md, row 29: products and sums that overflow, negative numbers, overlaps, gaps, depth.
TEST(Safetensors, RefusesBrokenEntries) {
  auto bad = StatusCode::InvalidData;
  auto entry = [](const char *dtype, const char *shape, const char *offsets) {
    return fmt::format(R"({{"t":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
  };
  EXPECT_OK(headerStatus(entry("\"F32\"", "[2]", "[0,8]"), 8));
  EXPECT_ERROR(headerStatus(entry("\"F3\"", "[2]", "[0,8]"), 8), StatusCode::Unsupported, "f: 't': unknown dtype 'F3'");
  EXPECT_ERROR(headerStatus(entry("7", "[2]", "[0,8]"), 8), bad, "'t'.dtype: expected a string");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "2", "[0,8]"), 8), bad, "'t'.shape: expected an array");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[-2]", "[0,8]"), 8), bad, "'t'.shape[0]: expected 0 to");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2.0]", "[0,8]"), 8), bad, "expected an integer, got a fraction");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[18446744073709551615]", "[0,8]"), 8), bad, "got 18446744073709551615");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0), bad,
               "more elements than 63 bits");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[4611686018427387904]", "[0,0]"), 0), bad, "more bytes than 63 bits");
  // A zero must not hide what overflows.
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[0,4294967296,4294967296]", "[0,0]"), 0), bad, "more elements than");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2]", "[0]"), 8), bad, "expected 2 numbers, got 1");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2]", "[0,8,8]"), 8), bad, "expected 2 numbers, got 3");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2]", "[8,0]"), 8), bad,
               "expected a range of the 8 bytes of data, got 8 to 0");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2]", "[1,9]"), 8), bad, "expected a range of the 8 bytes");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2]", "[-8,0]"), 8), bad, "expected 0 to");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[3]", "[0,8]"), 8), bad, "f32[3] takes 12 bytes, but 0 to 8 are 8");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2]", "[1,9]"), 9), bad, "bytes 0 to 1 of the data, before 't'");
  EXPECT_ERROR(headerStatus(entry("\"F32\"", "[2]", "[0,8]"), 9), bad, "bytes 8 to 9 at the end");
  EXPECT_ERROR(headerStatus(R"({"t":{"dtype":"F32","shape":[2]}})", 8), bad, "'t'.data_offsets: missing");
  EXPECT_ERROR(headerStatus(R"({"t":[]})", 0), bad, "'t': expected an object, got an array");
  EXPECT_ERROR(headerStatus(R"({"__metadata__":{"k":1}})", 0), bad,
               "__metadata__.k: expected a string, got an integer");
  EXPECT_ERROR(headerStatus(R"({"__metadata__":null})", 0), bad, "__metadata__: expected an object, got null");
  EXPECT_ERROR(headerStatus(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                            R"("b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
                            7),
               bad, "f: the bytes of 'a' and of 'b' overlap");
  EXPECT_ERROR(headerStatus(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                            R"("b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                            4),
               bad, "overlap");
  EXPECT_ERROR(headerStatus(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                            R"("b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})",
                            9),
               bad, "bytes 4 to 5 of the data, before 'b', belong to no tensor");
  EXPECT_ERROR(headerStatus(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                            R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                            1),
               bad, "the key 'a' twice");
  EXPECT_ERROR(headerStatus("{\"a\":" + std::string(1'000'000, '['), 0), bad, "nested deeper than 64 levels");
}

TEST(Safetensors, AHundredThousandTensors) {
  TempDirectory directory;
  std::vector<TensorSpec> specs;
  for (int i = 0; i < 100'000; ++i)
    specs.push_back({fmt::format("model.layers.{}.weight", i), DType::I32, {1, 1}});
  auto writer = SafetensorsWriter::create(directory / "a", specs, {});
  ASSERT_OK(writer);
  for (int32_t i = 0; i < 100'000; ++i)
    ASSERT_OK(writer->append(specs[i].name, asBytes(std::span<const int32_t>(&i, 1))));
  ASSERT_OK(writer->finish());
  auto file = SafetensorsFile::open(directory / "a");
  ASSERT_OK(file);
  EXPECT_EQ(file->tensors(), specs);
  for (int32_t i : {0, 1, 9999, 99'999})
    EXPECT_EQ(file->find(specs[i].name)->at<int32_t>(0), i);
}

// Offsets beyond 32 bits. The file is sparse: it has no blocks for its zeros.
TEST(Safetensors, LargerThanFourGigabytes) {
  TempDirectory directory;
  constexpr int64_t big = int64_t{5} << 30;
  std::string header = fmt::format(R"({{"big":{{"dtype":"U8","shape":[{0}],"data_offsets":[0,{0}]}},)"
                                   R"("end":{{"dtype":"I32","shape":[1],"data_offsets":[{0},{1}]}}}})",
                                   big, big + 4);
  ASSERT_OK(writeFileAtomically(directory / "a", safetensorsBytes(header, 0)));
  int descriptor = ::open((directory / "a").c_str(), O_WRONLY);
  ASSERT_GE(descriptor, 0);
  int32_t value = 12345;
  ASSERT_EQ(::pwrite(descriptor, &value, 4, static_cast<off_t>(8 + header.size() + big)), 4);
  ::close(descriptor);
  auto file = SafetensorsFile::open(directory / "a");
  ASSERT_OK(file);
  EXPECT_EQ(file->find("big")->elements(), big);
  EXPECT_EQ(file->find("end")->at<int32_t>(0), value);
}

// What the format's reference implementation wrote, written again: the same bytes.
TEST(Safetensors, GoldenFilesRoundTripToTheSameBytes) {
  TempDirectory directory;
  std::string golden = QCC_SOURCE_DIR "/tests/golden";
  auto cases = listDirectory(golden);
  ASSERT_OK(cases);
  int files = 0;
  for (const std::string &name : *cases) {
    if (!pathExists(joinPath(joinPath(golden, name), "golden.json"))) // a case, not a tool
      continue;
    for (const char *part : {"model", "grads", "acts", "batch"}) {
      std::string path = fmt::format("{}/{}/{}.safetensors", golden, name, part);
      auto file = SafetensorsFile::open(path);
      ASSERT_OK(file);
      auto writer = SafetensorsWriter::create(directory / "copy", file->tensors(), file->metadata(), /*hashed=*/true);
      ASSERT_OK(writer);
      for (const TensorSpec &tensor : file->tensors())
        ASSERT_OK(writer->append(tensor.name, file->find(tensor.name)->bytes));
      auto digest = writer->finish();
      ASSERT_OK(digest);
      auto copy = readFile(directory / "copy", 1 << 30);
      auto original = readFile(path, 1 << 30);
      ASSERT_OK(copy);
      ASSERT_OK(original);
      EXPECT_TRUE(*copy == *original) << path;
      EXPECT_EQ(*digest, *sha256(asBytes(*original)));
      ++files;
    }
  }
  EXPECT_GE(files, 20);
}

TEST(SafetensorsWriter, PiecesAndTensorsWithoutBytes) {
  TempDirectory directory;
  std::vector<TensorSpec> specs = {{"e0", DType::F32, {0}},
                                   {"a", DType::I32, {3}},
                                   {"e1", DType::F32, {2, 0}},
                                   {"b", DType::U8, {2}},
                                   {"e2", DType::U8, {0}}};
  auto writer = SafetensorsWriter::create(directory / "f", specs, {{"format", "pt"}});
  ASSERT_OK(writer);
  int32_t a[] = {1, 2, 3};
  ASSERT_OK(writer->append("a", asBytes(std::span<const int32_t>(a, 1))));
  ASSERT_OK(writer->append("a", asBytes(std::span<const int32_t>(a + 1, 2))));
  ASSERT_OK(writer->append("e1", {}));
  ASSERT_OK(writer->append("b", asBytes("xy")));
  EXPECT_FALSE(pathExists(directory / "f"));
  ASSERT_OK(writer->finish());
  auto file = SafetensorsFile::open(directory / "f");
  ASSERT_OK(file);
  EXPECT_EQ(file->tensors().size(), specs.size());
  EXPECT_EQ(file->find("a")->at<int32_t>(2), 3);
  EXPECT_EQ(file->find("b")->at<uint8_t>(1), 'y');
  EXPECT_EQ(file->metadata().at("format"), "pt");
}

TEST(SafetensorsWriter, NamesAreEscaped) {
  TempDirectory directory;
  std::string odd = "quote\" back\\slash \n \xc3\xa9";
  auto writer = SafetensorsWriter::create(directory / "f", {{odd, DType::U8, {1}}}, {{odd, odd}});
  ASSERT_OK(writer);
  ASSERT_OK(writer->append(odd, asBytes("z")));
  ASSERT_OK(writer->finish());
  auto file = SafetensorsFile::open(directory / "f");
  ASSERT_OK(file);
  EXPECT_TRUE(file->find(odd));
  EXPECT_EQ(file->metadata().at(odd), odd);
}

TEST(SafetensorsWriter, RefusesWhatDoesNotMakeAFile) {
  TempDirectory directory;
  auto bad = StatusCode::InvalidData;
  auto create = [&](std::vector<TensorSpec> specs) { return SafetensorsWriter::create(directory / "f", specs, {}); };
  EXPECT_ERROR(create({{"a", DType::U8, {1}}, {"a", DType::U8, {1}}}), bad, "'a' cannot name a tensor");
  EXPECT_ERROR(create({{"__metadata__", DType::U8, {1}}}), bad, "cannot name a tensor");
  EXPECT_ERROR(create({{"\xff", DType::U8, {1}}}), bad, "cannot name a tensor");
  EXPECT_ERROR(create({{"a", DType::U8, {-1}}}), bad, "negative dimension");
  EXPECT_ERROR(create({{"a", DType::F32, {int64_t{1} << 62}}}), bad, "more bytes than 63 bits");
  EXPECT_ERROR(create({{"a", DType::U8, {int64_t{1} << 62}}, {"b", DType::U8, {int64_t{1} << 62}}}), bad, "more bytes");
  {
    auto writer = create({{"a", DType::U8, {2}}, {"b", DType::U8, {2}}});
    ASSERT_OK(writer);
    EXPECT_ERROR(writer->append("b", asBytes("x")), bad, "bytes of 'b' came, expected those of 'a'");
    EXPECT_ERROR(writer->append("a", asBytes("xyz")), bad, "'a': 3 bytes came, but 2 are missing of u8[2]");
    ASSERT_OK(writer->append("a", asBytes("x")));
    EXPECT_ERROR(writer->append("b", asBytes("x")), bad, "expected those of 'a'");
    EXPECT_ERROR(writer->finish(), bad, "'a' lacks 1 bytes");
    ASSERT_OK(writer->append("a", asBytes("y")));
    EXPECT_ERROR(writer->finish(), bad, "'b' lacks 2 bytes");
    ASSERT_OK(writer->append("b", asBytes("zz")));
    EXPECT_ERROR(writer->append("a", asBytes("x")), bad, "expected no more");
  }
  EXPECT_EQ(listDirectory(directory.path())->size(), 0u);
}
