// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the gradient of the delta rule's inputs deals the tokens of wide heads to blocks: each token of each head to one
// warp, each block a line of its own.
#include "runtime/backends/cuda/device/GatedDeltaInputs.h"
#include "tests/unit/cuda/PlannedCall.h"

#include <algorithm>

using namespace qrt;
using namespace qrt::cuda;
using namespace qrt::cuda::test;

namespace {

struct Model {
  int64_t keyHeads, valueHeads;
};

/// The launch of the gradient with wide heads in bf16, and the sums that follow.
KernelPlan planOf(const Model &model, int64_t tokens) {
  constexpr int64_t kWidth = device::kHeadWidth, kTaps = 4;
  const auto [keys, values] = model;
  int64_t channels = (2 * keys + values) * kWidth;
  std::vector<int64_t> docs{8}, qkv{tokens, channels}, gate{tokens, values}, weight{channels, 1, kTaps}, bias{values};
  std::vector<int64_t> key{tokens, keys, kWidth}, value{tokens, values, kWidth};
  const std::optional<std::vector<int64_t>> shapes[] = {docs,  qkv,  gate, gate, weight, bias, bias,   key,  key,
                                                        value, gate, gate, qkv,  gate,   gate, weight, bias, bias};
  ParamValue params[] = {{.f = 1e-6}};
  KernelPlan plan(kAddress);
  Status status =
      planDense(Kernel::GatedDeltaInputsGrad, DType::BF16, shapes, params, {tokens, tokens, 1, tokens}, plan);
  EXPECT_TRUE(status.ok()) << status.message();
  return plan;
}

/// [first, last) of a token or a line.
using Interval = std::pair<int64_t, int64_t>;

/// That they lie one behind the other from 0 on; returns where the last ends.
int64_t endOf(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  int64_t end = 0;
  for (auto [first, last] : intervals) {
    EXPECT_EQ(first, end);
    end = last;
  }
  return end;
}

void checkDeal(const Model &model, int64_t tokens) {
  SCOPED_TRACE(fmt::format("{} tokens, {} and {} heads", tokens, model.keyHeads, model.valueHeads));
  KernelPlan plan = planOf(model, tokens);
  ASSERT_FALSE(plan.works().empty());
  const auto &launch = std::get<DeviceLaunch>(plan.works()[0]);
  ASSERT_EQ(launch.function, "gatedDeltaInputsGradWide");
  auto params = paramsOf<device::GatedDeltaInputsGradParams>(launch);

  ASSERT_LE(params.rangeCount, device::kDeltaGradRanges);
  int64_t blocks = 0;
  int longest[2] = {INT32_MAX, INT32_MAX};
  // By head.
  std::vector<std::vector<Interval>> dealt(static_cast<size_t>(2 * model.keyHeads + model.valueHeads)), lines = dealt;
  for (int i = 0; i < params.rangeCount; ++i) {
    const device::DeltaGradRange &range = params.ranges[i];
    EXPECT_EQ(range.firstBlock, blocks);
    int64_t count = (i + 1 < params.rangeCount ? params.ranges[i + 1].firstBlock : params.headBlocks) - blocks;
    blocks += count;
    ASSERT_GT(count, 0);
    ASSERT_EQ(count % range.heads, 0);
    int64_t parts = count / range.heads;
    EXPECT_LT(range.firstToken + (parts - 1) * device::kDeltaInputWarps * range.tokens, tokens) << "a block of none";
    EXPECT_EQ((range.tokens + 6) % device::kHeadGroup, 0) << "with three tokens on either side, whole groups";
    bool values = range.firstHead == 2 * model.keyHeads;
    EXPECT_EQ(range.firstHead, values ? 2 * model.keyHeads : 0);
    EXPECT_EQ(range.heads, values ? model.valueHeads : 2 * model.keyHeads);
    EXPECT_LE(range.tokens, longest[values]) << "the longest first";
    longest[values] = range.tokens;
    for (int head = range.firstHead; head < range.firstHead + range.heads; ++head) {
      lines[static_cast<size_t>(head)].emplace_back(range.line, range.line + parts);
      // As the device function does.
      for (int64_t warp = 0; warp < parts * device::kDeltaInputWarps; ++warp) {
        int64_t begin = std::min<int64_t>(range.firstToken + warp * range.tokens, tokens);
        if (begin < tokens)
          dealt[static_cast<size_t>(head)].emplace_back(begin, std::min<int64_t>(begin + range.tokens, tokens));
      }
    }
  }
  EXPECT_EQ(blocks, params.headBlocks);
  EXPECT_EQ(launch.grid.x, blocks + (tokens + device::kDeltaInputGateTokens - 1) / device::kDeltaInputGateTokens);
  int64_t most = 0;
  for (size_t head = 0; head < dealt.size(); ++head) {
    EXPECT_EQ(endOf(dealt[head]), tokens) << "head " << head;
    most = std::max(most, endOf(lines[head]));
  }
  // What comes behind the lines in the workspace.
  int64_t channels = (2 * model.keyHeads + model.valueHeads) * device::kHeadWidth;
  EXPECT_GE(static_cast<int64_t>(params.gateLines - params.lines), most * channels * 4 * 4);
}

TEST(GatedDeltaInputsGrad, DealsEachTokenOnce) {
  // 0.8B and 2B, 4B and 9B, 27B; few heads; values with more lines than keys; more than there are blocks at once.
  for (const Model &model : {Model{16, 16}, {16, 32}, {16, 48}, {1, 1}, {2, 6}, {3, 9}, {512, 2048}})
    for (int64_t tokens : {1, 25, 26, 27, 103, 104, 105, 231, 232, 1000, 2047, 2048, 4099, 8192, 65536, 262144})
      checkDeal(model, tokens);
}

} // namespace
