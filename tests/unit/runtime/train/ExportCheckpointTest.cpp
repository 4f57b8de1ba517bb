// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/ExportCheckpoint.h"

#include "runtime/train/Initialize.h"
#include "tests/unit/runtime/support/TempDirectory.h"
#include "tests/unit/runtime/support/TinyCheckpoint.h"
#include "tests/unit/runtime/support/TinySession.h"

namespace qrt {
namespace {

using namespace test;

void trainSome(Session &session) {
  HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23);
  ASSERT_OK(session.loadBatch(batch));
  session.setScalars(1.0F / static_cast<float>(batch.trained()), kTinyHyper, 7);
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(session.run(EntryKind::Step));
}

TEST(ExportCheckpoint, WhatGoesInComesOut) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    TempDirectory directory;
    std::string in = directory / "in", out = directory / "out";
    writeTensors(in, tinyTensors());
    for (const char *name : {"config.json", "tokenizer.json", "chat_template.jinja", "LICENSE"})
      ASSERT_OK(writeFileAtomically(joinPath(in, name), std::string("the ") + name));
    ASSERT_OK(writeFileAtomically(joinPath(in, "pytorch_model.bin"), "x"));
    ASSERT_OK(writeFileAtomically(joinPath(in, "notes.txt"), "x"));
    ASSERT_OK(createDirectories(joinPath(in, "merges.txt")));
    std::unique_ptr<Session> session = makeSession({.dtype = dtype});
    StatusOr<WeightSource> source = WeightSource::open(session->program(), in);
    ASSERT_OK(source);
    ASSERT_OK(loadWeights(*session, *source));
    ASSERT_OK(exportCheckpoint(*session, out, {.source = &*source}));
    // Names, types, order and, after no step, bytes.
    EXPECT_EQ(readTensors(out), tinyTensors());
    EXPECT_EQ(*listDirectory(out), (std::vector<std::string>{"LICENSE", "chat_template.jinja", "config.json",
                                                             "model.safetensors", "tokenizer.json"}));
    EXPECT_EQ(*readFile(joinPath(out, "tokenizer.json"), 100), "the tokenizer.json");
    EXPECT_EQ(SafetensorsFile::open(joinPath(out, "model.safetensors"))->metadata().at("format"), "pt");
    EXPECT_FALSE(pathExists(out + ".partial"));
    EXPECT_ERROR(exportCheckpoint(*session, out, {.source = &*source}), StatusCode::InvalidUsage, out);

    // After training the trained ones have changed, in their own types, and load to what they were.
    trainSome(*session);
    std::string trained = directory / "trained/";
    ASSERT_OK(createDirectories(trained));
    ASSERT_OK(exportCheckpoint(*session, trained, {.source = &*source}));
    std::vector<TinyTensor> before = tinyTensors(), after = readTensors(trained);
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].spec, after[i].spec);
      bool passed = source->parameterOf(before[i].spec.name) < 0;
      EXPECT_EQ(before[i].bytes == after[i].bytes, passed) << before[i].spec.name;
    }
    for (const TinyTensor &tensor : after) {
      int64_t index = source->parameterOf(tensor.spec.name);
      if (index < 0)
        continue;
      const Parameter &parameter = session->program().parameters()[static_cast<size_t>(index)];
      std::vector<float> exact =
          readFloats(*session, parameter.name,
                     parameter.part(ParameterPart::Master) ? ParameterPart::Master : ParameterPart::Weight);
      std::vector<uint8_t> bytes(tensor.bytes.size());
      bytesFromFloats(tensor.spec.dtype, exact, bytes);
      EXPECT_EQ(tensor.bytes, bytes) << tensor.spec.name;
    }
  }
}

