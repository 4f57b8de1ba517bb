// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TESTS_UNIT_CUDA_PLANNEDCALL_H
#define TESTS_UNIT_CUDA_PLANNEDCALL_H

#include "runtime/backends/cuda/plan/KernelPlan.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>

namespace qrt::cuda::test {

/// Memory that nothing is in: of workspaces, and of arguments at its multiples.
constexpr DevicePtr kAddress = DevicePtr{1} << 40;

/// Plans a call whose arguments have no gaps and one type; nullopt: an absent one.
inline Status planDense(Kernel kernel, DType dtype, std::span<const std::optional<std::vector<int64_t>>> shapes,
                        std::span<const ParamValue> params, BucketShape bucket, KernelPlan &plan) {
  std::vector<Tensor> args;
  std::vector<ArgEffect> effects;
  for (const std::optional<std::vector<int64_t>> &dims : shapes) {
    effects.push_back(callEffect(kernelInfo(kernel).arg(args.size()).effect));
    DevicePtr address = kAddress * (args.size() + 2);
    args.push_back(dims ? Tensor{denseShape(dtype, *dims), address} : Tensor());
  }
  return planKernel({kernel, args, effects, params, bucket, {}}, plan);
}

/// What a device function is launched with.
template <typename Params> Params paramsOf(const DeviceLaunch &launch) {
  Params params{};
  EXPECT_EQ(launch.params.size(), sizeof(params));
  std::memcpy(&params, launch.params.data(), std::min(sizeof(params), launch.params.size()));
  return params;
}

} // namespace qrt::cuda::test

#endif // TESTS_UNIT_CUDA_PLANNEDCALL_H
