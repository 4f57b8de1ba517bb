// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/Session.h"

#include "runtime/base/Digits.h"
#include "runtime/program/Memory.h"
#include "tests/unit/runtime/support/AheadDevice.h"
#include "tests/unit/runtime/support/NotFiniteSteps.h"
#include "tests/unit/runtime/support/TinySession.h"

#include <cmath>

namespace qrt {
namespace {

using namespace test;

float evaluate(Session &session) {
  StatusOr<RunResult> result = session.run(EntryKind::Eval);
  EXPECT_OK(result);
  return result->loss;
}

void step(Session &session, const HostBatch &batch) {
  ASSERT_OK(session.loadBatch(batch));
  session.setScalars(1.0F / static_cast<float>(batch.trained()), kTinyHyper, 7);
  ASSERT_OK(session.run(EntryKind::Step));
}

TEST(Session, TrainsATinyModel) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    std::unique_ptr<Session> session = makeSession({.dtype = dtype});
    HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23);
    ASSERT_OK(session->loadBatch(batch));
    float before = evaluate(*session);
    EXPECT_NEAR(before / static_cast<float>(batch.trained()), std::log(23.0F), 1.5);
    for (int i = 0; i < 60; ++i)
      step(*session, batch);
    EXPECT_LT(evaluate(*session), 0.3F * before);
    StatusOr<OptimizerCounters> counters = session->readCounters();
    ASSERT_OK(counters);
    EXPECT_EQ(counters->taken, 60);
    EXPECT_EQ(counters->skipped, 0);
  }
}

// The gradients that the optimizer sees are those of the loss: eval's differences along one direction agree.
TEST(Session, GradientsAreThoseOfTheLoss) {
  std::unique_ptr<Session> session = makeSession({});
  HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23);
  ASSERT_OK(session->loadBatch(batch));
  session->setScalars(1, kTinyHyper, 7);
  ASSERT_OK(session->run(EntryKind::Accumulate));
  for (const Parameter &parameter : session->program().parameters()) {
    std::vector<float> weight = readFloats(*session, parameter.name, ParameterPart::Weight),
                       gradient = readFloats(*session, parameter.name, ParameterPart::Gradient);
    double norm = 0;
    for (float value : gradient)
      norm += double{value} * value;
    norm = std::sqrt(norm);
    ASSERT_GT(norm, 1e-3) << parameter.name;
    constexpr double kStep = 1e-2;
    double losses[2];
    for (int side : {0, 1}) {
      std::vector<float> moved = weight;
      for (size_t i = 0; i < moved.size(); ++i)
        moved[i] += static_cast<float>((side ? kStep : -kStep) * gradient[i] / norm);
      writeFloats(*session, parameter.name, ParameterPart::Weight, moved);
      losses[side] = evaluate(*session);
    }
    writeFloats(*session, parameter.name, ParameterPart::Weight, weight);
    EXPECT_NEAR((losses[1] - losses[0]) / (2 * kStep), norm, 5e-3 * norm) << parameter.name;
  }
}

TEST(Session, MicroBatchesAddUpToAStep) {
  HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23), other = makeBatch(kTinyBucket, {16}, 23, 4);
  auto scale = 1.0F / static_cast<float>(batch.trained() + other.trained());
  std::unique_ptr<Session> one = makeSession({}), two = makeSession({});
  // One micro-batch is a step but for the order of additions.
  ASSERT_OK(one->loadBatch(batch));
  one->setScalars(scale, kTinyHyper, 7);
  StatusOr<RunResult> stepped = one->run(EntryKind::Step);
  ASSERT_OK(stepped);
  float stepLoss = stepped->loss, stepNorm = stepped->gradNorm;
  ASSERT_OK(two->loadBatch(batch));
  two->setScalars(scale, kTinyHyper, 7);
  StatusOr<RunResult> accumulated = two->run(EntryKind::Accumulate);
  ASSERT_OK(accumulated);
  EXPECT_EQ(accumulated->loss, stepLoss);
  EXPECT_TRUE(std::isnan(accumulated->gradNorm));
  StatusOr<RunResult> applied = two->run(EntryKind::Apply);
  ASSERT_OK(applied);
  EXPECT_NEAR(applied->gradNorm, stepNorm, 1e-5F * stepNorm);
  EXPECT_TRUE(std::isnan(applied->loss));
  for (const Parameter &parameter : one->program().parameters()) {
    std::vector<float> a = readFloats(*one, parameter.name, ParameterPart::Weight),
                       b = readFloats(*two, parameter.name, ParameterPart::Weight);
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], 1e-4F) << parameter.name << " " << i;
    // Apply leaves zeros for the next step.
    EXPECT_EQ(readFloats(*two, parameter.name, ParameterPart::Gradient), std::vector<float>(a.size()));
  }
  // Two micro-batches add.
  std::vector<std::vector<float>> sums;
  for (const HostBatch *part : {&batch, &other}) {
    ASSERT_OK(two->zeroGradients());
    ASSERT_OK(two->loadBatch(*part));
    ASSERT_OK(two->run(EntryKind::Accumulate));
    std::vector<float> gradient = readFloats(*two, "lm_head.weight", ParameterPart::Gradient);
    if (sums.empty())
      sums.push_back(gradient);
    else
      for (size_t i = 0; i < gradient.size(); ++i)
        sums[0][i] += gradient[i];
  }
  ASSERT_OK(two->zeroGradients());
  for (const HostBatch *part : {&batch, &other}) {
    ASSERT_OK(two->loadBatch(*part));
    ASSERT_OK(two->run(EntryKind::Accumulate));
  }
  std::vector<float> both = readFloats(*two, "lm_head.weight", ParameterPart::Gradient);
  for (size_t i = 0; i < both.size(); ++i)
    ASSERT_NEAR(both[i], sums[0][i], 1e-6F);
}

