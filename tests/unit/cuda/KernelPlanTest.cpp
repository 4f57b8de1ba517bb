// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that no device function can take are refused before anything is launched.
#include "runtime/backends/cuda/plan/KernelPlan.h"

#include <gtest/gtest.h>

using namespace qrt;
using namespace qrt::cuda;

namespace {

constexpr DevicePtr kAddress = DevicePtr{1} << 40;

/// The reason why a call is refused; empty if it is planned.
std::string refusal(Kernel kernel, const std::vector<std::vector<int64_t>> &shapes, BucketShape bucket = {},
                    DevicePtr workspace = kAddress) {
  std::vector<Tensor> args;
  std::vector<ArgEffect> effects;
  for (const std::vector<int64_t> &dims : shapes) {
    args.push_back({denseShape(DType::F32, dims), kAddress * (args.size() + 2)});
    effects.push_back(callEffect(kernelInfo(kernel).arg(effects.size()).effect));
  }
  ParamValue params[] = {{.f = 1e-6}};
  KernelPlan plan(workspace);
  Status status =
      planKernel({kernel, args, effects, std::span(params, kernelInfo(kernel).params.size()), bucket, {}}, plan);
  return status.ok() ? "" : status.message();
}

TEST(KernelPlan, RowsAndTheirLengthsAreBelowTwoToThe31) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  EXPECT_EQ(refusal(Kernel::RmsNormGrad, {{8, 64}, {64}, {8}, {8, 64}, {8, 64}, {64}}), "");
  EXPECT_EQ(refusal(Kernel::RmsNormGrad, {{kMost + 1, 64}, {64}, {kMost + 1}, {kMost + 1, 64}, {kMost + 1, 64}, {64}}),
            "rms_norm_grad: argument x of f32[2147483648, 64]: expected rows, and elements of a row, below 2^31");
  // 2^16 x 2^15 elements in a row.
  EXPECT_NE(refusal(Kernel::Swiglu, {{1, 1 << 16, 1 << 15}, {1, 1 << 16, 1 << 15}, {1, 1 << 16, 1 << 15}}), "");
}

TEST(KernelPlan, TablesAreBelowTwoToThe31) {
  std::string text = refusal(Kernel::Attention, {}, {1 << 25, 1 << 25, 1, 1});
  EXPECT_NE(text.find("rows of statistics below 2^31"), std::string::npos) << text;
}

TEST(KernelPlan, GridsAndWorkspaceHaveLimits) {
  struct Nothing {};
  for (auto [grid, fits] : {std::pair{Dim3{1, 1, 1}, true},
                            {{0, 1, 1}, false},
                            {{INT32_MAX, 65535, 65535}, true},
                            {{1, 65536, 1}, false},
                            {{1, 1, 65536}, false}}) {
    KernelPlan plan(kAddress);
    plan.launch("", "", grid, {32}, 0, Nothing{});
    EXPECT_EQ(plan.status().ok(), fits) << grid.x << " x " << grid.y << " x " << grid.z;
  }
  for (int64_t bytes : {int64_t{-1}, int64_t{1} << 62}) {
    KernelPlan plan(kAddress);
    plan.workspace(bytes);
    EXPECT_FALSE(plan.status().ok()) << bytes;
  }
  KernelPlan unaligned(kAddress + 4);
  unaligned.workspace(0);
  EXPECT_TRUE(unaligned.status().ok());
  unaligned.workspace(1);
  EXPECT_FALSE(unaligned.status().ok());
}

} // namespace