TEST(ExportCheckpoint, FromScratchHasPreferredNames) {
  TempDirectory directory;
  std::string out = directory / "out", tokenizer = directory / "tokenizer";
  ASSERT_OK(createDirectories(tokenizer));
  ASSERT_OK(writeFileAtomically(joinPath(tokenizer, "tokenizer.json"), "t"));
  ASSERT_OK(writeFileAtomically(joinPath(tokenizer, "config.json"), "another model's"));
  std::unique_ptr<Session> session = makeSession({.dtype = DType::BF16});
  ASSERT_OK(initializeWeights(*session, 3));
  ASSERT_OK(exportCheckpoint(*session, out, {.tokenizer = tokenizer}));
  EXPECT_EQ(*readFile(joinPath(out, "config.json"), 100), "{}");
  EXPECT_EQ(*readFile(joinPath(out, "tokenizer.json"), 100), "t");
  std::vector<TinyTensor> tensors = readTensors(out);
  const std::vector<Parameter> &parameters = session->program().parameters();
  ASSERT_EQ(tensors.size(), parameters.size());
  for (size_t i = 0; i < tensors.size(); ++i)
    EXPECT_EQ(tensors[i].spec,
              (TensorSpec{parameters[i].checkpointNames[0], parameters[i].weight().dtype, parameters[i].shape}));
  // And it loads again, with the masters rounded.
  std::unique_ptr<Session> again = makeSession({.dtype = DType::BF16});
  StatusOr<WeightSource> source = WeightSource::open(again->program(), out);
  ASSERT_OK(source);
  ASSERT_OK(loadWeights(*again, *source));
  for (const Parameter &parameter : parameters)
    EXPECT_EQ(readFloats(*again, parameter.name, ParameterPart::Weight),
              readFloats(*session, parameter.name, ParameterPart::Weight));
}

TEST(ExportCheckpoint, LargeOnesAreInShards) {
  TempDirectory directory;
  std::string in = directory / "in", out = directory / "out";
  writeTensors(in, tinyTensors(), 400);
  std::unique_ptr<Session> session = makeSession({});
  StatusOr<WeightSource> source = WeightSource::open(session->program(), in);
  ASSERT_OK(source);
  ASSERT_OK(loadWeights(*session, *source));
  ASSERT_OK(exportCheckpoint(*session, out, {.source = &*source, .maxShardBytes = 500}));
  EXPECT_TRUE(pathExists(joinPath(out, "model.safetensors.index.json")));
  EXPECT_GT(CheckpointReader::open(out)->files().size(), 2u);
  EXPECT_EQ(readTensors(out), tinyTensors());
}

// What is frozen keeps its bytes, also where the program holds it in a narrower type.
TEST(ExportCheckpoint, FrozenTensorsPassThrough) {
  TempDirectory directory;
  std::string in = directory / "in", out = directory / "out";
  ProgramBuilder builder(10);
  ProgramBuilder::Formats formats;
  formats.weight = DType::BF16;
  formats.trained = false;
  builder.parameter("embed_tokens.weight", {4, 4}, formats);
  EntryBuilder entry = builder.entry(EntryKind::Eval, {4, 1, 4, 4});
  for (ArgumentRole role : {ArgumentRole::Ids, ArgumentRole::Labels, ArgumentRole::Segments})
    entry.argument(role);
  entry.fill(entry.result(ResultRole::Loss));
  std::vector<TinyTensor> tensors{tinyTensor("model.embed_tokens.weight", DType::F32, {4, 4})};
  writeTensors(in, tensors);
  std::vector<Program> programs;
  programs.push_back(*builder.build());
  StatusOr<std::unique_ptr<Session>> session =
      Session::create(std::move(programs), cpu::createCpuDevice({.threads = 1}));
  ASSERT_OK(session);
  StatusOr<WeightSource> source = WeightSource::open((*session)->program(), in);
  ASSERT_OK(source);
  ASSERT_OK(loadWeights(**session, *source));
  ASSERT_OK(exportCheckpoint(**session, out, {.source = &*source}));
  EXPECT_EQ(readTensors(out), tensors);
}

} // namespace
} // namespace qrt
