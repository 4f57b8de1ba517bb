// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

void qrt::cuda::bench::swigluBenchmarks(std::vector<Benchmark> &benchmarks) {
  // As in a layer: gate and up are halves of one product.
  constexpr int64_t kTokens = 8192, kCols = 17408;
  ArgSpec half{.dims = {kTokens, kCols}, .rowStride = 2 * kCols}, whole{.dims = {kTokens, kCols}};
  benchmarks.push_back({"swiglu 8192x17408", Kernel::Swiglu, {half, half, whole}});
  benchmarks.push_back({"swiglu_grad 8192x17408", Kernel::SwigluGrad, {half, half, whole, half, half}});
}
