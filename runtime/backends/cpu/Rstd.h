// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CPU_RSTD_H
#define RUNTIME_BACKENDS_CPU_RSTD_H

#include <cmath>

#include "runtime/backends/cpu/Rows.h"

namespace qrt::cpu::QRT_ISA {

/// 1 / sqrt(mean(x^2) + eps) of a row.
QRT_INLINE float rstdOfRow(const Rows &x, int64_t row, double eps) {
  double squares = 0;
  forBlocks(x.cols(), [&](int64_t col, int64_t n) {
    Buffer buffer;
    const float *values = x.read(row, col, n, buffer);
    squares += dot(values, values, n);
  });
  return static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(x.cols()) + eps));
}

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_RSTD_H
