// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products by oneDNN (see also GemmCall in CpuKernel.h). oneDNN runs on one thread a call; the parallel work is
// ours: C is cut into tiles that do not depend on the number of threads, so neither do the bits.
#ifndef RUNTIME_BACKENDS_CPU_GEMM_H
#define RUNTIME_BACKENDS_CPU_GEMM_H

#include "runtime/backends/cpu/CpuKernel.h"

#include <cstdint>
#include <string>

namespace qrt::cpu {

/// C[m,n] = alpha op(A) op(B) + beta C on the calling thread, f32, row-major, leading dimensions in elements. For use
/// inside a task of a kernel. A is [m,k] ([k,m] if transposed), B is [k,n] ([n,k] if transposed). With beta 0, C is not
/// read.
void sgemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
           const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

/// How bf16 matrices are multiplied: by the processor's own instructions, or widened to f32 tile by tile. Both add up
/// in f32.
enum class Bf16Mode { Native, Widened };
/// Whether this processor and oneDNN can do Native.
bool nativeBf16Supported();
/// Native where supported, unless set otherwise.
Bf16Mode bf16Mode();
/// Between calls only: scratch sizes depend on it. Native must be supported.
void setBf16Mode(Bf16Mode mode);

/// Makes what products keep for each thread of the pool.
void prepareThreads(ThreadPool &threads);

/// Makes what `gemm` keeps for calls of this shape (data is not read). After this and prepareThreads() a call allocates
/// nothing itself. oneDNN does: for each tile it takes a buffer for parts of the operands, and with Native some small
/// tables, and gives them back before the tile is done (tests/unit/runtime/executor/AllocationTest.cpp bounds both).
void prepareGemm(const GemmCall &call);

/// For the line at start-up: "2 threads, AVX-512".
std::string cpuDescription(int threads);
/// And where there are bf16 tensors: "bf16 products native", "bf16 products widened to f32".
std::string cpuBf16Description();

} // namespace qrt::cpu

#endif // RUNTIME_BACKENDS_CPU_GEMM_H
