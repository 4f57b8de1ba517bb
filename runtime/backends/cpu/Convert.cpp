// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/VectorMath.h"

namespace qrt::cpu::QRT_ISA {

void widenRows(const uint16_t *x, int64_t ldx, float *y, int64_t ldy, int64_t rows, int64_t cols) {
  for (int64_t row = 0; row < rows; ++row)
    widen(reinterpret_cast<const BF16 *>(x + row * ldx), y + row * ldy, cols);
}

void narrowRows(const float *x, int64_t ldx, uint16_t *y, int64_t ldy, int64_t rows, int64_t cols) {
  for (int64_t row = 0; row < rows; ++row)
    narrow(x + row * ldx, reinterpret_cast<BF16 *>(y + row * ldy), cols);
}

} // namespace qrt::cpu::QRT_ISA
