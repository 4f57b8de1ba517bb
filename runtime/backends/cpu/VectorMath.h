// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions on floats without branches or calls, so that a plain loop over them is vectorized; a few
// units in the last place (VectorMathTest). Loops that add up need `#pragma clang fp reassociate(on)` as the first line
// of their block to be vectorized: sum() and its neighbours have it.
#ifndef RUNTIME_BACKENDS_CPU_VECTORMATH_H
#define RUNTIME_BACKENDS_CPU_VECTORMATH_H

#include "runtime/backends/cpu/Isa.h"
#include "runtime/base/BFloat16.h"

#include <bit>
#include <cstdint>

#define QRT_INLINE [[gnu::always_inline]] static inline

namespace qrt::cpu::QRT_ISA {

/// A bfloat16 as it is stored.
struct BF16 {
  uint16_t bits;
};

QRT_INLINE float toFloat(BF16 x) { return f32FromBF16(x.bits); }
QRT_INLINE BF16 toBF16(float x) { return {bf16FromF32(x)}; }

/// e^x. Overflows to infinity above 88.73, is zero below -104, denormals included in between.
QRT_INLINE float fastExp(float x) {
  // Clamped so that both factors of 2^n below stay normal numbers; written so that NaN passes.
  x = x < -105.0f ? -105.0f : x;
  x = x > 90.0f ? 90.0f : x;
  // n = round(x / ln 2): adding 1.5 * 2^23 leaves the integer in the low bits of the mantissa.
  constexpr float kMagic = 12582912.0f;
  float shifted = x * 1.44269504f + kMagic;
  int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kMagic);
  float nf = shifted - kMagic;
  // r = x - n ln 2 in two steps; the first product is exact.
  float r = (x - nf * 0.693359375f) + nf * 2.12194440e-4f;
  // e^r = 1 + r + r^2 p(r) on [-ln 2 / 2, ln 2 / 2]; p interpolates at Chebyshev's points, error 8e-9 of e^r.
  float p = 1.392621314e-03f;
  p = p * r + 8.363203146e-03f;
  p = p * r + 4.166655615e-02f;
  p = p * r + 1.666657627e-01f;
  p = p * r + 5.000000000e-01f;
  float y = 1.0f + (r + (r * r) * p);
  int32_t half = n >> 1;
  float scale1 = std::bit_cast<float>((half + 127) << 23);
  float scale2 = std::bit_cast<float>((n - half + 127) << 23);
  return y * scale1 * scale2;
}

/// 1 / (1 + e^-x).
QRT_INLINE float fastSigmoid(float x) { return 1.0f / (1.0f + fastExp(-x)); }

/// x * sigmoid(x).
QRT_INLINE float fastSilu(float x) { return x / (1.0f + fastExp(-x)); }

/// log(1 + u) for u in [0, 1].
QRT_INLINE float fastLog1pUnit(float u) {
  // 2 artanh(s) = 2 s (1 + w p(w)), s = u / (2 + u) in [0, 1/3], w = s^2; error 2e-8 of the whole.
  float s = u / (2.0f + u);
  float w = s * s;
  float p = 1.342601329e-01f;
  p = p * w + 1.411827356e-01f;
  p = p * w + 2.000378221e-01f;
  p = p * w + 3.333331943e-01f;
  float twice = s + s;
  return twice + twice * (w * p);
}

/// log(1 + e^x).
QRT_INLINE float fastSoftplus(float x) {
  float magnitude = x < 0.0f ? -x : x;
  float positive = x < 0.0f ? 0.0f : x;
  return positive + fastLog1pUnit(fastExp(-magnitude));
}

/// sin and cos of an angle below 2^20 in magnitude, which is reduced in double so that large positions lose nothing.
QRT_INLINE void fastSinCos(double angle, float &sine, float &cosine) {
  // k = round(angle * 2 / pi), r = angle - k pi / 2 in two steps.
  constexpr double kMagic = 6755399441055744.0;
  double shifted = angle * 0.63661977236758134308 + kMagic;
  int64_t k = std::bit_cast<int64_t>(shifted);
  double kf = shifted - kMagic;
  float r = static_cast<float>((angle - kf * 1.5707963267341256142) - kf * 6.0771005065061922e-11);
  float w = r * r;
  // sin r = r + r w p(w), cos r = 1 - w / 2 + w^2 q(w), w = r^2, |r| <= pi / 4; errors 1.2e-8.
  float s = -1.958763896e-04f;
  s = s * w + 8.332747035e-03f;
  s = s * w - 1.666666418e-01f;
  s = r + r * (w * s);
  float c = 2.454768946e-05f;
  c = c * w - 1.388830133e-03f;
  c = c * w + 4.166666418e-02f;
  c = (1.0f - 0.5f * w) + (w * w) * c;
  bool swap = k & 1;
  float sineOut = swap ? c : s;
  float cosineOut = swap ? s : c;
  sine = k & 2 ? -sineOut : sineOut;
  cosine = (k + 1) & 2 ? -cosineOut : cosineOut;
}

QRT_INLINE float sum(const float *x, int64_t n) {
#pragma clang fp reassociate(on)
  float total = 0;
  for (int64_t i = 0; i < n; ++i)
    total += x[i];
  return total;
}

QRT_INLINE float dot(const float *x, const float *y, int64_t n) {
#pragma clang fp reassociate(on)
  float total = 0;
  for (int64_t i = 0; i < n; ++i)
    total += x[i] * y[i];
  return total;
}

/// The largest of `initial` and n values, without NaN.
QRT_INLINE float largest(const float *x, int64_t n, float initial) {
  // In lanes, because a comparison is not a reduction that the compiler may reorder.
  constexpr int64_t kLanes = 32;
  float lanes[kLanes];
  for (int64_t j = 0; j < kLanes; ++j)
    lanes[j] = initial;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j)
      lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  float best = initial;
  for (; i < n; ++i)
    best = x[i] > best ? x[i] : best;
  for (int64_t j = 0; j < kLanes; ++j)
    best = lanes[j] > best ? lanes[j] : best;
  return best;
}

QRT_INLINE void widen(const BF16 *__restrict x, float *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = toFloat(x[i]);
}

QRT_INLINE void narrow(const float *__restrict x, BF16 *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = toBF16(x[i]);
}

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_VECTORMATH_H
