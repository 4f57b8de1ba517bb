// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/MeasureRates.h"

#include "runtime/backends/cpu/CpuKernel.h"
#include "runtime/backends/cpu/Gemm.h"
#include "runtime/base/Stopwatch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

namespace qrt::cpu {

/// Seconds of the fastest run but the first, which finds nothing in its place.
template <typename Work> static double fastest(Work work) {
  constexpr int kRuns = 5;
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    Stopwatch watch;
    work();
    if (run > 0)
      best = std::min(best, watch.milliseconds());
  }
  return best * 1e-3;
}

double measureCopyRate(ThreadPool &threads) {
  constexpr int64_t kBytes = int64_t{64} << 20, kPiece = int64_t{1} << 18;
  std::vector<std::byte> source(kBytes, std::byte{1}), target(kBytes);
  double seconds = fastest([&] {
    threads.forEach(kBytes / kPiece, [&](int64_t piece, int) {
      std::memcpy(target.data() + piece * kPiece, source.data() + piece * kPiece, kPiece);
    });
  });
  return 2.0 * kBytes / seconds;
}

double measureProductRate(ThreadPool &threads, DType dtype) {
  constexpr int64_t kExtent = 1024, kElements = kExtent * kExtent;
  // Of either type a small number.
  std::vector<float> values(3 * kElements, 0x1.01p-3F);
  auto matrix = [&](int64_t index) {
    return Tensor{denseShape(dtype, std::array{kExtent, kExtent}), values.data() + index * kElements};
  };
  GemmCall call{matrix(0), matrix(1), matrix(2), false, true, false, threads};
  call.scratchPerThread = (gemmScratchBytes(call) + 63) / 64 * 64;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> scratch(static_cast<size_t>(call.scratchPerThread * threads.size()) / sizeof(Line) + 1);
  call.scratch = scratch.front().bytes;
  prepareGemm(call);
  double seconds = fastest([&] { gemm(call); });
  return 2.0 * kExtent * kExtent * kExtent / seconds;
}

} // namespace qrt::cpu
