// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ctrl-C and its like: the first asks, the second ends the process.
#ifndef TOOLS_QRUN_STOPSIGNALS_H
#define TOOLS_QRUN_STOPSIGNALS_H

#include <atomic>
#include <csignal>
#include <thread>

namespace qrt {

/// Waits for SIGINT, SIGTERM and SIGHUP (those that the process does not ignore) in a thread of its own; made before
/// other threads are, so that none of them takes the signal. Once armed, the first one sets requested(); any other ends
/// the process as the signal would have without this.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals &) = delete;
  StopSignals &operator=(const StopSignals &) = delete;

  void arm() { armed_ = true; }
  const std::atomic<bool> &requested() const { return requested_; }

private:
  void wait();

  sigset_t signals_, before_;
  std::atomic<bool> armed_ = false, requested_ = false, closing_ = false;
  std::thread waiter_;
};

} // namespace qrt

#endif // TOOLS_QRUN_STOPSIGNALS_H
