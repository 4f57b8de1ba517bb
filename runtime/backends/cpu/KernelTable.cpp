// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Isa.h"

namespace qrt::cpu::QRT_ISA {

static constexpr bool isWritten(Kernel kernel) {
#define QRT_UNWRITTEN(Name)                                                                                            \
  if (kernel == Kernel::Name)                                                                                          \
    return false;
#include "runtime/backends/cpu/Unwritten.def"
#undef QRT_UNWRITTEN
  return true;
}

constexpr IsaTable kTable = {
    {
#define QRT_KERNEL(Name, text) isWritten(Kernel::Name) ? &k##Name : nullptr,
#include "runtime/kernels/catalog.def"
    },
    widenRows,
    narrowRows,
};

} // namespace qrt::cpu::QRT_ISA