TEST(Session, SameInputSameBits) {
  std::vector<std::vector<std::byte>> states;
  for (auto [threads, poison] : {std::pair(1, false), {1, true}, {3, true}}) {
    std::unique_ptr<Session> session =
        makeSession({.dtype = DType::BF16}, {kTinyBucket}, {.threads = threads, .poison = poison});
    // Gaps between buffers are not part of the state.
    ASSERT_OK(session->device().zero(Space::State, 0, session->program().stateBytes()));
    fillState(*session);
    for (uint32_t i = 0; i < 5; ++i)
      step(*session, makeBatch(kTinyBucket, {5, 8}, 23, i));
    states.push_back(stateOf(*session));
  }
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0], states[2]);
}

// An unused tail and poison in it change nothing.
TEST(Session, ALargerBucketGivesTheSameLosses) {
  BucketShape large{40, 9, 30, 20};
  std::unique_ptr<Session> session = makeSession({}, {kTinyBucket, large});
  std::vector<std::vector<float>> losses;
  for (const BucketShape &bucket : {kTinyBucket, large}) {
    HostBatch batch = makeBatch(bucket, {5, 8}, 23);
    ASSERT_OK(session->loadBatch(batch));
    StatusOr<RunResult> result = session->run(EntryKind::Eval);
    ASSERT_OK(result);
    ASSERT_EQ(static_cast<int64_t>(result->rowLoss.size()), bucket.trained);
    double sum = 0;
    for (size_t i = 0; i < result->rowLoss.size(); ++i) {
      sum += result->rowLoss[i];
      if (i >= static_cast<size_t>(batch.trained()))
        EXPECT_EQ(result->rowLoss[i], 0);
      else
        EXPECT_GT(result->rowLoss[i], 0);
    }
    EXPECT_NEAR(sum, result->loss, 1e-5 * sum);
    losses.emplace_back(result->rowLoss.begin(), result->rowLoss.begin() + batch.trained());
  }
  for (size_t i = 0; i < losses[0].size(); ++i)
    EXPECT_NEAR(losses[0][i], losses[1][i], 1e-6F * losses[0][i]);
}

TEST(Session, AStepThatIsNotFiniteChangesNothing) {
  std::unique_ptr<Session> session = makeSession({});
  HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23);
  step(*session, batch);
  std::vector<std::byte> before = stateOf(*session);
  ASSERT_OK(session->loadBatch(batch));
  session->setScalars(std::numeric_limits<float>::infinity(), kTinyHyper, 7);
  StatusOr<RunResult> result = session->run(EntryKind::Step);
  ASSERT_OK(result);
  EXPECT_FALSE(std::isfinite(result->gradNorm));
  StatusOr<OptimizerCounters> counters = session->readCounters();
  ASSERT_OK(counters);
  EXPECT_EQ(counters->taken, 1);
  EXPECT_EQ(counters->skipped, 1);
  ASSERT_OK(session->writeCounters({1, 0}));
  EXPECT_EQ(stateOf(*session), before);
}

TEST(Session, GoesOnAfterAStepThatIsNotFinite) {
  for (DType dtype : {DType::F32, DType::BF16})
    expectStepsThatAreNotFiniteChangeNothing([&] { return makeSession({.dtype = dtype}); });
}

