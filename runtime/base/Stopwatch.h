// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_STOPWATCH_H
#define RUNTIME_BASE_STOPWATCH_H

#include <chrono>

namespace qrt {

/// The time since it was made.
class Stopwatch {
public:
  double milliseconds() const { return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

} // namespace qrt

#endif // RUNTIME_BASE_STOPWATCH_H
