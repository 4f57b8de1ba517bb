// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run allocates nothing: its memory is known before. What oneDNN takes for itself within a product (Session.h) is
// counted apart, and bounded. Counted is all that comes from the C library's heap, `new` included.
#include "runtime/backends/cpu/Gemm.h"
#include "tests/unit/runtime/support/TinySession.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dnnl.h>
#include <new>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

namespace {

struct Counts {
  int64_t allocations, releases;
  /// Bytes of the largest piece.
  size_t largest;
};

/// Of every thread.
class Counter {
public:
  void reset() { allocations_ = releases_ = largest_ = 0; }
  void take(size_t size) {
    ++allocations_;
    for (size_t seen = largest_; size > seen && !largest_.compare_exchange_weak(seen, size);) {
    }
  }
  void release() { ++releases_; }
  Counts read() const { return {allocations_, releases_, largest_}; }

private:
  std::atomic<int64_t> allocations_{0}, releases_{0};
  std::atomic<size_t> largest_{0};
};

constinit Counter own, library;
/// Calls into oneDNN that multiply.
constinit std::atomic<int64_t> libraryCalls{0};
constinit thread_local bool isInLibrary = false;

void countAllocation(size_t size) { (isInLibrary ? library : own).take(size); }
void countRelease() { (isInLibrary ? library : own).release(); }

void resetCounters() {
  own.reset();
  library.reset();
  libraryCalls = 0;
}

struct LibraryCall {
  LibraryCall() {
    ++libraryCalls;
    isInLibrary = true;
  }
  ~LibraryCall() { isInLibrary = false; }
};

} // namespace

// The linker has the runtime call these (CMakeLists.txt).
extern "C" {

decltype(dnnl_sgemm) __real_dnnl_sgemm;
decltype(dnnl_primitive_execute) __real_dnnl_primitive_execute;

dnnl_status_t __wrap_dnnl_sgemm(char transposeA, char transposeB, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k, float alpha,
                                const float *a, dnnl_dim_t lda, const float *b, dnnl_dim_t ldb, float beta, float *c,
                                dnnl_dim_t ldc) {
  LibraryCall call;
  return __real_dnnl_sgemm(transposeA, transposeB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
dnnl_status_t __wrap_dnnl_primitive_execute(const_dnnl_primitive_t primitive, dnnl_stream_t stream, int count,
                                            const dnnl_exec_arg_t *arguments) {
  LibraryCall call;
  return __real_dnnl_primitive_execute(primitive, stream, count, arguments);
}

} // extern "C"

#if __has_feature(address_sanitizer)

// The sanitizer has a heap of its own, and calls back.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                                         void (*)(const volatile void *));
[[maybe_unused]] static const int kHooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void *, size_t size) { countAllocation(size); }, [](const volatile void *) { countRelease(); });

#else

// In place of glibc's functions, for the libraries too: what a program defines comes first.
extern "C" {

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size) {
  countAllocation(size);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  countAllocation(count * size);
  return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  countAllocation(size);
  if (memory)
    countRelease();
  return __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size) {
  countAllocation(size);
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory || size == 0 ? 0 : ENOMEM;
}
void free(void *memory) {
  if (memory)
    countRelease();
  __libc_free(memory);
}

} // extern "C"

#endif