TEST(Session, ChecksTheBatch) {
  std::unique_ptr<Session> session = makeSession({});
  HostBatch good = makeBatch(kTinyBucket, {5, 8}, 23);
  HostBatch batch = good;
  batch.ids[3] = 23;
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::InvalidData, "token 3: id 23 is outside the vocabulary of 23");
  batch = good;
  batch.ids[0] = -1;
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::InvalidData, "token 0: id -1");
  batch = good;
  batch.labels[2] = 99;
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::InvalidData, "token 2: label 99");
  batch = good;
  batch.embeddingOrder[1] = 16;
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::InvalidData, "order 1: 16");
  batch.embeddingOrder[1] = -1;
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::InvalidData, "order 1: -1");
  batch = good;
  batch.embeddingOrder[13] = 0;
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::InvalidData, "order 13: 0");
  batch = good;
  batch.ids.pop_back();
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::InvalidData, "ids: expected 16");
  batch = good;
  batch.documentOffsets.back() = 17;
  EXPECT_ERROR(session->loadBatch(batch), StatusCode::ResourceExhausted, "17 tokens in a bucket of 16");
}

TEST(Session, ChoosesTheSmallestBucket) {
  std::unique_ptr<Session> session = makeSession({}, {{32, 4, 32, 20}, {16, 4, 16, 12}, {32, 4, 32, 10}});
  EXPECT_EQ(*session->bucketFor(EntryKind::Step, {10, 2, 8, 9}), kTinyBucket);
  EXPECT_EQ(*session->bucketFor(EntryKind::Step, {20, 2, 8, 9}), (BucketShape{32, 4, 32, 10}));
  EXPECT_EQ(*session->bucketFor(EntryKind::Step, {20, 2, 8, 11}), (BucketShape{32, 4, 32, 20}));
  EXPECT_ERROR(session->bucketFor(EntryKind::Step, {20, 5, 8, 11}), StatusCode::ResourceExhausted,
               "build the program with the bucket 32x8x32x32 as well");
  EXPECT_ERROR(session->bucketFor(EntryKind::Step, {100, 5, 90, 11}), StatusCode::ResourceExhausted,
               "build the program with the bucket 128x8x128x128 as well");
}

/// Builds TinyPrograms.
class TinySpecializer : public Specializer {
public:
  StatusOr<std::vector<uint8_t>> specialize(const Program &program, const BucketShape &bucket) override {
    ++calls;
    return TinyProgram(model, {answerWith ? *answerWith : bucket}).builder.bytes();
  }
  StatusOr<std::vector<uint8_t>> compile(const std::string &path, const std::vector<BucketShape> &buckets,
                                         const CompileOptions &options) override {
    return error(StatusCode::Unsupported, "{}: not asked for here", path);
  }
  TinyModel model;
  std::optional<BucketShape> answerWith;
  int calls = 0;
};

TEST(Session, CompilesAMissingBucketOnce) {
  TinySpecializer specializer;
  SessionOptions options{.accumulate = true, .specializer = &specializer};
  // The large one reserves enough for others.
  std::unique_ptr<Session> session = makeSession({}, {{64, 2, 64, 64}}, {.threads = 1}, options);
  StatusOr<BucketShape> bucket = session->bucketFor(EntryKind::Step, {10, 5, 8, 9});
  ASSERT_OK(bucket);
  EXPECT_EQ(*bucket, (BucketShape{64, 8, 64, 64}));
  EXPECT_OK(session->bucketFor(EntryKind::Step, {10, 5, 8, 9}));
  EXPECT_EQ(specializer.calls, 1);
  step(*session, makeBatch(*bucket, {1, 2, 3, 3, 1}, 23));

  specializer.model.hidden = 16;
  EXPECT_ERROR(session->bucketFor(EntryKind::Step, {64, 9, 8, 9}), StatusCode::InvalidData,
               "is not a program of the same state");
  specializer.model = {};
  specializer.answerWith = kTinyBucket;
  EXPECT_ERROR(session->bucketFor(EntryKind::Step, {64, 9, 8, 9}), StatusCode::InvalidData, "has no entry 'step'");
  specializer.answerWith.reset();
  // Captured addresses forbid that the spaces move.
  EXPECT_ERROR(session->bucketFor(EntryKind::Step, {500, 9, 8, 9}), StatusCode::ResourceExhausted, "are reserved");
  EXPECT_FALSE(session->has(EntryKind::Step, {512, 16, 64, 512}));
  step(*session, makeBatch(*bucket, {1, 2, 3, 3, 1}, 23));
}

