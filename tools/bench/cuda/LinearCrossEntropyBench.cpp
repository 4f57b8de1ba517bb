// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

void qrt::cuda::bench::linearCrossEntropyBenchmarks(std::vector<Benchmark> &benchmarks) {
  constexpr int64_t kRows = 8192, kVocabulary = 248320;
  // 27B. Logits small as those of a model, so that the repeated gradient of gradients in place stays finite.
  auto gradient = [](int64_t width) {
    ArgSpec x{.dims = {kRows, width}, .scale = 0.1}, weight{.dims = {kVocabulary, width}, .scale = 0.1};
    ArgSpec labels{.dtype = DType::I32, .dims = {kRows}, .below = kVocabulary}, scalar{.dtype = DType::F32, .dims = {}};
    return Benchmark{.label = "linear_cross_entropy_grad 8192x" + std::to_string(width) + "x248320",
                     .kernel = Kernel::LinearCrossEntropyGrad,
                     .args = {x, weight, labels, scalar, scalar, x, weight},
                     .flops = 0};
  };
  Benchmark alone = gradient(64);
  alone.label = "cross_entropy alone 8192x248320";
  alone.flops = -1;
  alone.bytes = 2 * 2 * kRows * kVocabulary;
  alone.only = "crossEntropyCluster<8>";
  benchmarks.push_back(std::move(alone));
  ArgSpec x{.dims = {kRows, 64}, .scale = 0.1}, weight{.dims = {kVocabulary, 64}, .scale = 0.1};
  ArgSpec labels{.dtype = DType::I32, .dims = {kRows}, .below = kVocabulary}, scalar{.dtype = DType::F32, .dims = {}};
  benchmarks.push_back({.label = "cross_entropy alone, without gradient",
                        .kernel = Kernel::LinearCrossEntropy,
                        .args = {x, weight, labels, scalar, std::nullopt},
                        .bytes = 2 * kRows * kVocabulary,
                        .only = "crossEntropy<bf16, 8, 0>"});
  benchmarks.push_back(gradient(5120));
}
