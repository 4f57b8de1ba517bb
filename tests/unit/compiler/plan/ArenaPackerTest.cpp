// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/ArenaPacker.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace qcc;

namespace {

void expectValid(const std::vector<ArenaBuffer> &buffers, const ArenaPacking &packing) {
  ASSERT_EQ(packing.offsets.size(), buffers.size());
  int64_t end = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_GE(packing.offsets[i], 0);
    EXPECT_EQ(packing.offsets[i] % kArenaAlignment, 0);
    end = std::max(end, packing.offsets[i] + alignToArena(buffers[i].bytes));
  }
  EXPECT_EQ(packing.bytes, end);
  EXPECT_GE(packing.bytes, packing.bound);
  // All pairs, independently of findArenaConflict.
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = i + 1; j < buffers.size(); ++j) {
      bool inTime = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      bool inBytes = packing.offsets[i] < packing.offsets[j] + buffers[j].bytes &&
                     packing.offsets[j] < packing.offsets[i] + buffers[i].bytes;
      ASSERT_FALSE(inTime && inBytes) << "buffers " << i << " and " << j;
    }
  EXPECT_FALSE(findArenaConflict(buffers, packing.offsets));
}

TEST(ArenaPacker, NothingNeedsNothing) {
  ArenaPacking packing = packArena({});
  EXPECT_EQ(packing.bytes, 0);
  EXPECT_EQ(packing.bound, 0);
}

TEST(ArenaPacker, OneBufferIsRoundedUp) {
  std::vector<ArenaBuffer> buffers{{.bytes = 257, .first = 3, .last = 9}};
  ArenaPacking packing = packArena(buffers);
  EXPECT_EQ(packing.offsets[0], 0);
  EXPECT_EQ(packing.bytes, 512); // 257 -> 2 * 256
}

TEST(ArenaPacker, LifetimesThatTouchAreAliveTogether) {
  // Instruction 2 reads a and writes b: both are needed then. 256 + 256 = 512.
  std::vector<ArenaBuffer> buffers{{256, 0, 2}, {256, 2, 4}};
  EXPECT_EQ(packArena(buffers).bytes, 512);
  // A lifetime that ends an instruction earlier leaves its place. max(256, 256) = 256.
  buffers[0].last = 1;
  EXPECT_EQ(packArena(buffers).bytes, 256);
}

TEST(ArenaPacker, AChainNeedsTwoPlaces) {
  // x0 -> x1 -> x2 -> x3: at each instruction one is read and one written. 2 * 1024 = 2048.
  std::vector<ArenaBuffer> buffers{{1024, 0, 1}, {1024, 1, 2}, {1024, 2, 3}, {1024, 3, 4}};
  ArenaPacking packing = packArena(buffers);
  EXPECT_EQ(packing.bytes, 2048);
  EXPECT_EQ(packing.offsets[0], packing.offsets[2]);
  EXPECT_EQ(packing.offsets[1], packing.offsets[3]);
}

TEST(ArenaPacker, SmallOnesTakeTheSpaceAConsumedOneLeft) {
  // An activation of 1024 bytes lives in [0, 3]; gradients of 512, 256 and 256 in [4, 9], [5, 9], [6, 9], another
  // activation of 512 in [0, 9]. Time 0..3: 1024 + 512 = 1536. Time 6..9: 512 + 512 + 256 + 256 = 1536.
  std::vector<ArenaBuffer> buffers{{1024, 0, 3}, {512, 0, 9}, {512, 4, 9}, {256, 5, 9}, {256, 6, 9}};
  ArenaPacking packing = packArena(buffers);
  EXPECT_EQ(packing.bound, 1536);
  EXPECT_EQ(packing.bytes, 1536);
}

TEST(ArenaPacker, EqualBuffersKeepTheirOrder) {
  // Ties fall to the lower index, so the result is a function of the input alone.
  std::vector<ArenaBuffer> buffers(4, {256, 0, 1});
  ArenaPacking packing = packArena(buffers);
  EXPECT_EQ(packing.offsets, (std::vector<int64_t>{0, 256, 512, 768}));
}

