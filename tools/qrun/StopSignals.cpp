// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/StopSignals.h"

namespace qrt {

/// Only wakes the waiting thread when the object goes: sent to that thread, never to the process.
static constexpr int kWake = SIGUSR1;

StopSignals::StopSignals() {
  ::sigemptyset(&signals_);
  ::sigaddset(&signals_, kWake);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    // Under nohup the hang-up stays ignored: blocking it would bring it back.
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      ::sigaddset(&signals_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  waiter_ = std::thread([this] { wait(); });
}

StopSignals::~StopSignals() {
  closing_ = true;
  ::pthread_kill(waiter_.native_handle(), kWake);
  waiter_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::wait() {
  while (!closing_) {
    int signal = 0;
    if (::sigwait(&signals_, &signal) != 0 || signal == kWake)
      continue;
    if (armed_ && !requested_.exchange(true))
      continue;
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  }
}

} // namespace qrt
