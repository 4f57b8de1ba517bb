// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of small f32 matrices that lie in the cache, on one thread: what the token-mixing kernels are made of. An
// element of the product is one sum over ascending k, whatever the shapes, so its bits depend on nothing but its row of
// A and its column of B.
#ifndef RUNTIME_BACKENDS_CPU_SMALLGEMM_H
#define RUNTIME_BACKENDS_CPU_SMALLGEMM_H

#include "runtime/backends/cpu/Isa.h"

namespace qrt::cpu::QRT_ISA {

/// The right factor and the product are read and written in whole groups of this many columns.
constexpr int64_t kPad = 16;

/// Columns with the padding: `n` rounded up to kPad.
constexpr int64_t padded(int64_t n) { return (n + kPad - 1) / kPad * kPad; }

/// The left factor A [m,k]: element (i, k) at i * ld + k, or at k * ld + i where transposed. Never read outside m x k.
struct LeftFactor {
  const float *data;
  int64_t ld;
  bool transposed = false;
};

/// What is known to be zero, or not asked for. Zeros must be stored as such: the bound is used in steps of a few rows
/// or columns.
enum class Triangle : uint8_t {
  None,
  /// A(i, k) = 0 for k > i.
  LowerA,
  /// A(i, k) = 0 for k < i.
  UpperA,
  /// B(k, j) = 0 for k > j.
  UpperB,
  /// Only C(i, j) with j <= i is needed; the others may keep their old values.
  LowerC,
  /// Only C(i, j) with j >= i is needed.
  UpperC,
};

/// C [m,n] = keep * C + A B, B [k,n]. Columns from n to padded(n) of B are read (they must hold numbers) and those of C
/// written. With keep = 0 C is not read. k = 0 gives keep * C.
void multiply(int64_t m, int64_t n, int64_t k, LeftFactor a, const float *b, int64_t ldb, float keep, float *c,
              int64_t ldc, Triangle triangle = Triangle::None);

/// to [cols, rows] = the transpose of from [rows, cols]. Writes zeros into the columns of `to` from `rows` to
/// padded(rows).
void transpose(int64_t rows, int64_t cols, const float *from, int64_t ldFrom, float *to, int64_t ldTo);

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_SMALLGEMM_H
