// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/SmallGemm.h"

namespace qrt::cpu::QRT_ISA {
namespace {

// A tile of C is kRows x (kVectors * kLanes): its sums fill most of the registers, and each step of k reads kVectors
// vectors of B and kRows numbers of A for kRows * kVectors multiply-adds.
#if defined(__AVX512F__)
constexpr int kLanes = 16, kRows = 8, kVectors = 2;
#elif defined(__AVX2__)
constexpr int kLanes = 8, kRows = 6, kVectors = 2;
#else
constexpr int kLanes = 4, kRows = 4, kVectors = 2;
#endif
static_assert(kPad % kLanes == 0);

typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
// The same in memory: without alignment, and beside plain floats.
typedef float VectorInMemory __attribute__((vector_size(kLanes * sizeof(float)), aligned(alignof(float)), may_alias));

inline Vector load(const float *p) { return *reinterpret_cast<const VectorInMemory *>(p); }
inline void store(float *p, Vector v) { *reinterpret_cast<VectorInMemory *>(p) = v; }

template <int Rows, int Vectors, bool TransposedA>
void tile(int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb, float keep, float *c, int64_t ldc) {
  Vector sums[Rows][Vectors] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vector right[Vectors];
    for (int v = 0; v < Vectors; ++v)
      right[v] = load(b + p * ldb + v * kLanes);
    for (int i = 0; i < Rows; ++i) {
      float left = TransposedA ? a[p * lda + i] : a[i * lda + p];
      for (int v = 0; v < Vectors; ++v)
        sums[i][v] += left * right[v];
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < Vectors; ++v) {
      float *at = c + i * ldc + v * kLanes;
      store(at, keep == 0.0f ? sums[i][v] : keep * load(at) + sums[i][v]);
    }
}

struct Product {
  int64_t m, k;
  LeftFactor a;
  const float *b;
  int64_t ldb;
  float keep;
  float *c;
  int64_t ldc;
  Triangle triangle;
};

/// Rows i to i + Rows of the columns j to j + Vectors * kLanes.
template <int Rows, int Vectors> void rowBlock(const Product &p, int64_t i, int64_t j) {
  constexpr int64_t kCols = Vectors * kLanes;
  int64_t begin = 0, end = p.k;
  switch (p.triangle) {
  case Triangle::None:
    break;
  case Triangle::LowerA:
    end = i + Rows < end ? i + Rows : end;
    break;
  case Triangle::UpperA:
    begin = i < end ? i : end;
    break;
  case Triangle::UpperB:
    end = j + kCols < end ? j + kCols : end;
    break;
  case Triangle::LowerC:
    if (j > i + Rows - 1)
      return;
    break;
  case Triangle::UpperC:
    if (j + kCols - 1 < i)
      return;
    break;
  }
  const float *b = p.b + begin * p.ldb + j;
  float *c = p.c + i * p.ldc + j;
  if (p.a.transposed)
    tile<Rows, Vectors, true>(end - begin, p.a.data + begin * p.a.ld + i, p.a.ld, b, p.ldb, p.keep, c, p.ldc);
  else
    tile<Rows, Vectors, false>(end - begin, p.a.data + i * p.a.ld + begin, p.a.ld, b, p.ldb, p.keep, c, p.ldc);
}

/// All rows of the columns from j. A panel of B stays in the first-level cache meanwhile.
template <int Vectors> void panel(const Product &p, int64_t j) {
  int64_t i = 0;
  for (; i + kRows <= p.m; i += kRows)
    rowBlock<kRows, Vectors>(p, i, j);
  if constexpr (kRows > 4)
    if (i + 4 <= p.m) {
      rowBlock<4, Vectors>(p, i, j);
      i += 4;
    }
  if (i + 2 <= p.m) {
    rowBlock<2, Vectors>(p, i, j);
    i += 2;
  }
  if (i < p.m)
    rowBlock<1, Vectors>(p, i, j);
}

} // namespace

void multiply(int64_t m, int64_t n, int64_t k, LeftFactor a, const float *b, int64_t ldb, float keep, float *c,
              int64_t ldc, Triangle triangle) {
  Product product{m, k, a, b, ldb, keep, c, ldc, triangle};
  int64_t cols = padded(n);
  int64_t j = 0;
  for (; j + kVectors * kLanes <= cols; j += kVectors * kLanes)
    panel<kVectors>(product, j);
  // Fewer than kVectors vectors are left only where a vector is as wide as the padding.
  if (j < cols)
    panel<1>(product, j);
}

void transpose(int64_t rows, int64_t cols, const float *from, int64_t ldFrom, float *to, int64_t ldTo) {
  typedef float Four __attribute__((vector_size(16)));
  typedef float FourInMemory __attribute__((vector_size(16), aligned(alignof(float)), may_alias));
  auto load4 = [](const float *p) -> Four { return *reinterpret_cast<const FourInMemory *>(p); };
  auto store4 = [](float *p, Four v) { *reinterpret_cast<FourInMemory *>(p) = v; };
  int64_t wholeRows = rows / 4 * 4, wholeCols = cols / 4 * 4;
  for (int64_t i = 0; i < wholeRows; i += 4) {
    for (int64_t j = 0; j < wholeCols; j += 4) {
      const float *source = from + i * ldFrom + j;
      Four a = load4(source), b = load4(source + ldFrom), c = load4(source + 2 * ldFrom),
           d = load4(source + 3 * ldFrom);
      Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), abHigh = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cdHigh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      float *target = to + j * ldTo + i;
      store4(target, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
      store4(target + ldTo, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
      store4(target + 2 * ldTo, __builtin_shufflevector(abHigh, cdHigh, 0, 1, 4, 5));
      store4(target + 3 * ldTo, __builtin_shufflevector(abHigh, cdHigh, 2, 3, 6, 7));
    }
    for (int64_t j = wholeCols; j < cols; ++j)
      for (int64_t r = i; r < i + 4; ++r)
        to[j * ldTo + r] = from[r * ldFrom + j];
  }
  for (int64_t i = wholeRows; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      to[j * ldTo + i] = from[i * ldFrom + j];
  int64_t paddedRows = padded(rows);
  for (int64_t j = 0; j < cols; ++j)
    for (int64_t i = rows; i < paddedRows; ++i)
      to[j * ldTo + i] = 0.0f;
}

} // namespace qrt::cpu::QRT_ISA
