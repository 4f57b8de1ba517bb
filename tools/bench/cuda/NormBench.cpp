// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

#include <fmt/format.h>

void qrt::cuda::bench::normBenchmarks(std::vector<Benchmark> &benchmarks) {
  constexpr int64_t kTokens = 8192;
  const std::vector<ParamValue> eps = {{.f = 1e-6}};
  for (int64_t hidden : {5120, 2560, 1024}) {
    ArgSpec x{.dims = {kTokens, hidden}}, weight{.dims = {hidden}, .scale = 0.3};
    ArgSpec rstd{.dtype = DType::F32, .dims = {kTokens}, .scale = 0.1, .mean = 1};
    std::string shape = fmt::format(" {}x{}", kTokens, hidden);
    benchmarks.push_back({"rms_norm" + shape, Kernel::RmsNorm, {x, weight, x, rstd}, eps});
    benchmarks.push_back({"add_rms_norm" + shape, Kernel::AddRmsNorm, {x, x, weight, x, x, rstd}, eps});
    benchmarks.push_back({"rms_norm_grad" + shape, Kernel::RmsNormGrad, {x, weight, rstd, x, x, weight}, eps});
    benchmarks.push_back(
        {"add_rms_norm_grad" + shape, Kernel::AddRmsNormGrad, {x, weight, rstd, x, x, x, weight}, eps});
    if (hidden == 5120)
      benchmarks.push_back({"add_rms_norm_grad, rstd again" + shape,
                            Kernel::AddRmsNormGrad,
                            {x, weight, std::nullopt, x, x, x, weight},
                            eps});
  }

  // The delta rule's output; z is a column slice of the input projections.
  constexpr int64_t kWidth = 128;
  for (int64_t heads : {48, 16}) {
    ArgSpec x{.dims = {kTokens, heads, kWidth}}, z = x, weight{.dtype = DType::F32, .dims = {kWidth}};
    z.rowStride = 2 * 16 * kWidth + 2 * heads * kWidth + 2 * heads;
    ArgSpec rstd{.dtype = DType::F32, .dims = {kTokens, heads}, .scale = 0.1, .mean = 1};
    std::string shape = fmt::format(" {}x{}x{}", kTokens, heads, kWidth);
    benchmarks.push_back({"gated_rms_norm" + shape, Kernel::GatedRmsNorm, {x, z, weight, x, rstd}, eps});
    benchmarks.push_back(
        {"gated_rms_norm_grad" + shape, Kernel::GatedRmsNormGrad, {x, z, weight, rstd, x, x, z, weight}, eps});
    benchmarks.push_back({"gated_rms_norm_grad, rstd again" + shape,
                          Kernel::GatedRmsNormGrad,
                          {x, z, weight, std::nullopt, x, x, z, weight},
                          eps});
  }

  // Query and key of attention: slices of the input projections, a query's gate beside it.
  for (auto [heads, keyHeads] : {std::pair<int64_t, int64_t>{24, 4}, {8, 2}}) {
    constexpr int64_t kHead = 256;
    int64_t row = (2 * heads + 2 * keyHeads) * kHead;
    ArgSpec qIn{.dims = {kTokens, heads, kHead}, .rowStride = row, .headStride = 2 * kHead};
    ArgSpec kIn{.dims = {kTokens, keyHeads, kHead}, .rowStride = row};
    ArgSpec q{.dims = {kTokens, heads, kHead}}, k{.dims = {kTokens, keyHeads, kHead}};
    ArgSpec weight{.dims = {kHead}, .scale = 0.3};
    ArgSpec qRstd{.dtype = DType::F32, .dims = {kTokens, heads}, .scale = 0.1, .mean = 1}, kRstd = qRstd;
    kRstd.dims[1] = keyHeads;
    const std::vector<ParamValue> params = {{.f = 1e-6}, {.f = 1e7}, {.i = 64}};
    std::string shape = fmt::format(" {}x{}+{}x{}", kTokens, heads, keyHeads, kHead);
    BucketShape bucket = bucketOf(packedRow());
    benchmarks.push_back({"qk_norm_rope" + shape,
                          Kernel::QkNormRope,
                          {ArgSpec(), qIn, kIn, weight, weight, q, k, qRstd, kRstd},
                          params,
                          {},
                          bucket,
                          packedRow()});
    benchmarks.push_back({"qk_norm_rope_grad" + shape,
                          Kernel::QkNormRopeGrad,
                          {ArgSpec(), qIn, kIn, weight, weight, qRstd, kRstd, q, k, qIn, kIn, weight, weight},
                          params,
                          {},
                          bucket,
                          packedRow()});
    benchmarks.push_back(
        {"qk_norm_rope_grad, rstd again" + shape,
         Kernel::QkNormRopeGrad,
         {ArgSpec(), qIn, kIn, weight, weight, std::nullopt, std::nullopt, q, k, qIn, kIn, weight, weight},
         params,
         {},
         bucket,
         packedRow()});
  }
}
