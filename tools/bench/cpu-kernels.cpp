// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-cpu-kernels [--threads N] [--tokens T] [KERNEL...]: time, GB/s and GFLOP/s of the CPU backend's kernels at the
// widths of the 0.8B model (hidden 1024), in f32 and in bf16, beside the rate at which the same threads copy memory.
// Bytes are those of the arguments: what an ideal kernel would move.
#include "runtime/backends/cpu/CpuKernel.h"
#include "runtime/backends/cpu/Gemm.h"
#include "runtime/base/BFloat16.h"
#include "runtime/executor/FillSegmentTable.h"
#include "tools/bench/Measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace qrt;
using namespace qrt::cpu;

namespace {

struct Memory {
  std::unique_ptr<std::byte[]> owner;
  std::byte *data = nullptr;

  explicit Memory(int64_t bytes) : owner(new std::byte[bytes + 64]()) {
    data = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(owner.get()) + 63) / 64 * 64);
  }
};

/// One argument: its type and extents; none if absent.
struct Arg {
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  bool present = true;
  /// What is in it: fills i32 arguments; others get random numbers.
  std::function<void(int32_t *)> fill;
};

struct Benchmark {
  Kernel kernel;
  std::vector<Arg> args;
  std::vector<ParamValue> params;
};

void fillRandom(const Tensor &tensor) {
  std::mt19937 random(1);
  int64_t n = tensor.shape.elements();
  for (int64_t i = 0; i < n; ++i) {
    float value = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
    if (tensor.shape.dtype == DType::F32)
      tensor.as<float>()[i] = value;
    else if (tensor.shape.dtype == DType::BF16)
      tensor.as<uint16_t>()[i] = bf16FromF32(value);
  }
}

void run(const Benchmark &benchmark, const char *storage, const BucketShape &bucket, ThreadPool &pool,
         double copyRate) {
  const KernelInfo &info = kernelInfo(benchmark.kernel);
  std::vector<Memory> memory;
  std::vector<Tensor> args;
  std::vector<ArgEffect> effects;
  std::vector<std::optional<TensorShape>> shapes;
  double bytes = 0;
  for (size_t i = 0; i < benchmark.args.size(); ++i) {
    const Arg &arg = benchmark.args[i];
    ArgEffect effect = callEffect(info.arg(i).effect);
    Tensor tensor;
    tensor.shape = denseShape(arg.dtype, arg.dims);
    int64_t argBytes = tensor.shape.elements() * byteSize(arg.dtype);
    if (arg.present) {
      memory.emplace_back(argBytes);
      tensor.data = memory.back().data;
      if (arg.fill)
        arg.fill(tensor.as<int32_t>());
      else
        fillRandom(tensor);
      bytes += static_cast<double>(argBytes) * (effect == ArgEffect::InOut ? 2 : 1);
    }
    args.push_back(tensor);
    effects.push_back(effect);
    shapes.push_back(arg.present ? std::optional(tensor.shape) : std::nullopt);
  }
  Call call{benchmark.kernel, args, effects, benchmark.params, bucket, pool};
  call.workspaceBytes = cpuWorkspaceBytes(benchmark.kernel, shapes);
  Memory workspace(call.workspaceBytes);
  call.workspace = workspace.data;
  const KernelImpl &impl = kernelImpl(benchmark.kernel);
  call.scratchPerThread = impl.scratchBytes ? (impl.scratchBytes(call) + 63) / 64 * 64 : 0;
  Memory scratch(call.scratchPerThread * pool.size());
  call.scratch = scratch.data;
  double seconds = bestSeconds(pool, [&] { impl.run(call); });
  double flops = kernelFlops(benchmark.kernel, shapes, benchmark.params, bucket);
  std::printf("%-26.*s %-5s %9.3f ms %8.1f GB/s (%4.0f %% of copy) %8.1f GFLOP/s\n", static_cast<int>(info.name.size()),
              info.name.data(), storage, seconds * 1e3, bytes / seconds * 1e-9, 100 * bytes / seconds / copyRate,
              flops / seconds * 1e-9);
  std::fflush(stdout);
}

/// Bytes read and written a second by a parallel copy of a buffer that no cache holds.
double measureCopy(ThreadPool &pool) {
  constexpr int64_t kBytes = 256 << 20, kPiece = 1 << 20;
  Memory from(kBytes), to(kBytes);
  std::memset(from.data, 1, kBytes);
  double seconds = bestSeconds(pool, [&] {
    pool.forEach(kBytes / kPiece,
                 [&](int64_t i, int) { std::memcpy(to.data + i * kPiece, from.data + i * kPiece, kPiece); });
  });
  return 2.0 * kBytes / seconds;
}

