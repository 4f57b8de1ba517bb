// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/bench/cuda/Bench.h"

#include <fmt/format.h>

namespace qrt::cuda::bench {
namespace {

struct Heads {
  int64_t queries, keys, width;
};

/// One of each kernel, gated. Products are counted as if done once: two forward, five backward, half of each square.
void add(std::vector<Benchmark> &benchmarks, std::string name, std::vector<int64_t> lengths, Heads h) {
  BucketShape bucket = bucketOf(lengths);
  double pairs = 0;
  for (int64_t length : lengths)
    pairs += static_cast<double>(length) * static_cast<double>(length) / 2;
  double product = 2 * pairs * static_cast<double>(h.queries * h.width);
  int64_t t = bucket.tokens;
  ArgSpec docs{.dtype = DType::I32, .dims = {}}, query{.dims = {t, h.queries, h.width}},
      key{.dims = {t, h.keys, h.width}}, lse{.dtype = DType::F32, .dims = {t, h.queries}, .mean = 8};
  ParamValue scale{.f = 0.0625};
  std::string label = fmt::format("{} {}/{}x{}", name, h.queries, h.keys, h.width);
  Benchmark forward{.label = "attention " + label,
                    .kernel = Kernel::Attention,
                    .args = {docs, query, key, key, query, query, lse, query}},
      backward{.label = "attention_grad " + label,
               .kernel = Kernel::AttentionGrad,
               .args = {docs, query, key, key, query, lse, query, query, query, key, key, query}};
  forward.flops = 2 * product;
  backward.flops = 5 * product;
  for (Benchmark *benchmark : {&forward, &backward}) {
    benchmark->params = {scale};
    benchmark->bucket = bucket;
    benchmark->lengths = lengths;
    benchmarks.push_back(*benchmark);
  }
}

} // namespace

void attentionBenchmarks(std::vector<Benchmark> &benchmarks) {
  constexpr Heads kLarge{24, 4, 256};
  add(benchmarks, "packed row", packedRow(), kLarge);
  add(benchmarks, "1x8192", {8192}, kLarge);
  add(benchmarks, "4x2048", {2048, 2048, 2048, 2048}, kLarge);
  add(benchmarks, "8x1024", std::vector<int64_t>(8, 1024), kLarge);
  add(benchmarks, "1x32768", {32768}, kLarge);
  add(benchmarks, "1x2048", {2048}, {8, 2, 256});
  add(benchmarks, "1x8192", {8192}, {32, 8, 128});
  add(benchmarks, "1x8192", {8192}, {32, 8, 64});
}

} // namespace qrt::cuda::bench
