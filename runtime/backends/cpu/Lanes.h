// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over rows of tiles, whose length is a small multiple of kPad (SmallGemm.h).
#ifndef RUNTIME_BACKENDS_CPU_LANES_H
#define RUNTIME_BACKENDS_CPU_LANES_H

#include "runtime/backends/cpu/SmallGemm.h"
#include "runtime/backends/cpu/VectorMath.h"

/// Before a loop over such a row. Left to itself the compiler makes a loop of four vectors a step, which a row of 16 or
/// 32 never enters.
#define QRT_ROW_LOOP _Pragma("clang loop interleave_count(1)")

namespace qrt::cpu::QRT_ISA {

/// kPad floats; as many registers as it takes.
typedef float Lanes __attribute__((vector_size(kPad * sizeof(float))));

QRT_INLINE Lanes loadLanes(const float *p) {
  Lanes lanes;
  __builtin_memcpy(&lanes, p, sizeof(lanes));
  return lanes;
}

QRT_INLINE void storeLanes(float *p, Lanes lanes) { __builtin_memcpy(p, &lanes, sizeof(lanes)); }

QRT_INLINE float sumLanes(Lanes lanes) {
  float parts[kPad];
  __builtin_memcpy(parts, &lanes, sizeof(lanes));
  for (int64_t half = kPad / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      parts[i] += parts[i + half];
  return parts[0];
}

/// The sum of a row; `n` a multiple of kPad.
QRT_INLINE float sumRow(const float *x, int64_t n) {
  Lanes sum = {};
  for (int64_t i = 0; i < n; i += kPad)
    sum += loadLanes(x + i);
  return sumLanes(sum);
}

/// The inner product of two rows; `n` a multiple of kPad.
QRT_INLINE float dotRows(const float *x, const float *y, int64_t n) {
  Lanes even = {}, odd = {};
  int64_t i = 0;
  for (; i + 2 * kPad <= n; i += 2 * kPad) {
    even += loadLanes(x + i) * loadLanes(y + i);
    odd += loadLanes(x + i + kPad) * loadLanes(y + i + kPad);
  }
  if (i < n)
    even += loadLanes(x + i) * loadLanes(y + i);
  return sumLanes(even + odd);
}

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_LANES_H
