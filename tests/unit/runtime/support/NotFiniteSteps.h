// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_NOTFINITESTEPS_H
#define TESTS_UNIT_RUNTIME_SUPPORT_NOTFINITESTEPS_H

#include "tests/unit/runtime/support/TinySession.h"

#include <cmath>
#include <functional>
#include <limits>

namespace qrt::test {

/// The bytes of the whole state.
inline std::vector<std::byte> stateOf(Session &session) {
  std::vector<std::byte> bytes(static_cast<size_t>(session.program().stateBytes()));
  EXPECT_OK(session.device().read(Space::State, 0, bytes));
  return bytes;
}

/// The sums of a batch's gradients, of which one number becomes `value`, and the update by them.
inline void applySpoiled(Session &session, float value) {
  const Parameter &parameter = *session.program().findParameter("layers.0.mlp.down_proj.weight");
  ASSERT_OK(session.writeParameter(parameter, ParameterPart::Gradient, 17, std::as_bytes(std::span(&value, 1))));
  StatusOr<OptimizerCounters> counters = session.readCounters();
  ASSERT_OK(counters);
  std::vector<std::byte> before = stateOf(session);
  StatusOr<RunResult> applied = session.run(EntryKind::Apply);
  ASSERT_OK(applied);
  EXPECT_FALSE(std::isfinite(applied->gradNorm));
  StatusOr<OptimizerCounters> after = session.readCounters();
  ASSERT_OK(after);
  EXPECT_EQ(after->taken, counters->taken);
  EXPECT_EQ(after->skipped, counters->skipped + 1);
  // But for that count every byte is as it was.
  ASSERT_OK(session.writeCounters(*counters));
  EXPECT_TRUE(stateOf(session) == before);
  ASSERT_OK(session.writeCounters(*after));
}

/// Of a run of five steps, two with a gradient that is not finite leave every byte of weights, moments and steps taken
/// as it was and are counted, and the run goes on as if they had not been. `make` makes a session that accumulates.
inline void expectStepsThatAreNotFiniteChangeNothing(const std::function<std::unique_ptr<Session>()> &make) {
  for (float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    SCOPED_TRACE(value);
    std::vector<std::byte> states[2];
    for (bool disturbed : {false, true}) {
      std::unique_ptr<Session> session = make();
      // Gaps between buffers are not part of the state.
      ASSERT_OK(session->device().zero(Space::State, 0, session->program().stateBytes()));
      fillState(*session);
      for (uint32_t step = 0; step < 5; ++step) {
        bool spoiled = step % 2 == 1;
        if (spoiled && !disturbed)
          continue;
        HostBatch batch = makeBatch(kTinyBucket, {5, 8}, 23, step);
        ASSERT_OK(session->loadBatch(batch));
        session->setScalars(1.0F / static_cast<float>(batch.trained()), kTinyHyper, 7);
        ASSERT_OK(session->run(EntryKind::Accumulate));
        if (spoiled) {
          applySpoiled(*session, value);
          continue;
        }
        StatusOr<RunResult> applied = session->run(EntryKind::Apply);
        ASSERT_OK(applied);
        EXPECT_TRUE(std::isfinite(applied->gradNorm));
      }
      StatusOr<OptimizerCounters> counters = session->readCounters();
      ASSERT_OK(counters);
      EXPECT_EQ(counters->taken, 3);
      EXPECT_EQ(counters->skipped, disturbed ? 2 : 0);
      ASSERT_OK(session->writeCounters({3, 0}));
      states[disturbed] = stateOf(*session);
    }
    EXPECT_TRUE(states[0] == states[1]);
  }
}

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_NOTFINITESTEPS_H