TEST(Session, RefusesWhatItCannotRun) {
  auto create = [](TinyProgram &tiny, const SessionOptions &options) {
    std::vector<Program> programs;
    programs.push_back(*tiny.build());
    return Session::create(std::move(programs), cpu::createCpuDevice({.threads = 1}), options);
  };
  TinyProgram gpu;
  gpu.builder.program.target = "sm_90a";
  EXPECT_ERROR(create(gpu, {}), StatusCode::Unsupported, "tiny.qprog: it was built for the target 'sm_90a'");
  TinyProgram big;
  EXPECT_ERROR(create(big, {.memoryLimit = 1000}), StatusCode::ResourceExhausted,
               "more than the 1,000 bytes (0.000 GiB) of the limit");
  big.builder.program.state_bytes = uint64_t{1} << 50;
  EXPECT_ERROR(create(big, {}), StatusCode::ResourceExhausted, "state 1048576.000 GiB, gradients 0.000 GiB");
  EXPECT_ERROR(Session::create({}, cpu::createCpuDevice({.threads = 1})), StatusCode::InvalidUsage,
               "at least one program");

  std::unique_ptr<Session> session = makeSession({}, {kTinyBucket}, {.threads = 1}, {});
  HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23);
  ASSERT_OK(session->loadBatch(batch));
  EXPECT_ERROR(session->run(EntryKind::Accumulate), StatusCode::InvalidUsage,
               "no entry 'accumulate' for bucket 16x4x16x12");
  EXPECT_OK(session->run(EntryKind::Eval));
}

// The plan of a GPU has more than the spaces; what does not fit is refused with all of it, before anything is reserved.
TEST(Session, CountsTheDevicesOverhead) {
  TinyProgram tiny;
  tiny.builder.program.target = "sm_90a";
  StatusOr<Program> program = tiny.build();
  ASSERT_OK(program);
  int64_t planned = totalBytes(program->spaceBytes(false)) + kGemmWorkspaceBytes + kContextBytes;
  AheadDevice::Record record;
  auto create = [&](int64_t free, int64_t limit) {
    auto device = std::make_unique<AheadDevice>(record);
    device->target = "sm_90a";
    device->available.bytes = free;
    std::vector<Program> programs;
    programs.push_back(*tiny.build());
    return Session::create(std::move(programs), std::move(device), {.memoryLimit = limit});
  };
  for (auto [free, limit, owner] : {std::tuple(planned - 1, int64_t{0}, "this test"),
                                    {planned - 1, planned, "this test"},
                                    {planned, planned - 1, "the limit"},
                                    {int64_t{0}, planned - 1, "the limit"}}) {
    EXPECT_ERROR(
        create(free, limit), StatusCode::ResourceExhausted,
        fmt::format("workspace of matrix products 0.062 GiB, machine code 0.000 GiB, context {}; that is 0.000 "
                    "GiB more than the {} of {}; `qcc build` makes it less with a smaller bucket, or --memory {} and "
                    "no other --remat",
                    printGib(kContextBytes), printBytes(planned - 1), owner, planned - 1));
    EXPECT_EQ(record.reservations, 0);
  }
  StatusOr<std::unique_ptr<Session>> session = create(planned, planned);
  ASSERT_OK(session);
  EXPECT_EQ((*session)->plannedBytes(), planned);
  EXPECT_EQ(record.reservations, 1);
}

// A program that was built for a budget takes nearly all of it.
TEST(Session, RoomForFurtherBucketsIsLeftWhereThereIsSome) {
  TinyProgram tiny({}, {{64, 2, 64, 64}});
  TinySpecializer specializer;
  auto create = [&](int64_t limit) {
    std::vector<Program> programs;
    programs.push_back(*tiny.build());
    return Session::create(std::move(programs), cpu::createCpuDevice({.threads = 1}),
                           {.memoryLimit = limit, .specializer = &specializer});
  };
  int64_t least = totalBytes(tiny.build()->spaceBytes(false));
  StatusOr<std::unique_ptr<Session>> roomy = create(0), full = create(least);
  ASSERT_OK(roomy);
  ASSERT_OK(full);
  int64_t most = (*roomy)->plannedBytes();
  EXPECT_GT(most, least);
  EXPECT_EQ((*full)->plannedBytes(), least);
  EXPECT_EQ((*create(least + 100))->plannedBytes(), least + 100);
  EXPECT_EQ((*create(most + 100))->plannedBytes(), most);
  EXPECT_ERROR(create(least - 1), StatusCode::ResourceExhausted, "of the limit");
}

TEST(Session, MembersOfAPackAreViews) {
  std::unique_ptr<Session> session = makeSession({});
  const Parameter &up = *session->program().findParameter("layers.0.mlp.up_proj.weight");
  std::vector<float> gate = readFloats(*session, "layers.0.mlp.gate_proj.weight", ParameterPart::Weight);
  std::vector<float> piece{1, 2, 3};
  ASSERT_OK(session->writeParameter(up, ParameterPart::Weight, 5, std::as_bytes(std::span(piece))));
  std::vector<float> values = readFloats(*session, up.name, ParameterPart::Weight);
  EXPECT_EQ((std::vector<float>{values.begin() + 5, values.begin() + 8}), piece);
  EXPECT_EQ(readFloats(*session, "layers.0.mlp.gate_proj.weight", ParameterPart::Weight), gate);
}

} // namespace
} // namespace qrt
