// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products (see also GemmCall in CpuKernel.h): by oneDNN, one thread a call; the parallel work is ours.
#ifndef RUNTIME_BACKENDS_CPU_GEMM_H
#define RUNTIME_BACKENDS_CPU_GEMM_H

#include <cstdint>

namespace qrt::cpu {

/// C[m,n] = alpha op(A) op(B) + beta C on the calling thread, f32, row-major, leading dimensions in elements. For use
/// inside a task of a kernel. A is [m,k] ([k,m] if transposed), B is [k,n] ([n,k] if transposed). With beta 0, C is not
/// read.
void sgemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
           const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

} // namespace qrt::cpu

#endif // RUNTIME_BACKENDS_CPU_GEMM_H
