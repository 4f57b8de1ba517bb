// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bench-gemm [THREADS]: GFLOP/s of the CPU backend's matrix products, beside oneDNN's own threads on the same product.
#include "runtime/backends/cpu/Gemm.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dnnl.h>
#include <functional>
#include <random>
#include <thread>
#include <vector>

extern "C" void omp_set_num_threads(int);

using namespace qrt;
using namespace qrt::cpu;

namespace {

/// The best of several runs, in seconds: other work on the machine only ever adds.
double bestSeconds(double flops, const std::function<void()> &body) {
  double best = HUGE_VAL;
  int repeats = static_cast<int>(std::clamp(4e10 / flops, 3.0, 200.0));
  for (int i = 0; i < repeats; ++i) {
    auto start = std::chrono::steady_clock::now();
    body();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

struct Matrix {
  Tensor tensor;
  std::vector<std::byte> memory;

  Matrix(DType dtype, int64_t rows, int64_t cols) : memory(rows * cols * byteSize(dtype)) {
    tensor.shape = {dtype, 2, {rows, cols}, {cols, 1}};
    tensor.data = memory.data();
    std::mt19937 random(1);
    for (int64_t i = 0; i < rows * cols; ++i) {
      if (dtype == DType::F32)
        tensor.as<float>()[i] = static_cast<float>(random() % 1000) * 1e-3f - 0.5f;
      else
        tensor.as<uint16_t>()[i] = static_cast<uint16_t>(0x3f00 + random() % 0x80 + (random() % 2) * 0x8000);
    }
  }
};

void measure(int64_t m, int64_t n, int64_t k, bool ta, bool tb, int threads) {
  double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  std::printf("%6ld x %6ld x %6ld  %c%c ", m, n, k, ta ? 'T' : 'N', tb ? 'T' : 'N');
  ThreadPool pool(threads);
  auto ours = [&](DType in, DType out, Bf16Mode mode) {
    setBf16Mode(mode);
    Matrix a(in, ta ? k : m, ta ? m : k), b(in, tb ? n : k, tb ? k : n), c(out, m, n);
    GemmCall call{a.tensor, b.tensor, c.tensor, ta, tb, false, pool};
    call.scratchPerThread = (gemmScratchBytes(call) + 63) / 64 * 64;
    std::vector<std::byte> scratch(call.scratchPerThread * threads + 64);
    call.scratch = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    return flops / bestSeconds(flops, [&] { gemm(call); }) * 1e-9;
  };
  double library = 0;
  // A thread of its own, because the OpenMP setting belongs to the calling thread.
  std::thread([&] {
    omp_set_num_threads(threads);
    Matrix a(DType::F32, ta ? k : m, ta ? m : k), b(DType::F32, tb ? n : k, tb ? k : n), c(DType::F32, m, n);
    double seconds = bestSeconds(flops, [&] {
      dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.0f, a.tensor.as<float>(), ta ? m : k, b.tensor.as<float>(),
                 tb ? k : n, 0.0f, c.tensor.as<float>(), n);
    });
    library = flops / seconds * 1e-9;
  }).join();
  double f32 = ours(DType::F32, DType::F32, bf16Mode());
  double widened = ours(DType::BF16, DType::BF16, Bf16Mode::Widened);
  double native = nativeBf16Supported() ? ours(DType::BF16, DType::BF16, Bf16Mode::Native) : 0;
  std::printf(" oneDNN f32 %7.1f   ours f32 %7.1f (%3.0f %%)   bf16 widened %7.1f   native %7.1f\n", library, f32,
              100 * f32 / library, widened, native);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  if (threads < 1) {
    std::fprintf(stderr, "usage: bench-gemm [THREADS]\n");
    return 2;
  }
  std::printf("%s, %s; GFLOP/s, best of several runs\n", cpuDescription(threads).c_str(), cpuBf16Description().c_str());
  // Forward, input gradient and weight gradient of a small and of a large projection (1024 or 8192 tokens).
  measure(1024, 768, 256, false, true, threads);
  measure(1024, 256, 768, false, false, threads);
  measure(768, 256, 1024, true, false, threads);
  measure(1024, 16, 256, false, true, threads);
  measure(8192, 1024, 3584, false, true, threads);
  measure(8192, 3584, 1024, false, false, threads);
  measure(1024, 3584, 8192, true, false, threads);
  measure(8192, 5120, 1024, false, true, threads);
  return 0;
}