TEST(ArenaPacker, FindsAConflict) {
  std::vector<ArenaBuffer> buffers{{512, 0, 2}, {256, 1, 3}, {256, 3, 4}};
  // [0, 512) in 0..2 against [256, 512) in 1..3.
  std::vector<int64_t> offsets{0, 256, 0};
  std::optional<ArenaConflict> conflict = findArenaConflict(buffers, offsets);
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->a, 0u);
  EXPECT_EQ(conflict->b, 1u);
  offsets[1] = 512;
  EXPECT_FALSE(findArenaConflict(buffers, offsets));
  // A conflict with the buffer above it, and one at the same place.
  offsets = {256, 0, 0};
  buffers[1].bytes = 512;
  EXPECT_TRUE(findArenaConflict(buffers, offsets));
  offsets = {0, 0, 1024};
  EXPECT_TRUE(findArenaConflict(buffers, offsets));
}

TEST(ArenaPacker, RandomLifetimesStayDisjoint) {
  std::mt19937 random(7);
  double worst = 1, sum = 0;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<ArenaBuffer> buffers;
    int count = 1 + static_cast<int>(random() % 120);
    for (int i = 0; i < count; ++i) {
      int64_t first = random() % 100;
      int64_t life = random() % 3 == 0 ? random() % 100 : random() % 6;
      buffers.push_back({1 + static_cast<int64_t>(random() % 10000), first, first + life});
    }
    ArenaPacking packing = packArena(buffers);
    expectValid(buffers, packing);
    EXPECT_EQ(packArena(buffers).offsets, packing.offsets);
    double ratio = static_cast<double>(packing.bytes) / static_cast<double>(packing.bound);
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  RecordProperty("mean_ratio", std::to_string(sum / rounds));
  RecordProperty("worst_ratio", std::to_string(worst));
  EXPECT_LT(sum / rounds, 1.03);
  EXPECT_LT(worst, 1.15);
}

/// The lifetimes of a training step: each layer keeps some activations until its backward pass, has short-lived ones in
/// both passes, and its weight gradients live to the end.
std::vector<ArenaBuffer> trainingStep(int layers, int perLayer, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> kept, temporary, gradients;
  for (int i = 0; i < perLayer; ++i) {
    kept.push_back(4096 * (1 + random() % 64));
    temporary.push_back(4096 * (1 + random() % 64));
    gradients.push_back(1024 * (1 + random() % 64));
  }
  std::vector<ArenaBuffer> buffers;
  int64_t steps = static_cast<int64_t>(layers) * perLayer;
  int64_t end = 2 * steps + 100;
  for (int64_t layer = 0; layer < layers; ++layer)
    for (int i = 0; i < perLayer; ++i) {
      int64_t forward = layer * perLayer + i, backward = 2 * steps - 1 - forward;
      buffers.push_back({kept[i], forward, backward});
      buffers.push_back({temporary[i], forward, forward + 1 + i % 3});
      buffers.push_back({temporary[i], backward, backward + 1 + i % 4});
      buffers.push_back({gradients[i], backward, end});
    }
  return buffers;
}

TEST(ArenaPacker, ATrainingStepPacksTightly) {
  for (uint32_t seed = 0; seed < 5; ++seed) {
    std::vector<ArenaBuffer> buffers = trainingStep(8, 12, seed);
    ArenaPacking packing = packArena(buffers);
    expectValid(buffers, packing);
    EXPECT_LT(static_cast<double>(packing.bytes) / static_cast<double>(packing.bound), 1.05) << "seed " << seed;
  }
}

TEST(ArenaPacker, TwentyThousandBuffersTakeSeconds) {
  std::vector<ArenaBuffer> buffers = trainingStep(64, 78, 1); // 64 * 78 * 4 = 19,968
  auto start = std::chrono::steady_clock::now();
  ArenaPacking packing = packArena(buffers);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", std::to_string(seconds));
  RecordProperty("ratio", std::to_string(static_cast<double>(packing.bytes) / static_cast<double>(packing.bound)));
  EXPECT_FALSE(findArenaConflict(buffers, packing.offsets));
  EXPECT_LT(static_cast<double>(packing.bytes) / static_cast<double>(packing.bound), 1.05);
  EXPECT_LT(seconds, 20) << "on a loaded machine; a few seconds alone";
}

} // namespace
