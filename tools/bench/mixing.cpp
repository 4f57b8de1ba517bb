// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-mixing [THREADS [ROW]]: time and GFLOP/s of the CPU backend's token-mixing kernels, on the rows whose names
// hold the text ROW. The arithmetic counted is what the documents at hand need by the chunked or causal formulas, not
// what the kernels do on top (rebuilding, masked halves of tiles).
//
// Products with a document's first state, which is zero, are counted though the kernels leave them out: rows of short
// documents may show more than the processor's peak.
#include "runtime/backends/cpu/CpuKernel.h"
#include "runtime/executor/FillSegmentTable.h"
#include "tools/bench/Measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace qrt;
using namespace qrt::cpu;

namespace {

struct Row {
  std::vector<int64_t> lengths;
  int64_t tokens() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
  BucketShape bucket() const {
    return {tokens(), static_cast<int64_t>(lengths.size()), *std::max_element(lengths.begin(), lengths.end()), 0};
  }
  /// Pairs of a query and a key that it sees.
  double pairs() const {
    double sum = 0;
    for (int64_t n : lengths)
      sum += 0.5 * static_cast<double>(n) * static_cast<double>(n + 1);
    return sum;
  }
};

std::vector<int32_t> makeTable(const Row &row) {
  SegmentLayout layout{row.bucket()};
  std::vector<int32_t> table(static_cast<size_t>(layout.size())), offsets = {0};
  for (int64_t length : row.lengths)
    offsets.push_back(offsets.back() + static_cast<int32_t>(length));
  [[maybe_unused]] Status status = fillSegmentTable(layout, offsets, {}, table);
  assert(status.ok() && "a row that does not fit its bucket");
  return table;
}

/// A tensor with memory: random values of this mean and standard deviation.
struct Data {
  Data(DType dtype, std::vector<int64_t> dims, float scale = 1, float mean = 0) {
    tensor.shape = denseShape(dtype, dims);
    int64_t elements = tensor.shape.elements();
    memory.resize(elements * byteSize(dtype));
    tensor.data = memory.data();
    static std::minstd_rand random(1);
    for (int64_t i = 0; i < elements; ++i) {
      // Uniform, of the same variance.
      float value = mean + scale * (static_cast<float>(random() >> 7) * 0x1p-24f - 0.5f) * 3.4641f;
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      if (dtype == DType::F32)
        std::memcpy(&memory[i * 4], &value, 4);
      else
        memory[i * 2] = std::byte(bits >> 16), memory[i * 2 + 1] = std::byte(bits >> 24);
    }
  }
  Data(std::vector<int32_t> table) {
    tensor.shape = {DType::I32, 1, {static_cast<int64_t>(table.size())}, {1}};
    memory.resize(table.size() * 4);
    std::memcpy(memory.data(), table.data(), memory.size());
    tensor.data = memory.data();
  }
  Tensor tensor;
  std::vector<std::byte> memory;
};

/// The best of several calls, in seconds.
double measure(Kernel kernel, std::vector<Data *> data, double param, const Row &row, int threads) {
  std::vector<Tensor> args;
  std::vector<ArgEffect> effects;
  for (size_t i = 0; i < data.size(); ++i) {
    args.push_back(data[i] ? data[i]->tensor : Tensor());
    effects.push_back(ArgEffect::Write);
  }
  std::vector<ParamValue> params = {{.f = param}};
  ThreadPool pool(threads);
  Call call{kernel, args, effects, params, row.bucket(), pool};
  const KernelImpl &impl = kernelImpl(kernel);
  call.scratchPerThread = impl.scratchBytes ? (impl.scratchBytes(call) + 63) / 64 * 64 : 0;
  std::vector<std::byte> scratch(call.scratchPerThread * threads + 64);
  call.scratch = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  return bestSeconds(pool, [&] { impl.run(call); });
}

void print(const char *what, double seconds, double flops) {
  std::printf("   %s %9.3f ms %7.1f GFLOP/s", what, seconds * 1e3, flops / seconds * 1e-9);
}

void attention(const Row &row, DType md, int64_t heads, int64_t keyHeads, int64_t width, int threads) {
  int64_t t = row.tokens();
  Data docs(makeTable(row)), q(md, {t, heads, width}), k(md, {t, keyHeads, width}), v(md, {t, keyHeads, width});
  Data gate(md, {t, heads, width}), y(md, {t, heads, width}), lse(DType::F32, {t, heads}), o(md, {t, heads, width});
  Data dy(md, {t, heads, width}), dq = Data(md, {t, heads, width}), dk(md, {t, keyHeads, width}),
                                  dv(md, {t, keyHeads, width}), dgate(md, {t, heads, width});
  double scale = 1 / std::sqrt(static_cast<double>(width)), pairs = row.pairs() * static_cast<double>(heads * width);
  std::printf("attention %s %2ld/%ld x %3ld ", std::string(dtypeName(md)).c_str(), heads, keyHeads, width);
  print("forward", measure(Kernel::Attention, {&docs, &q, &k, &v, &gate, &y, &lse, &o}, scale, row, threads),
        4 * pairs);
  print("backward",
        measure(Kernel::AttentionGrad, {&docs, &q, &k, &v, &gate, &lse, &o, &dy, &dq, &dk, &dv, &dgate}, scale, row,
                threads),
        10 * pairs);
  std::printf("\n");
}

void deltaRule(const Row &row, DType md, int64_t keyHeads, int64_t heads, int64_t width, int threads) {
  int64_t t = row.tokens(), channels = (2 * keyHeads + heads) * width;
  Data docs(makeTable(row)), q(md, {t, keyHeads, width}), k(md, {t, keyHeads, width}, 1 / std::sqrt(float(width)));
  Data v(md, {t, heads, width}), g(DType::F32, {t, heads}, 0.01f, -0.1f), beta(md, {t, heads}, 0.05f, 0.5f);
  Data out(md, {t, heads, width}), inverse(DType::F32, {t, heads, kChunkTokens}), dout(md, {t, heads, width});
  Data dq(md, {t, keyHeads, width}), dk(md, {t, keyHeads, width}), dv(md, {t, heads, width}),
      dg(DType::F32, {t, heads}), dbeta(md, {t, heads});
  double scale = 1 / std::sqrt(static_cast<double>(width));
  // By the formulas of a whole chunk, products with triangles at half.
  double wide = 2.0 * static_cast<double>(t * heads * width * width),
         chunk = static_cast<double>(t * width * kChunkTokens);
  double shared = static_cast<double>(keyHeads) * chunk, own = static_cast<double>(heads) * chunk;
  std::printf("delta rule %s %2ld/%2ld x %3ld", std::string(dtypeName(md)).c_str(), keyHeads, heads, width);
  print("forward", measure(Kernel::GatedDeltaRule, {&docs, &q, &k, &v, &g, &beta, &out, &inverse}, scale, row, threads),
        3 * wide + 2 * shared + 2 * own);
  print("backward",
        measure(Kernel::GatedDeltaRuleGrad, {&docs, &q, &k, &v, &g, &beta, &inverse, &dout, &dq, &dk, &dv, &dg, &dbeta},
                scale, row, threads),
        8 * wide + 6 * shared + 5 * own);
  std::printf("\n");

  Data qkv(md, {t, channels}), a(md, {t, heads}), b(md, {t, heads}), weight(md, {channels, 1, 4}),
      aLog(DType::F32, {heads}), bias(md, {heads});
  Data dqkv(md, {t, channels}), da(md, {t, heads}), db(md, {t, heads}), dweight(DType::F32, {channels, 1, 4}),
      daLog(DType::F32, {heads}), dbias(DType::F32, {heads});
  double forward = measure(Kernel::GatedDeltaInputs,
                           {&docs, &qkv, &b, &a, &weight, &aLog, &bias, &q, &k, &v, &g, &beta}, 1e-6, row, threads);
  double backward = measure(Kernel::GatedDeltaInputsGrad,
                            {&docs, &qkv, &b, &a, &weight, &aLog, &bias, &dq, &dk, &dv, &dg, &dbeta, &dqkv, &db, &da,
                             &dweight, &daLog, &dbias},
                            1e-6, row, threads);
  double bytes = static_cast<double>(t * channels * byteSize(md));
  std::printf("    inputs             ");
  std::printf("   forward %9.3f ms %7.1f GB/s       backward %9.3f ms %7.1f GB/s\n", forward * 1e3,
              2 * bytes / forward * 1e-9, backward * 1e3, 3 * bytes / backward * 1e-9);
}

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  struct NamedRow {
    std::string name;
    Row row;
  };
  const NamedRow rows[] = {
      {"one of 4096", {{4096}}},
      {"4 of 1024", {{1024, 1024, 1024, 1024}}},
      {"uneven, 2048", {{700, 31, 402, 120, 255, 90, 300, 150}}},
      {"32 of 64", {std::vector<int64_t>(32, 64)}},
  };
  std::string_view part = argc > 2 ? argv[2] : "";
  auto chosen = [&](const NamedRow &row) { return row.name.find(part) != std::string::npos; };
  if (threads < 1 || argc > 3 || std::none_of(std::begin(rows), std::end(rows), chosen)) {
    std::fprintf(stderr, "usage: bench-mixing [THREADS [ROW]], at least one thread and a part of one of these rows:\n");
    for (const NamedRow &row : rows)
      std::fprintf(stderr, "  %s\n", row.name.c_str());
    return 2;
  }
  for (const NamedRow &named : rows) {
    if (!chosen(named))
      continue;
    const auto &[name, row] = named;
    std::printf("%s tokens, %d threads\n", name.c_str(), threads);
    for (DType md : {DType::F32, DType::BF16}) {
      attention(row, md, 8, 2, 256, threads);
      attention(row, md, 4, 2, 64, threads);
      deltaRule(row, md, 4, 8, 128, threads);
      deltaRule(row, md, 4, 4, 32, threads);
    }
  }
  return 0;
}
