// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the benchmarks of kernels measure.
#ifndef TOOLS_BENCH_MEASURE_H
#define TOOLS_BENCH_MEASURE_H

#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace qrt::cpu {

/// Seconds: of this thread's work where it is the only one, which other work on the machine does not lengthen; else of
/// the clock.
inline double now(const ThreadPool &pool) {
  timespec time;
  clock_gettime(pool.size() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The seconds of the best of half a second's worth of calls: other work on the machine only ever adds.
template <typename Body> double bestSeconds(const ThreadPool &pool, Body body) {
  double best = HUGE_VAL, spent = 0;
  for (int i = 0; i < 100 && (spent < 0.5 || i < 3); ++i) {
    double start = now(pool);
    body();
    double seconds = now(pool) - start;
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

} // namespace qrt::cpu

#endif // TOOLS_BENCH_MEASURE_H
