// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Gemm.h"

#include "runtime/backends/cpu/Isa.h"
#include "runtime/backends/cpu/Processor.h"
#include "runtime/base/Digits.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <compare>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

extern "C" void omp_set_num_threads(int);

namespace qrt::cpu {
namespace {

/// oneDNN would start threads of its own under each of ours: the setting is one of the calling thread.
void makeSequential() {
  static thread_local bool done = false;
  if (!done)
    omp_set_num_threads(1);
  done = true;
}

/// oneDNN refuses only calls that this file got wrong, or for want of memory: going on would give a wrong result in
/// silence.
void check(dnnl_status_t status) {
  if (status == dnnl_success)
    return;
  std::fprintf(stderr, "oneDNN refused a matrix product: status %d\n", static_cast<int>(status));
  std::abort();
}

dnnl_engine_t engine() {
  static const dnnl_engine_t engine = [] {
    dnnl_engine_t result = nullptr;
    check(dnnl_engine_create(&result, dnnl_cpu, 0));
    return result;
  }();
  return engine;
}

dnnl_stream_t stream() {
  struct Owner {
    dnnl_stream_t stream = nullptr;
    Owner() { check(dnnl_stream_create(&stream, engine(), dnnl_stream_default_flags)); }
    ~Owner() { dnnl_stream_destroy(stream); }
  };
  static thread_local const Owner owner;
  return owner.stream;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

struct Tiling {
  int64_t rows, cols;   // of a tile; the last of a row or column may be smaller
  int64_t down, across; // tiles

  int64_t count() const { return down * across; }
};

/// Large tiles reuse most (512 x 512 reaches 95 % of one undivided product); a small C is cut further, to give threads
/// something to share. Measured with tools/bench/gemm.
Tiling tilingOf(int64_t m, int64_t n) {
  constexpr int64_t kLargest = 512, kSmallest = 128, kTiles = 16;
  int64_t rows = std::min(m, kLargest), cols = std::min(n, kLargest);
  while (ceilDiv(m, rows) * ceilDiv(n, cols) < kTiles && std::max(rows, cols) > kSmallest)
    (rows > cols ? rows : cols) = std::max(kSmallest, std::max(rows, cols) / 2);
  // The same number of tiles of more even sizes, whole vectors wide.
  rows = std::min(m, roundUp(ceilDiv(m, ceilDiv(m, rows)), 16));
  cols = std::min(n, roundUp(ceilDiv(n, ceilDiv(n, cols)), 64));
  return {rows, cols, ceilDiv(m, rows), ceilDiv(n, cols)};
}

/// Terms of the sum that are widened at a time.
constexpr int64_t kWidenedDepth = 1024;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

struct Shape {
  bool bf16, bf16Out, transposeA, transposeB, accumulate;
  int64_t m, n, k, lda, ldb, ldc;

  auto operator<=>(const Shape &) const = default;
};

Shape shapeOf(const GemmCall &call) {
  const TensorShape &a = call.a.shape, &b = call.b.shape, &c = call.c.shape;
  assert(a.rank == 2 && b.rank == 2 && c.rank == 2 && "matrices");
  assert(a.strides[1] == 1 && b.strides[1] == 1 && c.strides[1] == 1 && "rows are contiguous");
  assert(a.dtype == b.dtype && "operands of one type");
  Shape s;
  s.bf16 = a.dtype == DType::BF16;
  s.bf16Out = c.dtype == DType::BF16;
  s.transposeA = call.transposeA;
  s.transposeB = call.transposeB;
  s.accumulate = call.accumulate;
  s.m = c.dims[0];
  s.n = c.dims[1];
  s.k = a.dims[call.transposeA ? 0 : 1];
  // A matrix of one row may come with any stride.
  s.lda = std::max(a.strides[0], a.dims[1]);
  s.ldb = std::max(b.strides[0], b.dims[1]);
  s.ldc = std::max(c.strides[0], c.dims[1]);
  assert(a.dims[call.transposeA ? 1 : 0] == s.m && b.dims[call.transposeB ? 0 : 1] == s.n &&
         b.dims[call.transposeB ? 1 : 0] == s.k && "shapes of A, B and C do not fit");
  assert((s.bf16 || !s.bf16Out) && "a product of f32 matrices is f32");
  assert(!(s.accumulate && s.bf16Out) && "what is accumulated into is f32");
  return s;
}

/// First element of op(A)'s row i from column p, and of op(B)'s column j from row p.
int64_t offsetA(const Shape &s, int64_t i, int64_t p) { return s.transposeA ? p * s.lda + i : i * s.lda + p; }
int64_t offsetB(const Shape &s, int64_t p, int64_t j) { return s.transposeB ? j * s.ldb + p : p * s.ldb + j; }

//===----------------------------------------------------------------------===//
// bf16 products by the processor
//===----------------------------------------------------------------------===//

dnnl_memory_desc_t describe(bool bf16, int64_t rows, int64_t cols, int64_t rowStride, int64_t colStride) {
  dnnl_memory_desc_t desc;
  dnnl_dims_t dims = {rows, cols}, strides = {rowStride, colStride};
  check(dnnl_memory_desc_init_by_strides(&desc, 2, dims, bf16 ? dnnl_bf16 : dnnl_f32, strides));
  return desc;
}

/// The product of a tile of one size, and for each thread the handles that are pointed at its operands.
class TileProduct {
public:
  TileProduct() = default;
  TileProduct(const TileProduct &) = delete;
  TileProduct &operator=(const TileProduct &) = delete;
  ~TileProduct() {
    for (Handles &h : handles_)
      for (dnnl_memory_t memory : {h.a, h.b, h.c, h.scratch})
        dnnl_memory_destroy(memory);
    dnnl_primitive_destroy(primitive_);
  }

  dnnl_status_t create(const Shape &s, int64_t rows, int64_t cols, int threads) {
    makeSequential();
    dnnl_memory_desc_t a = describe(true, rows, s.k, s.transposeA ? 1 : s.lda, s.transposeA ? s.lda : 1);
    dnnl_memory_desc_t b = describe(true, s.k, cols, s.transposeB ? 1 : s.ldb, s.transposeB ? s.ldb : 1);
    dnnl_memory_desc_t c = describe(s.bf16Out, rows, cols, s.ldc, 1);
    dnnl_matmul_desc_t desc;
    dnnl_primitive_attr_t attr = nullptr;
    dnnl_post_ops_t postOps = nullptr;
    dnnl_primitive_desc_t primitiveDesc = nullptr;
    check(dnnl_primitive_attr_create(&attr));
    check(dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user));
    if (s.accumulate) {
      check(dnnl_post_ops_create(&postOps));
      check(dnnl_post_ops_append_sum(postOps, 1.0f));
      check(dnnl_primitive_attr_set_post_ops(attr, postOps));
    }
    dnnl_status_t status = dnnl_matmul_desc_init(&desc, &a, &b, nullptr, &c);
    if (status == dnnl_success)
      status = dnnl_primitive_desc_create(&primitiveDesc, &desc, attr, engine(), nullptr);
    if (status == dnnl_success)
      status = dnnl_primitive_create(&primitive_, primitiveDesc);
    if (status == dnnl_success) {
      const dnnl_memory_desc_t *scratch = dnnl_primitive_desc_query_md(primitiveDesc, dnnl_query_scratchpad_md, 0);
      scratchBytes_ = static_cast<int64_t>(dnnl_memory_desc_get_size(scratch));
      handles_.resize(threads);
      for (Handles &h : handles_) {
        check(dnnl_memory_create(&h.a, &a, engine(), DNNL_MEMORY_NONE));
        check(dnnl_memory_create(&h.b, &b, engine(), DNNL_MEMORY_NONE));
        check(dnnl_memory_create(&h.c, &c, engine(), DNNL_MEMORY_NONE));
        check(dnnl_memory_create(&h.scratch, scratch, engine(), DNNL_MEMORY_NONE));
      }
    }
    dnnl_primitive_desc_destroy(primitiveDesc);
    dnnl_post_ops_destroy(postOps);
    dnnl_primitive_attr_destroy(attr);
    return status;
  }

  int64_t scratchBytes() const { return scratchBytes_; }

  void run(int thread, void *a, void *b, void *c, void *scratch) const {
    const Handles &h = handles_[thread];
    check(dnnl_memory_set_data_handle(h.a, a));
    check(dnnl_memory_set_data_handle(h.b, b));
    check(dnnl_memory_set_data_handle(h.c, c));
    check(dnnl_memory_set_data_handle(h.scratch, scratch));
    dnnl_exec_arg_t args[] = {
        {DNNL_ARG_SRC, h.a}, {DNNL_ARG_WEIGHTS, h.b}, {DNNL_ARG_DST, h.c}, {DNNL_ARG_SCRATCHPAD, h.scratch}};
    check(dnnl_primitive_execute(primitive_, stream(), 4, args));
  }

private:
  struct Handles {
    dnnl_memory_t a = nullptr, b = nullptr, c = nullptr, scratch = nullptr;
  };
  dnnl_primitive_t primitive_ = nullptr;
  std::vector<Handles> handles_;
  int64_t scratchBytes_ = 0;
};

/// The tile products of one shape: inner tiles, and those at the lower and right edge.
struct NativePlan {
  Tiling tiling;
  TileProduct products[2][2];
  int64_t scratchBytes = 0;

