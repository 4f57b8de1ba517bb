// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

#include <cmath>

using namespace qrt;
using namespace qrt::cuda::bench;

void qrt::cuda::bench::gatedDeltaRuleBenchmarks(std::vector<Benchmark> &benchmarks) {
  constexpr int64_t kWidth = 128, kKeyHeads = 16;
  struct Row {
    const char *label;
    std::vector<int64_t> lengths;
    int64_t valueHeads;
  };
  for (const Row &row : {Row{"1x8192, 16/48 heads", {8192}, 48},
                         {"8x1024, 16/48 heads", std::vector<int64_t>(8, 1024), 48},
                         {"packed 8192, 16/48 heads", packedRow(), 48},
                         {"1x8192, 16/16 heads", {8192}, 16}}) {
    BucketShape bucket = bucketOf(row.lengths);
    int64_t tokens = bucket.tokens;
    // Keys and queries of norm 1, as the model has them; decays of mild to moderate strength.
    ArgSpec keys{.dims = {tokens, kKeyHeads, kWidth}, .scale = 1 / std::sqrt(double(kWidth))};
    ArgSpec values{.dims = {tokens, row.valueHeads, kWidth}};
    ArgSpec decay{.dtype = DType::F32, .dims = {tokens, row.valueHeads}, .scale = 0.05, .mean = -0.2};
    ArgSpec beta{.dims = {tokens, row.valueHeads}, .scale = 0.1, .mean = 0.5};
    ArgSpec docs{.dtype = DType::I32, .dims = {1}}, dBeta{.dims = {tokens, row.valueHeads}};
    std::vector<ParamValue> params = {{.f = 1 / std::sqrt(double(kWidth))}};
    benchmarks.push_back({"gated_delta_rule " + std::string(row.label),
                          Kernel::GatedDeltaRule,
                          {docs, keys, keys, values, decay, beta, values, std::nullopt},
                          params,
                          {},
                          bucket,
                          row.lengths,
                          0});
    benchmarks.back().eachWork = true;
    benchmarks.push_back(
        {"gated_delta_rule_grad " + std::string(row.label),
         Kernel::GatedDeltaRuleGrad,
         {docs, keys, keys, values, decay, beta, std::nullopt, values, keys, keys, values, decay, dBeta},
         params,
         {},
         bucket,
         row.lengths,
         0});
    benchmarks.back().eachWork = true;
  }
}