constexpr int32_t kDocumentTokens = 512;

/// Documents of 512 tokens up to the end; every other token is trained.
void fillSegments(const BucketShape &bucket, int32_t *table) {
  SegmentLayout layout{bucket};
  std::vector<int32_t> offsets, trained;
  for (int32_t token = 0; token <= bucket.tokens; token += kDocumentTokens)
    offsets.push_back(token);
  for (int32_t row = 0; row < bucket.trained; ++row)
    trained.push_back(2 * row);
  [[maybe_unused]] Status status =
      fillSegmentTable(layout, offsets, trained, std::span(table, static_cast<size_t>(layout.size())));
  assert(status.ok() && "a row that does not fit its bucket");
}

std::vector<Benchmark> benchmarks(DType md, const BucketShape &bucket) {
  constexpr int64_t h = 1024, intermediate = 3584, vocabulary = 8192, heads = 8, keyHeads = 2, width = 256;
  constexpr int64_t gdnHeads = 16, gdnWidth = 128, channels = 3 * gdnHeads * gdnWidth;
  const DType f32 = DType::F32, i32 = DType::I32, i64 = DType::I64;
  int64_t T = bucket.tokens, R = bucket.trained;
  ParamValue eps{.f = 1e-6}, theta{.f = 1e7}, rotary{.i = 64}, scale{.f = 1.0 / 16};
  Arg docs{i32, {SegmentLayout{bucket}.size()}, true, [bucket](int32_t *table) { fillSegments(bucket, table); }};
  auto idOf = [](int64_t t) { return static_cast<int32_t>(t * 7919 % vocabulary); };
  Arg ids{i32, {T}, true, [=](int32_t *out) {
            for (int64_t t = 0; t < T; ++t)
              out[t] = idOf(t);
          }};
  Arg order{i32, {T}, true, [=](int32_t *out) {
              for (int64_t t = 0; t < T; ++t)
                out[t] = static_cast<int32_t>(t);
              std::stable_sort(out, out + T, [&](int32_t a, int32_t b) { return idOf(a) < idOf(b); });
            }};
  Arg labels{i32, {R}, true, [=](int32_t *out) {
               for (int64_t r = 0; r < R; ++r)
                 out[r] = idOf(r);
             }};
  Arg counters{i64, {2}, true, [](int32_t *out) { out[0] = 5; }};
  Arg seed{i64, {}, true, [](int32_t *out) { out[0] = 5; }};
  Arg hyper{f32, {8}};
  Arg rows{md, {T, h}}, scalar{f32, {}}, weight{md, {h}}, perRow{f32, {T}}, wide{md, {T, intermediate}};
  Arg value{md, {T, gdnHeads, gdnWidth}}, perHead{md, {T, gdnHeads}}, perHeadF32{f32, {T, gdnHeads}};
  Arg gdnWeight{f32, {gdnWidth}}, gdnScalars{f32, {gdnHeads}}, qkv{md, {T, channels}}, conv{md, {channels, 1, 4}};
  Arg q{md, {T, heads, width}}, k{md, {T, keyHeads, width}}, headWeight{md, {width}};
  Arg qr{f32, {T, heads}}, kr{f32, {T, keyHeads}}, inverse{f32, {T, gdnHeads, 64}};
  Arg embedding{md, {vocabulary, h}}, trained{md, {R, h}}, logits{f32, {std::min<int64_t>(256, R), vocabulary}};
  Arg matrix{md, {intermediate, h}}, matrixF32{f32, {intermediate, h}}, none{f32, {1}, false};
  ParamValue decay{.i = 1}, member{.i = 77}, memberElements{.i = intermediate * h};
  std::vector<Benchmark> result = {
      {Kernel::Embedding, {docs, ids, embedding, rows}, {}},
      {Kernel::EmbeddingGrad, {docs, ids, order, rows, embedding}, {}},
      {Kernel::RmsNorm, {rows, weight, rows, perRow}, {eps}},
      {Kernel::RmsNormGrad, {rows, weight, perRow, rows, rows, weight}, {eps}},
      {Kernel::AddRmsNorm, {rows, rows, weight, rows, rows, perRow}, {eps}},
      {Kernel::AddRmsNormGrad, {rows, weight, perRow, rows, rows, rows, weight}, {eps}},
      {Kernel::GatedDeltaInputs,
       {docs, qkv, perHead, perHead, conv, gdnScalars, gdnScalars, value, value, value, perHeadF32, perHead},
       {eps}},
      {Kernel::GatedDeltaInputsGrad,
       {docs, qkv, perHead, perHead, conv, gdnScalars, gdnScalars, value, value, value, perHeadF32, perHead, qkv,
        perHead, perHead, conv, gdnScalars, gdnScalars},
       {eps}},
      {Kernel::GatedDeltaRule, {docs, value, value, value, perHeadF32, perHead, value, inverse}, {scale}},
      {Kernel::GatedDeltaRuleGrad,
       {docs, value, value, value, perHeadF32, perHead, inverse, value, value, value, value, perHeadF32, perHead},
       {scale}},
      {Kernel::GatedRmsNorm, {value, value, gdnWeight, value, perHeadF32}, {eps}},
      {Kernel::GatedRmsNormGrad, {value, value, gdnWeight, perHeadF32, value, value, value, gdnWeight}, {eps}},
      {Kernel::QkNormRope, {docs, q, k, headWeight, headWeight, q, k, qr, kr}, {eps, theta, rotary}},
      {Kernel::QkNormRopeGrad,
       {docs, q, k, headWeight, headWeight, qr, kr, q, k, q, k, headWeight, headWeight},
       {eps, theta, rotary}},
      {Kernel::Attention, {docs, q, k, k, q, q, qr, q}, {scale}},
      {Kernel::AttentionGrad, {docs, q, k, k, q, qr, q, q, q, k, k, q}, {scale}},
      {Kernel::Add, {rows, rows}, {}},
      {Kernel::Swiglu, {wide, wide, wide}, {}},
      {Kernel::SwigluGrad, {wide, wide, wide, wide, wide}, {}},
      {Kernel::GatherRows, {docs, rows, trained}, {}},
      {Kernel::ScatterRows, {docs, trained, rows}, {}},
      {Kernel::LinearCrossEntropy, {trained, embedding, labels, scalar, none, logits}, {}},
      {Kernel::LinearCrossEntropyGrad, {trained, embedding, labels, scalar, scalar, trained, embedding, logits}, {}},
      {Kernel::GlobalNorm, {scalar, matrix, matrix, matrix, matrix}, {}},
      {Kernel::AdamW,
       {matrix, scalar, counters, hyper, seed, matrix, matrixF32, matrixF32, md == f32 ? none : matrixF32},
       {decay, member, memberElements}},
  };
  if (md == DType::BF16)
    result.push_back({Kernel::AdamW,
                      {matrix, scalar, counters, hyper, seed, matrix, matrix, matrix, none},
                      {decay, member, memberElements}});
  return result;
}

} // namespace

