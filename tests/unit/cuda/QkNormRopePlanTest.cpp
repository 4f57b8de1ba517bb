// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the gradient of norm and rotation deals its items to warps: each to one, no block without any, each block a line
// of its own.
#include "runtime/backends/cuda/device/ColumnSums.h"
#include "runtime/backends/cuda/device/QkNormRope.h"
#include "tests/unit/cuda/PlannedCall.h"

using namespace qrt;
using namespace qrt::cuda;
using namespace qrt::cuda::test;

namespace {

/// The gradient in bf16, and the sums that follow.
KernelPlan planOf(int64_t queryHeads, int64_t keyHeads, int64_t tokens) {
  constexpr int64_t kWidth = 256;
  std::vector<int64_t> q{tokens, queryHeads, kWidth}, k{tokens, keyHeads, kWidth}, weight{kWidth};
  const std::optional<std::vector<int64_t>> shapes[] = {
      std::vector<int64_t>{8}, q, k, weight, weight, std::nullopt, std::nullopt, q, k, q, k, weight, weight};
  ParamValue params[] = {{.f = 1e-6}, {.f = 1e7}, {.i = 64}};
  KernelPlan plan(kAddress);
  Status status = planDense(Kernel::QkNormRopeGrad, DType::BF16, shapes, params, {tokens, tokens, 1, tokens}, plan);
  EXPECT_TRUE(status.ok()) << status.message();
  return plan;
}

/// Returns the blocks.
int64_t checkDeal(int64_t queryHeads, int64_t keyHeads, int64_t tokens) {
  SCOPED_TRACE(fmt::format("{} tokens, {} and {} heads", tokens, queryHeads, keyHeads));
  KernelPlan plan = planOf(queryHeads, keyHeads, tokens);
  if (plan.works().size() != 2) {
    ADD_FAILURE() << plan.works().size() << " works";
    return 0;
  }
  const auto &launch = std::get<DeviceLaunch>(plan.works()[0]);
  auto params = paramsOf<device::QkNormRopeParams>(launch);
  int64_t items = tokens * params.items, blocks = launch.grid.x;
  int64_t itemsPerBlock = int64_t{params.itemsPerWarp} * launch.block.x / 32;
  EXPECT_GE(blocks * itemsPerBlock, items);
  EXPECT_LT((blocks - 1) * itemsPerBlock, items);
  auto sums = paramsOf<device::ColumnSumsParams>(std::get<DeviceLaunch>(plan.works()[1]));
  EXPECT_EQ(sums.results, 2);
  for (const device::ColumnSumResult &result : {sums.result[0], sums.result[1]})
    EXPECT_EQ(result.count, blocks);
  EXPECT_EQ(plan.workspaceBytes(), blocks * 2 * 256 * 4);
  return blocks;
}

} // namespace

TEST(QkNormRopeGrad, DealsEachItemOnce) {
  for (int64_t tokens : {1, 7, 64, 1000, 2048, 8192, 40000})
    for (auto [queryHeads, keyHeads] : {std::pair{1, 1}, {8, 2}, {16, 4}, {24, 4}, {5, 5}})
      EXPECT_LE(checkDeal(queryHeads, keyHeads, tokens), 2 * 264);
}

TEST(QkNormRopeGrad, HasTwiceAsManyBlocksAsRunAtOnceWhereThereIsMuchToDo) {
  EXPECT_EQ(checkDeal(8, 2, 8192), 256);  // 20 items a warp
  EXPECT_EQ(checkDeal(24, 4, 8192), 512); // 28
}