  NativePlan(const Shape &s, int threads) : tiling(tilingOf(s.m, s.n)) {
    int64_t lastRows = s.m - (tiling.down - 1) * tiling.rows, lastCols = s.n - (tiling.across - 1) * tiling.cols;
    for (int lower = 0; lower < 2; ++lower) {
      for (int right = 0; right < 2; ++right) {
        if ((!lower && tiling.down == 1) || (!right && tiling.across == 1))
          continue;
        TileProduct &product = products[lower][right];
        check(product.create(s, lower ? lastRows : tiling.rows, right ? lastCols : tiling.cols, threads));
        scratchBytes = std::max(scratchBytes, product.scratchBytes());
      }
    }
  }
  const TileProduct &product(int64_t down, int64_t across) const {
    return products[down + 1 == tiling.down][across + 1 == tiling.across];
  }
};

/// Plans live as long as the process: a program's shapes are few. A pool has its own, since its threads' handles are in
/// them.
const NativePlan &nativePlan(const Shape &shape, const ThreadPool &threads) {
  using Key = std::tuple<const ThreadPool *, int, Shape>;
  static std::mutex mutex;
  static auto &plans = *new std::map<Key, std::unique_ptr<NativePlan>>();
  std::lock_guard lock(mutex);
  std::unique_ptr<NativePlan> &plan = plans[{&threads, threads.size(), shape}];
  if (!plan)
    plan = std::make_unique<NativePlan>(shape, threads.size());
  return *plan;
}

std::atomic<Bf16Mode> &modeSetting() {
  static std::atomic<Bf16Mode> mode = nativeBf16Supported() ? Bf16Mode::Native : Bf16Mode::Widened;
  return mode;
}

} // namespace

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

void sgemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
           const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  makeSequential();
  check(dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}

bool nativeBf16Supported() {
  static const bool supported = [] {
    if (!processorHasBf16())
      return false;
    TileProduct probe;
    return probe.create({true, true, false, true, false, 16, 16, 16, 16, 16, 16}, 16, 16, 1) == dnnl_success;
  }();
  return supported;
}

Bf16Mode bf16Mode() { return modeSetting(); }

void setBf16Mode(Bf16Mode mode) {
  assert((mode == Bf16Mode::Widened || nativeBf16Supported()) && "this processor has no bf16 products");
  modeSetting() = mode;
}

void prepareThreads(ThreadPool &threads) {
  std::atomic<int> arrived{0};
  threads.forEach(threads.size(), [&](int64_t, int) {
    makeSequential();
    stream();
    // A thread that waits takes no second task: each gets one.
    ++arrived;
    while (arrived < threads.size())
      std::this_thread::yield();
  });
}

static bool isNative(const Shape &shape) { return shape.bf16 && bf16Mode() == Bf16Mode::Native; }

void prepareGemm(const GemmCall &call) {
  Shape shape = shapeOf(call);
  if (isNative(shape) && shape.m && shape.n && shape.k)
    nativePlan(shape, call.threads);
}

int64_t gemmScratchBytes(const GemmCall &call) {
  Shape shape = shapeOf(call);
  if (!shape.bf16 || !shape.m || !shape.n || !shape.k)
    return 0;
  if (isNative(shape))
    return nativePlan(shape, call.threads).scratchBytes;
  Tiling tiling = tilingOf(shape.m, shape.n);
  int64_t depth = std::min(shape.k, kWidenedDepth);
  int64_t floats = roundUp(tiling.rows * depth, 16) + roundUp(tiling.cols * depth, 16) +
                   (shape.bf16Out ? tiling.rows * tiling.cols : 0);
  return floats * static_cast<int64_t>(sizeof(float));
}

static void clear(const Shape &s, void *c) {
  int64_t bytes = s.bf16Out ? 2 : 4;
  for (int64_t i = 0; i < s.m; ++i)
    std::memset(static_cast<char *>(c) + i * s.ldc * bytes, 0, s.n * bytes);
}

void gemm(const GemmCall &call) {
  Shape s = shapeOf(call);
  if (!s.m || !s.n)
    return;
  if (!s.k) {
    if (!s.accumulate)
      clear(s, call.c.data);
    return;
  }
  assert(call.scratchPerThread >= gemmScratchBytes(call) && "scratch of gemmScratchBytes() for each thread");
  const Tiling tiling = tilingOf(s.m, s.n);
  const NativePlan *native = isNative(s) ? &nativePlan(s, call.threads) : nullptr;
  const IsaTable &isa = isaTable();

  call.threads.forEach(tiling.count(), [&](int64_t tile, int thread) {
    makeSequential();
    int64_t down = tile / tiling.across, across = tile % tiling.across;
    int64_t i = down * tiling.rows, j = across * tiling.cols;
    int64_t rows = std::min(tiling.rows, s.m - i), cols = std::min(tiling.cols, s.n - j);
    if (!s.bf16) {
      sgemm(s.transposeA, s.transposeB, rows, cols, s.k, 1.0f, call.a.as<float>() + offsetA(s, i, 0), s.lda,
            call.b.as<float>() + offsetB(s, 0, j), s.ldb, s.accumulate ? 1.0f : 0.0f,
            call.c.as<float>() + i * s.ldc + j, s.ldc);
      return;
    }
    uint16_t *a = call.a.as<uint16_t>(), *b = call.b.as<uint16_t>();
    std::byte *scratch = call.scratch + thread * call.scratchPerThread;
    if (native) {
      void *c = s.bf16Out ? static_cast<void *>(call.c.as<uint16_t>() + i * s.ldc + j)
                          : static_cast<void *>(call.c.as<float>() + i * s.ldc + j);
      native->product(down, across).run(thread, a + offsetA(s, i, 0), b + offsetB(s, 0, j), c, scratch);
      return;
    }
    int64_t depth = std::min(s.k, kWidenedDepth);
    float *wideA = reinterpret_cast<float *>(scratch);
    float *wideB = wideA + roundUp(tiling.rows * depth, 16);
    float *wideC = wideB + roundUp(tiling.cols * depth, 16);
    float *c = s.bf16Out ? wideC : call.c.as<float>() + i * s.ldc + j;
    int64_t ldc = s.bf16Out ? cols : s.ldc;
    for (int64_t p = 0; p < s.k; p += depth) {
      int64_t terms = std::min(depth, s.k - p);
      int64_t lda = s.transposeA ? rows : terms, ldb = s.transposeB ? terms : cols;
      isa.widenRows(a + offsetA(s, i, p), s.lda, wideA, lda, s.transposeA ? terms : rows, lda);
      isa.widenRows(b + offsetB(s, p, j), s.ldb, wideB, ldb, s.transposeB ? cols : terms, ldb);
      sgemm(s.transposeA, s.transposeB, rows, cols, terms, 1.0f, wideA, lda, wideB, ldb,
            p || s.accumulate ? 1.0f : 0.0f, c, ldc);
    }
    if (s.bf16Out)
      isa.narrowRows(wideC, cols, call.c.as<uint16_t>() + i * s.ldc + j, s.ldc, rows, cols);
  });
}

std::string cpuDescription(int threads) {
  const char *isa = "baseline vectors";
#if defined(__x86_64__)
  isa = processorIsa() == ProcessorIsa::V4 ? "AVX-512" : processorIsa() == ProcessorIsa::V3 ? "AVX2" : "SSE2";
#endif
  return fmt::format("{}, {}", countOf(threads, "thread"), isa);
}

std::string cpuBf16Description() {
  return bf16Mode() == Bf16Mode::Native ? "bf16 products native" : "bf16 products widened to f32";
}

} // namespace qrt::cpu
