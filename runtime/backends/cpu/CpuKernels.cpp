// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/CpuKernel.h"
#include "runtime/backends/cpu/Isa.h"
#include "runtime/backends/cpu/Processor.h"

namespace qrt::cpu {

// The tables of the other copies of the kernels.
#define QRT_ISA_TABLE(isa)                                                                                             \
  namespace isa {                                                                                                      \
  extern const IsaTable kTable;                                                                                        \
  }
#ifdef QRT_HAS_ISA_v3
QRT_ISA_TABLE(v3)
#endif
#ifdef QRT_HAS_ISA_v4
QRT_ISA_TABLE(v4)
#endif

const IsaTable &isaTable() {
#ifdef QRT_HAS_ISA_v4
  if (processorIsa() >= ProcessorIsa::V4)
    return v4::kTable;
#endif
#ifdef QRT_HAS_ISA_v3
  if (processorIsa() >= ProcessorIsa::V3)
    return v3::kTable;
#endif
  return plain::kTable;
}

const KernelImpl &kernelImpl(Kernel kernel) { return *isaTable().kernels[static_cast<int>(kernel)]; }

} // namespace qrt::cpu
