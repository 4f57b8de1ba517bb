// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/TrainLoop.h"

#include "runtime/base/Json.h"
#include "runtime/data/TokenDataWriter.h"
#include "runtime/train/Evaluate.h"
#include "tests/unit/runtime/support/AheadDevice.h"
#include "tests/unit/runtime/support/TempDirectory.h"
#include "tests/unit/runtime/support/TinySession.h"

#include <gmock/gmock.h>

namespace qrt {
namespace {

using namespace test;

constexpr BucketShape kSmall{16, 4, 16, 12}, kLarge{24, 4, 24, 23};

/// Rows of one or two documents with random ids, for buckets kSmall and kLarge in turn.
void writeRows(const std::string &directory, int64_t rows) {
  StatusOr<TokenDataWriter> writer = TokenDataWriter::create(
      directory, {.kind = DataKind::Packed, .rowLength = kLarge.tokens, .vocabularyBound = TinyModel().vocabulary});
  ASSERT_OK(writer);
  std::mt19937 random(5);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t length : row % 2 ? std::vector<int64_t>{20} : std::vector<int64_t>{5, 7}) {
      std::vector<int32_t> ids;
      std::vector<uint8_t> mask;
      for (int64_t t = 0; t < length; ++t) {
        ids.push_back(static_cast<int32_t>(random() % 23));
        mask.push_back(t > 0);
      }
      ASSERT_OK(writer->addDocument(ids, mask));
    }
    ASSERT_OK(writer->endRow());
  }
  ASSERT_OK(writer->finish());
}

struct Trained {
  TrainResult result;
  std::vector<std::byte> state;
  /// The lines of the metrics without what is different each time.
  std::vector<std::string> lines;
};

Trained trainOn(std::unique_ptr<Device> device, const TinyModel &model, TrainOptions options,
                const SessionOptions &sessionOptions = {.accumulate = true},
                const std::vector<BucketShape> &buckets = {kSmall, kLarge}) {
  Trained trained;
  TempDirectory directory;
  writeRows(directory / "data", 9);
  std::vector<Program> programs;
  programs.push_back(*TinyProgram(model, buckets).build());
  StatusOr<std::unique_ptr<Session>> session = Session::create(std::move(programs), std::move(device), sessionOptions);
  EXPECT_OK(session);
  EXPECT_OK((*session)->device().zero(Space::State, 0, (*session)->program().stateBytes()));
  fillState(**session);
  StatusOr<TokenData> data = TokenData::open(directory / "data", DataKind::Packed);
  EXPECT_OK(data);
  StatusOr<MetricsFile> metrics = MetricsFile::create(directory / "metrics.jsonl");
  EXPECT_OK(metrics);
  Progress progress(std::fopen("/dev/null", "w"), 9);
  std::atomic<bool> stop = false;
  options.learningRate = 1e-2;
  options.schedule = ScheduleKind::Constant;
  if (!options.choicesFile.empty())
    options.choicesFile = directory / options.choicesFile;
  StatusOr<TrainResult> result = train(**session, *data, &*data, options, *metrics, progress, stop);
  EXPECT_OK(result);
  trained.result = *result;
  trained.state.resize(static_cast<size_t>((*session)->program().stateBytes()));
  EXPECT_OK((*session)->device().read(Space::State, 0, trained.state));
  std::string text = *readFile(directory / "metrics.jsonl", 1 << 20);
  for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    std::string line = text.substr(begin, text.find("\"time\"", begin) - begin);
    // Only some devices say what they use.
    if (size_t memory = line.find("\"memory_device_bytes\":990,"); memory != std::string::npos)
      line.erase(memory, line.find("\"skipped\"") - memory);
    trained.lines.push_back(line);
  }
  if (!options.choicesFile.empty())
    trained.lines.push_back(*readFile(options.choicesFile, 1 << 20));
  return trained;
}

// While one run is computed the next is filled in and queued: the same steps, in the same order, with the same bits.
TEST(Evaluate, TellsTheLossOfTheRowsBehindIt) {
  TempDirectory directory;
  writeRows(directory / "data", 4);
  std::vector<Program> programs;
  programs.push_back(*TinyProgram(TinyModel(), {kSmall, kLarge}).build());
  StatusOr<std::unique_ptr<Session>> session =
      Session::create(std::move(programs), cpu::createCpuDevice({.threads = 1}), {});
  ASSERT_OK(session);
  ASSERT_OK((*session)->device().zero(Space::State, 0, (*session)->program().stateBytes()));
  fillState(**session);
  StatusOr<TokenData> data = TokenData::open(directory / "data", DataKind::Packed);
  ASSERT_OK(data);
  std::vector<std::pair<int64_t, double>> told;
  StatusOr<EvalResult> result =
      evaluate(**session, *data, {.progress = [&](int64_t rows, double loss) { told.emplace_back(rows, loss); }});
  ASSERT_OK(result);
  ASSERT_EQ(told.size(), 4u);
  for (size_t i = 0; i < told.size(); ++i)
    EXPECT_EQ(told[i].first, static_cast<int64_t>(i) + 1);
  EXPECT_NE(told[0].second, result->loss);
  EXPECT_EQ(told[3].second, result->loss);
}

