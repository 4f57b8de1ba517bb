// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMSNorm with zero-centred weight, of a row in pieces (docs/model.md, Forward). Gradients, with n = x rstd and g = dy
// (1 + weight): dx = rstd (g - n mean(g n)), dweight = sum over rows of dy n.
#ifndef RUNTIME_BACKENDS_CPU_NORMROW_H
#define RUNTIME_BACKENDS_CPU_NORMROW_H

#include "runtime/backends/cpu/Rows.h"

#include <cmath>

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

/// y = x rstd (1 + weight).
QRT_INLINE void scalePiece(const float *__restrict x, const float *__restrict weight, float rstd, float *__restrict y,
                           int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i] * rstd * (1.0f + weight[i]);
}

/// sum(g x).
QRT_INLINE float project(const float *__restrict x, const float *__restrict weight, const float *__restrict dy,
                         int64_t n) {
#pragma clang fp reassociate(on)
  float total = 0;
  for (int64_t i = 0; i < n; ++i)
    total += dy[i] * (1.0f + weight[i]) * x[i];
  return total;
}

/// What dx takes from x: rstd mean(g n) rstd, from sum(g x) of the row.
QRT_INLINE float slopeOf(double projection, float rstd, int64_t cols) {
  return static_cast<float>(projection * rstd / static_cast<double>(cols)) * rstd * rstd;
}

/// dx = rstd g - slope x, and dy n for the weight's sums.
QRT_INLINE void gradientPiece(const float *__restrict x, const float *__restrict weight, const float *__restrict dy,
                              float rstd, float slope, float *__restrict sums, float *__restrict dx, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float scaled = dy[i] * rstd;
    sums[i] += scaled * x[i];
    dx[i] = scaled * (1.0f + weight[i]) - slope * x[i];
  }
}

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_NORMROW_H
