// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps signal handlers off a thread.
#ifndef RUNTIME_BASE_BLOCKEDSIGNALS_H
#define RUNTIME_BASE_BLOCKEDSIGNALS_H

#include <csignal>
#include <initializer_list>

namespace qrt {

/// While it lives no signal handler runs on this thread, nor on a thread that it starts: the system writes a handler's
/// frame below the stack pointer, and oneDNN's f32 products let that point into the heap while they compute. Signals
/// that an instruction raises are let through.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t before_;
};

} // namespace qrt

#endif // RUNTIME_BASE_BLOCKEDSIGNALS_H
