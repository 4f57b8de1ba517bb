// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels' files are compiled once for each instruction set (QRT_ISA: plain, v3, v4; see CMakeLists.txt), each time
// in a namespace of its own:
//
//   namespace qrt::cpu::QRT_ISA {
//   static void runSwiglu(const Call &call) { ... }
//   const KernelImpl kSwiglu = {runSwiglu};
//   }
//
// CpuKernels.cpp chooses one of them by the processor, once. A header included by such a file may define functions only
// in this namespace, or the linker would merge copies compiled for different processors.
#ifndef RUNTIME_BACKENDS_CPU_ISA_H
#define RUNTIME_BACKENDS_CPU_ISA_H

#include "runtime/backends/cpu/CpuKernel.h"

#ifndef QRT_ISA
#define QRT_ISA plain
#endif

namespace qrt::cpu {

/// What one instruction set provides.
struct IsaTable {
  /// In the order of the catalog.
  const KernelImpl *kernels[kNumKernels];
  /// Conversions of a matrix between bf16 and f32 (Convert.cpp); leading dimensions in elements.
  void (*widenRows)(const uint16_t *x, int64_t ldx, float *y, int64_t ldy, int64_t rows, int64_t cols);
  void (*narrowRows)(const float *x, int64_t ldx, uint16_t *y, int64_t ldy, int64_t rows, int64_t cols);
};

/// The table for this processor.
const IsaTable &isaTable();

namespace QRT_ISA {

extern const IsaTable kTable;

void widenRows(const uint16_t *x, int64_t ldx, float *y, int64_t ldy, int64_t rows, int64_t cols);
void narrowRows(const float *x, int64_t ldx, uint16_t *y, int64_t ldy, int64_t rows, int64_t cols);

#define QRT_KERNEL(Name, text) extern const KernelImpl k##Name;
#include "runtime/kernels/catalog.def"

} // namespace QRT_ISA
} // namespace qrt::cpu

#endif // RUNTIME_BACKENDS_CPU_ISA_H
