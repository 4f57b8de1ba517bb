// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

namespace qrt::cuda::bench {
namespace {

/// One parameter of `rows` x 5120 under adamw: with bf16 states, or with f32 moments and master.
Benchmark adamW(const char *label, int64_t rows, DType gradient, bool master) {
  constexpr int64_t kWidth = 5120;
  DType moments = master ? DType::F32 : DType::BF16;
  auto of = [&](DType dtype, double scale, double mean) { return ArgSpec{dtype, {rows, kWidth}, scale, mean}; };
  Benchmark result{label, Kernel::AdamW, {}};
  // The eight hyperparameters are drawn alike; a step count of zero is as good as impossible.
  result.args = {of(gradient, 0.1, 0),
                 ArgSpec{DType::F32, {}, 0.1, 1},
                 ArgSpec{.dtype = DType::I64, .dims = {2}, .below = 1 << 20},
                 ArgSpec{DType::F32, {8}, 0.01, 0.9},
                 ArgSpec{.dtype = DType::I64, .dims = {}, .below = 1 << 20},
                 of(DType::BF16, 1, 0),
                 of(moments, 0.1, 0),
                 of(moments, 0.1, 1)};
  result.args.push_back(master ? std::optional(of(DType::F32, 1, 0)) : std::nullopt);
  result.params = {{.i = 1}, {.i = 12345}, {.i = rows * kWidth}};
  // With a master the weight is written, not read.
  if (master)
    result.bytes = rows * kWidth * (byteSize(gradient) + 2 + 3 * 8);
  return result;
}

} // namespace

void optimizerBenchmarks(std::vector<Benchmark> &benchmarks) {
  benchmarks.push_back(adamW("adamw bf16 states 34816x5120", 34816, DType::BF16, false));
  benchmarks.push_back(adamW("adamw bf16 states, f32 gradient 16480x5120", 16480, DType::F32, false));
  benchmarks.push_back(adamW("adamw f32 master 34816x5120", 34816, DType::BF16, true));
  benchmarks.push_back(adamW("adamw bf16 states 1x5120", 1, DType::BF16, false));
  // The gradients of four layers of the 27B, and of one without its large ones.
  for (auto [label, layers, dtype] : {std::tuple{"global_norm 4 layers bf16", 4, DType::BF16},
                                      {"global_norm 4 layers f32", 4, DType::F32},
                                      {"global_norm 64 norms", 64, DType::BF16}}) {
    Benchmark norm{label, Kernel::GlobalNorm, {}};
    norm.args = {ArgSpec{.dtype = DType::F32, .dims = {}}};
    for (int layer = 0; layer < layers; ++layer) {
      if (layers < 64)
        for (auto [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{
                 {34816, 5120}, {5120, 17408}, {16480, 5120}, {5120, 6144}, {10240, 4}})
          norm.args.push_back(ArgSpec{.dtype = dtype, .dims = {rows, cols}});
      for (int64_t width : {5120, 5120, 48, 48, 128})
        norm.args.push_back(ArgSpec{.dtype = dtype, .dims = {width}});
    }
    benchmarks.push_back(std::move(norm));
  }
}

} // namespace qrt::cuda::bench
