// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

void qrt::cuda::bench::gatedDeltaInputsBenchmarks(std::vector<Benchmark> &benchmarks) {
  constexpr int64_t kTokens = 8192, kKeys = 16, kWidth = 128;
  // 27B and 4B: qkv, b and a are columns of one product with z.
  for (int64_t values : {48, 32}) {
    int64_t channels = (2 * kKeys + values) * kWidth, merged = channels + values * kWidth + 2 * values;
    ArgSpec docs{.dims = {}}, qkv{.dims = {kTokens, channels}, .rowStride = merged};
    ArgSpec gate{.dims = {kTokens, values}, .rowStride = merged}, gates{.dims = {kTokens, values}};
    ArgSpec weight{.dims = {channels, 1, 4}, .scale = 0.5}, perHead{.dtype = DType::F32, .dims = {values}};
    ArgSpec bias{.dims = {values}}, query{.dims = {kTokens, kKeys, kWidth}}, value{.dims = {kTokens, values, kWidth}};
    ArgSpec decay{.dtype = DType::F32, .dims = {kTokens, values}};
    std::string size = " " + std::to_string(kKeys) + "/" + std::to_string(values) + " heads";
    Benchmark forward{.label = "gated_delta_inputs" + size,
                      .kernel = Kernel::GatedDeltaInputs,
                      .args = {docs, qkv, gate, gate, weight, perHead, bias, query, query, value, decay, gates},
                      .params = {{.f = 1e-6}},
                      .bucket = bucketOf(packedRow()),
                      .lengths = packedRow()};
    Benchmark backward = forward;
    backward.label = "gated_delta_inputs_grad" + size;
    backward.kernel = Kernel::GatedDeltaInputsGrad;
    backward.args = {docs,  qkv,   gate,  gate, weight, perHead, bias,   query,   query,
                     value, decay, gates, qkv,  gate,   gate,    weight, perHead, bias};
    benchmarks.push_back(std::move(forward));
    benchmarks.push_back(std::move(backward));
  }
}
