// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

void qrt::cuda::bench::rowCopiesBenchmarks(std::vector<Benchmark> &benchmarks) {
  constexpr int64_t kTokens = 8192, kHidden = 5120, kVocabulary = 248320, kRowBytes = kHidden * 2;
  BucketShape bucket = bucketOf(packedRow()), half = bucketOf(packedRow(), kTokens / 2);
  ArgSpec rows{.dims = {kTokens, kHidden}}, halfRows{.dims = {kTokens / 2, kHidden}};
  ArgSpec weight{.dims = {kVocabulary, kHidden}};
  ArgSpec ids{.dtype = DType::I32, .dims = {kTokens}, .below = kVocabulary};
  // Not sorted: ids are nearly all different anyway.
  ArgSpec order{.dtype = DType::I32, .dims = {kTokens}, .below = kTokens};
  auto add = [&](std::string label, Kernel kernel, std::vector<std::optional<ArgSpec>> args, BucketShape of,
                 int64_t bytes, std::vector<int> accumulate = {}) {
    benchmarks.push_back(
        {std::move(label), kernel, std::move(args), {}, std::move(accumulate), of, packedRow(), -1, bytes});
  };
  add("embedding 8192x5120", Kernel::Embedding, {ArgSpec(), ids, weight, rows}, bucket, 2 * kTokens * kRowBytes);
  add("embedding_grad 248320x5120, added", Kernel::EmbeddingGrad, {ArgSpec(), ids, order, rows, weight}, bucket,
      3 * kTokens * kRowBytes, {4});
  add("embedding_grad 248320x5120", Kernel::EmbeddingGrad, {ArgSpec(), ids, order, rows, weight}, bucket,
      (kTokens + kVocabulary) * kRowBytes);
  ArgSpec frequent = ids;
  frequent.below = 4; // runs of two thousand
  add("embedding_grad 248320x5120, added, 4 ids", Kernel::EmbeddingGrad, {ArgSpec(), frequent, order, rows, weight},
      bucket, kTokens * kRowBytes, {4});
  add("gather_rows half of 8192x5120", Kernel::GatherRows, {ArgSpec(), rows, halfRows}, half, kTokens * kRowBytes);
  add("scatter_rows half of 8192x5120", Kernel::ScatterRows, {ArgSpec(), halfRows, rows}, half,
      kTokens * kRowBytes * 3 / 2);
}
