// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/ExecutionTrace.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace qrt {

void assignInstructions(ExecutionTrace &trace, int before, std::span<const int> counts, int after) {
  std::sort(trace.works.begin(), trace.works.end(), [](const TracedWork &a, const TracedWork &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int expected = std::accumulate(counts.begin(), counts.end(), before + after);
  trace.complete = trace.works.size() == static_cast<size_t>(expected);
  if (!trace.complete)
    return;
  auto work = trace.works.begin() + before;
  for (size_t i = 0; i < counts.size(); ++i)
    for (int k = 0; k < counts[i]; ++k)
      (work++)->instruction = static_cast<int32_t>(i);
}

void beginInTurn(ExecutionTrace &trace) {
  std::map<int64_t, int64_t> ends;
  for (TracedWork &work : trace.works) {
    int64_t &end = ends[work.stream];
    work.begin = std::max(work.begin, end);
    end = work.end = std::max(work.end, work.begin);
  }
}

} // namespace qrt