namespace qrt {
namespace {

using namespace test;

/// Of one call into oneDNN: a buffer for parts of the operands in the order that it likes, and with native bf16
/// products the tables of its arguments.
constexpr int64_t kMostOfACall = 1, kMostOfANativeCall = 8;
constexpr size_t kLargestOfACall = 4 << 20;

/// Nothing was allocated but by oneDNN, which has given all back.
void expectOnlyTheLibrarys(cpu::Bf16Mode mode) {
  Counts ours = own.read(), theirs = library.read();
  EXPECT_EQ(ours.allocations, 0);
  EXPECT_EQ(ours.releases, 0);
  EXPECT_GT(libraryCalls, 0);
  EXPECT_LE(theirs.allocations, (mode == cpu::Bf16Mode::Native ? kMostOfANativeCall : kMostOfACall) * libraryCalls);
  EXPECT_EQ(theirs.releases, theirs.allocations);
  EXPECT_LE(theirs.largest, kLargestOfACall);
}

struct Case {
  const char *name;
  DType dtype;
  cpu::Bf16Mode mode;
};

class Allocation : public ::testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    if (GetParam().mode == cpu::Bf16Mode::Native && !cpu::nativeBf16Supported())
      GTEST_SKIP() << "this processor has no bf16 products";
    cpu::setBf16Mode(GetParam().mode);
  }
  void TearDown() override {
    cpu::setBf16Mode(cpu::nativeBf16Supported() ? cpu::Bf16Mode::Native : cpu::Bf16Mode::Widened);
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, Allocation,
                         ::testing::Values(Case{"F32", DType::F32, cpu::Bf16Mode::Widened},
                                           Case{"Bf16Widened", DType::BF16, cpu::Bf16Mode::Widened},
                                           Case{"Bf16Native", DType::BF16, cpu::Bf16Mode::Native}),
                         [](const auto &info) { return info.param.name; });

// Loading batches and running every entry, once the libraries have made their tables.
TEST_P(Allocation, NoneInARun) {
  BucketShape large{40, 9, 30, 30};
  for (int64_t hidden : {8, 96}) {
    SCOPED_TRACE(hidden);
    std::unique_ptr<Session> session =
        makeSession({.hidden = hidden, .intermediate = 2 * hidden, .dtype = GetParam().dtype}, {kTinyBucket, large},
                    {.threads = 3});
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
    resetCounters();
    everything();
    expectOnlyTheLibrarys(GetParam().mode);
  }
}

// What oneDNN takes does not grow with the matrices beyond the largest tile and some depth.
TEST_P(Allocation, OfALargeProductIsBounded) {
  constexpr int64_t kWidth = 2048, kDepth = 1600;
  DType dtype = GetParam().dtype;
  auto bytes = [](int64_t rows, int64_t cols, DType dtype) {
    return std::vector<std::byte>(static_cast<size_t>(rows * cols * byteSize(dtype)));
  };
  std::vector<std::byte> a = bytes(kWidth, kDepth, dtype), b = a, c = bytes(kWidth, kWidth, DType::F32);
  ThreadPool threads(2);
  for (auto [transposeA, transposeB] : {std::pair(false, false), {false, true}, {true, false}}) {
    SCOPED_TRACE(testing::Message() << transposeA << transposeB);
    cpu::GemmCall call{
        {denseShape(dtype, transposeA ? std::array{kDepth, kWidth} : std::array{kWidth, kDepth}), a.data()},
        {denseShape(dtype, transposeB ? std::array{kWidth, kDepth} : std::array{kDepth, kWidth}), b.data()},
        {denseShape(DType::F32, std::array{kWidth, kWidth}), c.data()},
        transposeA,
        transposeB,
        /*accumulate=*/false,
        threads};
    cpu::prepareGemm(call);
    call.scratchPerThread = (cpu::gemmScratchBytes(call) + 63) / 64 * 64;
    std::vector<std::byte> scratch(static_cast<size_t>(call.scratchPerThread * threads.size() + 64));
    call.scratch = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    cpu::gemm(call);
    resetCounters();
    cpu::gemm(call);
    expectOnlyTheLibrarys(GetParam().mode);
  }
}

TEST(AllocationCounter, Counts) {
  resetCounters();
  // Kept from being optimized away.
  std::vector<int> *volatile some = new std::vector<int>(1000);
  delete some;
  Counts counts = own.read();
  EXPECT_EQ(counts.allocations, 2);
  EXPECT_EQ(counts.releases, 2);
  EXPECT_EQ(counts.largest, 4000u);

  resetCounters();
  void *volatile memory = std::malloc(5000);
  std::free(memory);
  memory = std::aligned_alloc(64, 6400);
  std::free(memory);
  counts = own.read();
  EXPECT_EQ(counts.allocations, 2);
  EXPECT_EQ(counts.releases, 2);
  EXPECT_EQ(counts.largest, 6400u);
  EXPECT_EQ(library.read().allocations, 0);
}

} // namespace
} // namespace qrt
