// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/ThreadPool.h"

#include "runtime/base/BlockedSignals.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace qrt {

int processorCount() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}
namespace {

/// How often a waiting thread looks again before it sleeps: some tens of microseconds, the gap between two kernels of a
/// step.
constexpr int kSpins = 2000;

inline void spinPause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

} // namespace

struct ThreadPool::Impl {
  using Task = void (*)(void *context, int64_t index, int thread);

  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;

  // The job: written under the mutex before `generation` moves on, read by workers after they saw it move.
  Task task = nullptr;
  void *context = nullptr;
  int64_t count = 0;
  std::atomic<int64_t> next{0};
  std::atomic<uint64_t> generation{0};
  /// Workers that have not yet finished the current job. A new job starts only when it is zero, so no worker can mix up
  /// two jobs.
  std::atomic<int> busy{0};
  std::atomic<bool> stop{false};
#ifndef NDEBUG
  std::atomic<bool> running{false};
#endif

  void work(int thread) {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      task(context, i, thread);
  }

  void workerLoop(int thread) {
    uint64_t seen = 0;
    while (true) {
      for (int spin = 0; spin < kSpins && generation.load(std::memory_order_acquire) == seen; ++spin)
        spinPause();
      if (generation.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return generation.load(std::memory_order_acquire) != seen; });
      }
      ++seen;
      if (stop.load(std::memory_order_relaxed))
        return;
      work(thread);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        // The lock orders this notification after the caller's test of `busy`.
        std::lock_guard lock(mutex);
        done.notify_one();
      }
    }
  }

  void advance() {
    {
      std::lock_guard lock(mutex);
      generation.fetch_add(1, std::memory_order_acq_rel);
    }
    wake.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  assert(threads >= 1 && "the caller's thread is one of the pool");
  BlockedSignals inherited;
  for (int i = 1; i < threads; ++i)
    impl_->workers.emplace_back([impl = impl_.get(), i] { impl->workerLoop(i); });
}

ThreadPool::~ThreadPool() {
  impl_->stop.store(true, std::memory_order_relaxed);
  impl_->advance();
  for (std::thread &worker : impl_->workers)
    worker.join();
}

int ThreadPool::size() const { return static_cast<int>(impl_->workers.size()) + 1; }

void ThreadPool::run(int64_t count, void (*task)(void *context, int64_t index, int thread), void *context) {
  if (count <= 0)
    return;
#ifndef NDEBUG
  assert(!impl_->running.exchange(true) && "a task must not call forEach");
#endif
  if (count == 1 || impl_->workers.empty()) {
    for (int64_t i = 0; i < count; ++i)
      task(context, i, 0);
  } else {
    Impl &impl = *impl_;
    impl.task = task;
    impl.context = context;
    impl.count = count;
    impl.next.store(0, std::memory_order_relaxed);
    impl.busy.store(static_cast<int>(impl.workers.size()), std::memory_order_relaxed);
    impl.advance();
    impl.work(0);
    for (int spin = 0; spin < kSpins && impl.busy.load(std::memory_order_acquire) != 0; ++spin)
      spinPause();
    if (impl.busy.load(std::memory_order_acquire) != 0) {
      std::unique_lock lock(impl.mutex);
      impl.done.wait(lock, [&] { return impl.busy.load(std::memory_order_acquire) == 0; });
    }
  }
#ifndef NDEBUG
  impl_->running.store(false);
#endif
}

} // namespace qrt
