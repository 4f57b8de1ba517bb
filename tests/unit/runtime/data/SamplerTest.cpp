// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/data/Sampler.h"

#include "tests/unit/runtime/support/StatusMatchers.h"

#include <algorithm>
#include <map>
#include <set>

using namespace qrt;

namespace {

std::vector<std::vector<int64_t>> all(Sampler sampler) {
  std::vector<std::vector<int64_t>> steps;
  while (true) {
    steps.push_back(sampler.next());
    if (steps.back().empty()) {
      steps.pop_back();
      return steps;
    }
  }
}

std::vector<int64_t> flat(const std::vector<std::vector<int64_t>> &steps) {
  std::vector<int64_t> rows;
  for (const auto &step : steps)
    rows.insert(rows.end(), step.begin(), step.end());
  return rows;
}

} // namespace

TEST(Sampler, EveryRowOncePerEpochInAnotherOrder) {
  auto sampler = Sampler::create({.rows = 10, .microBatches = 4, .epochs = 3, .seed = 5});
  ASSERT_OK(sampler);
  EXPECT_EQ(sampler->steps(), 8);
  auto steps = all(*sampler);
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(steps.back().size(), 2u);
  auto rows = flat(steps);
  std::set<std::vector<int64_t>> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> order(rows.begin() + 10 * epoch, rows.begin() + 10 * (epoch + 1));
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (int64_t i = 0; i < 10; ++i)
      EXPECT_EQ(order[i], i);
  }
  EXPECT_EQ(orders.size(), 3u);
}

// The order of rows is the same whatever the micro-batches.
TEST(Sampler, MicroBatchesOnlyGroup) {
  auto one = Sampler::create({.rows = 7, .microBatches = 1, .epochs = 2, .seed = 5});
  auto three = Sampler::create({.rows = 7, .microBatches = 3, .epochs = 2, .seed = 5});
  EXPECT_EQ(flat(all(*one)), flat(all(*three)));
  auto other = Sampler::create({.rows = 7, .microBatches = 1, .epochs = 2, .seed = 6});
  EXPECT_NE(flat(all(*one)), flat(all(*other)));
}

TEST(Sampler, StepsGoOnIntoTheNextEpoch) {
  auto sampler = Sampler::create({.rows = 3, .microBatches = 2, .steps = 5, .seed = 1});
  ASSERT_OK(sampler);
  auto steps = all(*sampler);
  EXPECT_EQ(sampler->steps(), 5);
  EXPECT_EQ(steps.size(), 5u);
  for (const auto &step : steps)
    EXPECT_EQ(step.size(), 2u);
  // More micro-batches than rows.
  auto wide = Sampler::create({.rows = 2, .microBatches = 5, .steps = 1, .seed = 1});
  std::map<int64_t, int> counts;
  for (int64_t row : wide->next())
    ++counts[row];
  EXPECT_EQ(counts[0] + counts[1], 5);
  EXPECT_GE(counts[0], 2);
  EXPECT_GE(counts[1], 2);
}

TEST(Sampler, WithoutShuffle) {
  auto sampler = Sampler::create({.rows = 3, .microBatches = 2, .epochs = 2, .shuffle = false});
  EXPECT_EQ(all(*sampler), (std::vector<std::vector<int64_t>>{{0, 1}, {2, 0}, {1, 2}}));
}

// From every state of the run on, the rest is the same.
TEST(Sampler, Resumes) {
  SamplerOptions options{.rows = 5, .microBatches = 3, .epochs = 4, .seed = 9};
  auto steps = all(*Sampler::create(options));
  auto whole = Sampler::create(options);
  for (size_t done = 0; done <= steps.size(); ++done) {
    SamplerState state = whole->state();
    auto resumed = Sampler::create(options);
    ASSERT_OK(resumed->resume(state));
    EXPECT_EQ(resumed->state(), state);
    EXPECT_EQ(all(*resumed),
              std::vector<std::vector<int64_t>>(steps.begin() + static_cast<std::ptrdiff_t>(done), steps.end()));
    whole->next();
  }
  EXPECT_EQ(whole->state(), (SamplerState{4, 0}));
}

TEST(Sampler, Refuses) {
  auto usage = StatusCode::InvalidUsage;
  EXPECT_ERROR(Sampler::create({.rows = 0, .steps = 1}), usage, "no rows to train on");
  EXPECT_ERROR(Sampler::create({.rows = 1, .microBatches = 0, .steps = 1}), usage,
               "micro-batches: expected at least 1, got 0");
  EXPECT_ERROR(Sampler::create({.rows = 1}), usage, "either a number of steps or a number of epochs, got none");
  EXPECT_ERROR(Sampler::create({.rows = 1, .steps = 1, .epochs = 1}), usage, "got both");
  EXPECT_ERROR(Sampler::create({.rows = 1, .steps = -1}), usage, "steps: expected at least 0, got -1");
  EXPECT_ERROR(Sampler::create({.rows = 1000, .epochs = int64_t{1} << 62}), usage, "more than 2^32 epochs");
  EXPECT_ERROR(Sampler::create({.rows = 1, .epochs = int64_t{1} << 33}), usage, "more than 2^32 epochs");
  auto none = Sampler::create({.rows = 1, .steps = 0});
  ASSERT_OK(none);
  EXPECT_TRUE(none->next().empty());

  auto sampler = Sampler::create({.rows = 5, .epochs = 2});
  auto bad = StatusCode::InvalidData;
  for (SamplerState state : {SamplerState{-1, 0}, {0, -1}, {0, 5}, {2, 1}, {3, 0}, {int64_t{1} << 62, 0}})
    EXPECT_ERROR(sampler->resume(state), bad, "lies outside of a run over 10 rows");
  EXPECT_OK(sampler->resume({2, 0}));
}