int main(int argc, char **argv) {
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  int64_t tokens = 4096;
  std::vector<Kernel> wanted;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--threads" && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else if (arg == "--tokens" && i + 1 < argc) {
      tokens = std::atoll(argv[++i]);
    } else if (std::optional<Kernel> kernel = kernelByName(arg)) {
      wanted.push_back(*kernel);
    } else {
      std::fprintf(stderr, "usage: bench-cpu-kernels [--threads N] [--tokens T] [KERNEL...]; no kernel is called %s\n",
                   arg.c_str());
      return 2;
    }
  }
  if (threads < 1 || tokens < 1024 || tokens % kDocumentTokens) {
    std::fprintf(stderr, "--threads is at least 1, --tokens a multiple of 512 from 1024\n");
    return 2;
  }
  ThreadPool pool(threads);
  double copyRate = measureCopy(pool);
  std::printf("%s, %s; copy %.1f GB/s; %ld tokens\n", cpuDescription(threads).c_str(), cpuBf16Description().c_str(),
              copyRate * 1e-9, static_cast<long>(tokens));
  BucketShape bucket{tokens, tokens / kDocumentTokens, kDocumentTokens, tokens / 2};
  for (DType md : {DType::F32, DType::BF16})
    for (const Benchmark &benchmark : benchmarks(md, bucket))
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), benchmark.kernel) != wanted.end())
        run(benchmark, md == DType::F32 ? "f32" : "bf16", bucket, pool, copyRate);
  return 0;
}
