// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/ThreadPool.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using qrt::ThreadPool;

// Every index runs exactly once, on a thread of the pool, whatever the number of threads and however short the job.
TEST(ThreadPool, RunsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<std::atomic<int>> seen(count);
        std::atomic<bool> badThread = false;
        pool.forEach(count, [&](int64_t index, int thread) {
          seen[index].fetch_add(1);
          if (thread < 0 || thread >= threads)
            badThread = true;
        });
        EXPECT_FALSE(badThread);
        for (auto &times : seen)
          ASSERT_EQ(times.load(), 1);
      }
    }
  }
}

// Work is spread: two tasks that wait for each other end only if two threads run them.
TEST(ThreadPool, RunsTasksAtTheSameTime) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  pool.forEach(2, [&](int64_t, int) {
    arrived.fetch_add(1);
    while (arrived.load() < 2)
      std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

// Workers that went to sleep wake up again; writes of a task are seen after forEach.
TEST(ThreadPool, WakesSleepingWorkers) {
  ThreadPool pool(3);
  std::vector<int64_t> values(300);
  for (int round = 1; round <= 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pool.forEach(300, [&](int64_t index, int) { values[index] += index; });
    for (int64_t i = 0; i < 300; ++i)
      ASSERT_EQ(values[i], i * round);
  }
}

// No handler may run on a worker: the system would write its frame where the stack pointer is, and oneDNN's products
// let that point into the heap.
TEST(ThreadPool, WorkersTakeNoSignals) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  bool blocked[2];
  pool.forEach(2, [&](int64_t, int thread) {
    arrived.fetch_add(1);
    while (arrived.load() < 2)
      std::this_thread::yield();
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    blocked[thread] = sigismember(&mask, SIGALRM) == 1 && sigismember(&mask, SIGSEGV) == 0;
  });
  EXPECT_FALSE(blocked[0]) << "the caller's own mask stays";
  EXPECT_TRUE(blocked[1]);
}