TEST(TrainLoop, RunsAheadChangeNothing) {
  for (DType dtype : {DType::F32, DType::BF16})
    for (int64_t microBatches : {1, 2, 4}) {
      SCOPED_TRACE(microBatches);
      TrainOptions options;
      options.microBatches = microBatches;
      options.epochs = 2;
      options.evalEvery = 3;
      Trained expected = trainOn(cpu::createCpuDevice({.threads = 1}), {.dtype = dtype}, options);
      AheadDevice::Record record;
      Trained got = trainOn(std::make_unique<AheadDevice>(record), {.dtype = dtype}, options);
      EXPECT_EQ(got.lines, expected.lines);
      EXPECT_TRUE(got.state == expected.state);
      EXPECT_EQ(got.result.steps, expected.result.steps);
      EXPECT_EQ(got.result.lastLoss, expected.result.lastLoss);
      EXPECT_EQ(got.result.evalLoss, expected.result.evalLoss);
      EXPECT_EQ(record.mostUnderWay, 2u);
    }
}

// A run that is traced is the run that it would have been.
TEST(TrainLoop, ATraceChangesNothing) {
  TempDirectory directory;
  for (int64_t microBatches : {1, 2})
    for (bool ahead : {false, true}) {
      SCOPED_TRACE(fmt::format("{} rows, ahead: {}", microBatches, ahead));
      TrainOptions options;
      options.microBatches = microBatches;
      options.epochs = 2;
      Trained expected = trainOn(cpu::createCpuDevice({.threads = 1}), {}, options);
      options.traceFile = directory / "trace.json";
      AheadDevice::Record record;
      Trained got = ahead ? trainOn(std::make_unique<AheadDevice>(record), {}, options)
                          : trainOn(cpu::createCpuDevice({.threads = 1}), {}, options);
      EXPECT_EQ(got.lines, expected.lines);
      EXPECT_TRUE(got.state == expected.state);
      StatusOr<Json> trace = readJsonFile(options.traceFile);
      ASSERT_OK(trace);
      EXPECT_THAT((*trace)["traceEvents"].dump(), testing::HasSubstr(microBatches > 1 ? ", accumulate " : ", step "));
      EXPECT_THAT((*trace)["traceEvents"].dump(), testing::HasSubstr("\"scope\":\"layers.0.mlp\""));
    }
}

TEST(TrainLoop, ATraceGoesWithoutDumpedGradients) {
  TrainOptions options;
  options.traceFile = "trace.json";
  EXPECT_OK(checkOptions(options));
  options.dumpGrads = "grads";
  EXPECT_ERROR(checkOptions(options), StatusCode::InvalidUsage, "leave one of --trace and --dump-grads out");
}

/// Builds TinyPrograms.
class TinySpecializer : public Specializer {
public:
  StatusOr<std::vector<uint8_t>> specialize(const Program &, const BucketShape &bucket) override {
    return TinyProgram({}, {bucket}).builder.bytes();
  }
  StatusOr<std::vector<uint8_t>> compile(const std::string &path, const std::vector<BucketShape> &,
                                         const CompileOptions &) override {
    return error(StatusCode::Unsupported, "{}: not asked for here", path);
  }
};

// A bucket that is compiled in the middle of a run is made ready without timing anything, and what was chosen for it is
// kept with the run.
TEST(TrainLoop, ABucketOfTheRunIsChosenQuickly) {
  TinySpecializer specializer;
  AheadDevice::Record record;
  TrainOptions options;
  options.choicesFile = "products.json";
  // What is reserved is enough for a bucket of as many tokens with fewer documents.
  Trained trained =
      trainOn(std::make_unique<AheadDevice>(record), {}, options, {.specializer = &specializer}, {{32, 1, 32, 32}});
  EXPECT_EQ(trained.result.steps, 9);
  EXPECT_EQ(record.choosings,
            (std::vector{Choosing::Carefully, Choosing::Carefully, Choosing::Quickly, Choosing::Quickly}));
  EXPECT_EQ(trained.lines.back(), "4 choices\n");
}

} // namespace
} // namespace qrt
