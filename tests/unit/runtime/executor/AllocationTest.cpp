// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is allocated in a run: memory is known before.
#include "runtime/backends/cpu/Gemm.h"
#include "tests/unit/runtime/support/TinySession.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> allocations{0};
static std::atomic<size_t> largest{0};

static void *countedAllocation(size_t size, size_t alignment) {
  ++allocations;
  for (size_t seen = largest; size > seen && !largest.compare_exchange_weak(seen, size);) {
  }
  void *memory = alignment > alignof(std::max_align_t)
                     ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                     : std::malloc(size == 0 ? 1 : size);
  if (!memory)
    std::abort();
  return memory;
}

void *operator new(size_t size) { return countedAllocation(size, 1); }
void *operator new[](size_t size) { return countedAllocation(size, 1); }
void *operator new(size_t size, std::align_val_t alignment) {
  return countedAllocation(size, static_cast<size_t>(alignment));
}
void *operator new[](size_t size, std::align_val_t alignment) {
  return countedAllocation(size, static_cast<size_t>(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace qrt {
namespace {

using namespace test;

struct Counts {
  int64_t allocations;
  size_t largest;
};

/// Of loading batches and running every entry, once the libraries have made their tables.
Counts countRuns(DType dtype) {
  BucketShape large{40, 9, 30, 30};
  std::unique_ptr<Session> session = makeSession({.dtype = dtype}, {kTinyBucket, large}, {.threads = 3});
  HostBatch batches[] = {makeBatch(kTinyBucket, {5, 8}, 23), makeBatch(large, {5, 8, 20}, 23)};
  auto everything = [&] {
    for (const HostBatch &batch : batches) {
      EXPECT_TRUE(session->loadBatch(batch).ok());
      session->setScalars(0.1F, kTinyHyper, 7);
      for (EntryKind kind : {EntryKind::Step, EntryKind::Accumulate, EntryKind::Apply, EntryKind::Eval})
        EXPECT_TRUE(session->run(kind).ok());
    }
  };
  everything();
  int64_t before = allocations;
  largest = 0;
  everything();
  return {allocations - before, largest};
}

TEST(Allocation, NoneInARun) {
  EXPECT_EQ(countRuns(DType::F32).allocations, 0);
  cpu::Bf16Mode mode = cpu::bf16Mode();
  cpu::setBf16Mode(cpu::Bf16Mode::Widened);
  EXPECT_EQ(countRuns(DType::BF16).allocations, 0);
  cpu::setBf16Mode(mode);
}

// oneDNN makes a table of the arguments of every product that it runs itself: some tens of bytes, gone after the call.
TEST(Allocation, OnlyTheLibrarysArgumentsWithBf16Products) { EXPECT_LE(countRuns(DType::BF16).largest, 1024u); }

TEST(Allocation, IsCounted) {
  int64_t before = allocations;
  largest = 0;
  std::vector<int> some(1000);
  EXPECT_EQ(allocations - before, 1);
  EXPECT_EQ(largest, 4000u);
}

} // namespace
} // namespace qrt
