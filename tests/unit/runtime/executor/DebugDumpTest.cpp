// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/DebugDump.h"

#include "tests/unit/runtime/support/TempDirectory.h"
#include "tests/unit/runtime/support/TinySession.h"

namespace qrt {
namespace {

using namespace test;

TEST(DebugDump, WritesGradientsUnderCheckpointNames) {
  std::unique_ptr<Session> session = makeSession({});
  ASSERT_OK(session->loadBatch(makeBatch(kTinyBucket, {5, 8}, 23)));
  session->setScalars(0.1F, kTinyHyper, 7);
  ASSERT_OK(session->run(EntryKind::Accumulate));
  DebugDump dump(session->program(), DebugDump::Kind::Gradients);
  ASSERT_OK(session->run(EntryKind::Step, &dump));
  TempDirectory directory;
  ASSERT_OK(dump.write(directory / "grads.safetensors"));
  StatusOr<SafetensorsFile> file = SafetensorsFile::open(directory / "grads.safetensors");
  ASSERT_OK(file);
  ASSERT_EQ(file->tensors().size(), session->program().parameters().size());
  for (const Parameter &parameter : session->program().parameters()) {
    StatusOr<TensorView> tensor = file->tensor(parameter.checkpointNames.front(), DType::F32, parameter.shape.size());
    ASSERT_OK(tensor);
    EXPECT_EQ(tensor->spec->shape, parameter.shape);
    // The accumulated gradients are the step's.
    std::vector<float> expected = readFloats(*session, parameter.name, ParameterPart::Gradient),
                       actual(expected.size());
    tensor->copy(0, std::span(actual));
    for (size_t i = 0; i < actual.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 1e-6F) << parameter.name;
  }
}

TEST(DebugDump, WritesHiddenStatesWithTheirTail) {
  std::unique_ptr<Session> session = makeSession({.dtype = DType::BF16});
  ASSERT_OK(session->loadBatch(makeBatch(kTinyBucket, {5, 8}, 23)));
  DebugDump dump(session->program(), DebugDump::Kind::Hidden);
  ASSERT_OK(session->run(EntryKind::Eval, &dump));
  TempDirectory directory;
  ASSERT_OK(dump.write(directory / "hidden.safetensors"));
  StatusOr<SafetensorsFile> file = SafetensorsFile::open(directory / "hidden.safetensors");
  ASSERT_OK(file);
  ASSERT_EQ(file->tensors().size(), 2u);
  for (const char *name : {"hidden.0", "hidden.1"}) {
    StatusOr<TensorView> tensor = file->tensor(name, DType::BF16, 2);
    ASSERT_OK(tensor);
    EXPECT_EQ(tensor->spec->shape, (std::vector<int64_t>{16, 8}));
    bool any = false;
    for (int64_t i = 0; i < tensor->elements(); ++i)
      if (i < 13 * 8)
        any |= tensor->at<uint16_t>(i) != 0;
      else
        EXPECT_EQ(tensor->at<uint16_t>(i), 0) << name << " " << i;
    EXPECT_TRUE(any);
  }
}

TEST(DebugDump, ChangesNoBit) {
  std::vector<std::vector<std::byte>> states;
  for (bool observed : {false, true}) {
    std::unique_ptr<Session> session = makeSession({}, {kTinyBucket}, {.threads = 2});
    ASSERT_OK(session->device().zero(Space::State, 0, session->program().stateBytes()));
    fillState(*session);
    ASSERT_OK(session->loadBatch(makeBatch(kTinyBucket, {5, 8}, 23)));
    session->setScalars(0.1F, kTinyHyper, 7);
    DebugDump dump(session->program(), DebugDump::Kind::Gradients);
    ASSERT_OK(session->run(EntryKind::Step, observed ? &dump : nullptr));
    states.emplace_back(static_cast<size_t>(session->program().stateBytes()));
    ASSERT_OK(session->device().read(Space::State, 0, states.back()));
  }
  EXPECT_EQ(states[0], states[1]);
}

} // namespace
} // namespace qrt
