// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/MeasureRates.h"

#include "runtime/backends/cuda/GemmTuner.h"
#include "runtime/backends/cuda/Graph.h"

#include <algorithm>

namespace qrt::cuda {

/// The fastest of some runs of `work`, in milliseconds.
template <typename Work> static StatusOr<double> fastest(const Gpu &gpu, int runs, Work work) {
  Events events(gpu.driver());
  QRT_RETURN_IF_ERROR(events.create(2));
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    QRT_RETURN_IF_ERROR(events.record(0, gpu.stream()));
    QRT_RETURN_IF_ERROR(work());
    QRT_RETURN_IF_ERROR(events.record(1, gpu.stream()));
    QRT_RETURN_IF_ERROR(gpu.synchronize());
    QRT_ASSIGN_OR_RETURN(double milliseconds, events.elapsed(0, 1));
    best = i == 0 ? milliseconds : std::min(best, milliseconds);
  }
  return best;
}

Status measureRates(const Gpu &gpu, const WorkContext &context, DType dtype, DevicePtr scratch, int64_t scratchBytes,
                    ExecutionTimes &times) {
  // Less lies in the second-level cache.
  constexpr int64_t kLeastCopy = int64_t{256} << 20, kMostCopy = int64_t{4} << 30;
  if (int64_t bytes = std::min(kMostCopy, scratchBytes / 2 / 256 * 256); bytes >= kLeastCopy) {
    QRT_ASSIGN_OR_RETURN(double milliseconds, fastest(gpu, 5, [&]() -> Status {
                           QRT_CUDA_CHECK(gpu.driver(),
                                          cuMemcpyDtoDAsync(scratch + static_cast<DevicePtr>(bytes), scratch,
                                                            static_cast<size_t>(bytes), gpu.stream()));
                           return Status();
                         }));
    times.copyRate = 2.0 * static_cast<double>(bytes) / milliseconds * 1e3;
  }
  constexpr int64_t kExtent = 8192;
  const int64_t matrixBytes = kExtent * kExtent * byteSize(dtype);
  if (scratchBytes < 3 * matrixBytes + 1024)
    return Status();
  auto matrix = [&](int index) {
    return Tensor{denseShape(dtype, std::array{kExtent, kExtent}),
                  scratch + static_cast<DevicePtr>(index * matrixBytes)};
  };
  QRT_ASSIGN_OR_RETURN(PreparedGemm gemm,
                       PreparedGemm::prepare(gpu.cublasLt(), {matrix(0), matrix(1), matrix(2), false, true, false}));
  // Fills the scratch with random numbers too.
  GemmTuner tuner(gpu, "");
  QRT_RETURN_IF_ERROR(tuner.choose(context, std::array{&gemm}, Choosing::Carefully, scratch, scratchBytes));
  QRT_ASSIGN_OR_RETURN(double milliseconds,
                       fastest(gpu, 10, [&] { return gemm.launch(gpu.stream(), gpu.gemmWorkspace()); }));
  times.gemmRate = 2.0 * kExtent * kExtent * kExtent / milliseconds * 1e3;
  return Status();
}

} // namespace qrt::cuda
