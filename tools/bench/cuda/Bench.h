// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of single kernels on a GPU, warm, without the gaps between launches: each call is captured in a graph with
// copies of its tensors until they exceed the second-level cache several times over.
#ifndef TOOLS_BENCH_CUDA_BENCH_H
#define TOOLS_BENCH_CUDA_BENCH_H

#include "runtime/kernels/Kernel.h"

#include <optional>
#include <string>
#include <vector>

namespace qrt::cuda::bench {

/// An argument filled with random values: normal(mean, scale) for floats, 0 .. below - 1 for integers.
struct ArgSpec {
  DType dtype = DType::BF16;
  std::vector<int64_t> dims;
  double scale = 1, mean = 0;
  /// Elements between rows (the first dimension), as in a column slice of a wider matrix; 0: no gap.
  int64_t rowStride = 0;
  /// The same for the second dimension, where there is a rowStride.
  int64_t headStride = 0;
  int64_t below = 1;
};

struct Benchmark {
  std::string label;
  Kernel kernel;
  /// In catalog order; absent optional ones are nullopt. A "docs" argument is made from `lengths`, whatever stands
  /// here.
  std::vector<std::optional<ArgSpec>> args;
  std::vector<ParamValue> params = {};
  std::vector<int> accumulate = {};
  BucketShape bucket = {};
  /// Of the documents of the row. As many rows are trained as the bucket has, evenly spread.
  std::vector<int64_t> lengths = {};
  /// Arithmetic of one call; 0: by the catalog's formula, negative: of no interest (bytes are).
  double flops = -1;
  /// Bytes that must move at least; 0: every argument once, twice where it is updated.
  int64_t bytes = 0;
  /// Times this device function of the call alone; empty: the whole call.
  std::string only = {};
  /// Also the time of each work alone.
  bool eachWork = false;
};

/// One function a file of this folder, listed in Main.cpp.
void attentionBenchmarks(std::vector<Benchmark> &benchmarks);
void gatedDeltaInputsBenchmarks(std::vector<Benchmark> &benchmarks);
void gatedDeltaRuleBenchmarks(std::vector<Benchmark> &benchmarks);
void linearCrossEntropyBenchmarks(std::vector<Benchmark> &benchmarks);
void normBenchmarks(std::vector<Benchmark> &benchmarks);
void optimizerBenchmarks(std::vector<Benchmark> &benchmarks);
void rowCopiesBenchmarks(std::vector<Benchmark> &benchmarks);
void swigluBenchmarks(std::vector<Benchmark> &benchmarks);

/// The packed row of the comparisons: 8,192 tokens.
inline std::vector<int64_t> packedRow() { return {634, 503, 798, 207, 1032, 737, 955, 930, 878, 916, 222, 380}; }
inline BucketShape bucketOf(const std::vector<int64_t> &lengths, int64_t trained = 0) {
  BucketShape bucket;
  for (int64_t length : lengths) {
    bucket.tokens += length;
    bucket.longest = std::max(bucket.longest, length);
  }
  bucket.documents = static_cast<int64_t>(lengths.size());
  bucket.trained = trained ? trained : bucket.tokens;
  return bucket;
}

} // namespace qrt::cuda::bench

#endif // TOOLS_BENCH_CUDA_BENCH_H
