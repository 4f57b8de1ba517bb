// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Isa.h"

namespace qrt::cpu::QRT_ISA {

constexpr IsaTable kTable = {
    {
#define QRT_KERNEL(Name, text) &k##Name,
#include "runtime/kernels/catalog.def"
    },
    widenRows,
    narrowRows,
};

} // namespace qrt::cpu::QRT_ISA
