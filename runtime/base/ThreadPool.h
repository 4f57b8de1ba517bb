// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_THREADPOOL_H
#define RUNTIME_BASE_THREADPOOL_H

#include <cstdint>
#include <memory>
#include <type_traits>

namespace qrt {

/// Processors that this process may use; at least 1.
int processorCount();

/// A fixed set of threads that run numbered tasks. The caller's thread is thread 0.
class ThreadPool {
public:
  /// `threads` >= 1 in all, the caller's included.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  int size() const;

  /// Calls task(index, thread) for every index in [0, count) and returns when all are done. Which thread runs an index
  /// is not fixed, so a task's result must depend on its index alone. Not reentrant: a task must not call forEach.
  template <typename Task> void forEach(int64_t count, Task &&task) {
    using Fn = std::remove_reference_t<Task>;
    run(
        count, [](void *context, int64_t index, int thread) { (*static_cast<Fn *>(context))(index, thread); },
        const_cast<void *>(static_cast<const void *>(&task)));
  }

private:
  void run(int64_t count, void (*task)(void *context, int64_t index, int thread), void *context);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace qrt

#endif // RUNTIME_BASE_THREADPOOL_H
