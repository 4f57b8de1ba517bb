// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/Graph.h"

#include "runtime/base/Stopwatch.h"

#include <algorithm>

namespace qrt::cuda {

StatusOr<double> replay(const Gpu &gpu, double seconds, const std::function<Status()> &launch) {
  constexpr int kFewest = 5;
  Events events(gpu.driver());
  QRT_RETURN_IF_ERROR(events.create(2));
  std::vector<double> samples;
  Stopwatch watch;
  while (static_cast<int>(samples.size()) < kFewest || watch.milliseconds() < seconds * 1e3) {
    QRT_RETURN_IF_ERROR(events.record(0, gpu.stream()));
    QRT_RETURN_IF_ERROR(launch());
    QRT_RETURN_IF_ERROR(events.record(1, gpu.stream()));
    QRT_RETURN_IF_ERROR(gpu.synchronize());
    QRT_ASSIGN_OR_RETURN(double milliseconds, events.elapsed(0, 1));
    samples.push_back(milliseconds);
  }
  auto half = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  auto middle = half + (samples.end() - half) / 2;
  std::nth_element(half, middle, samples.end());
  return *middle;
}

} // namespace qrt::cuda
