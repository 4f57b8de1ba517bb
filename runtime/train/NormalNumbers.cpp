// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/NormalNumbers.h"

#include "runtime/base/Philox.h"

#include <algorithm>
#include <bit>
#include <cassert>

// Lanes of a vector compute what one number alone would: nothing may be contracted to a fused operation, which only
// some processors have.
#pragma STDC FP_CONTRACT OFF

#ifndef __has_feature
#define __has_feature(x) 0
#endif
// A model has thousands of millions of numbers: one copy of the loop for each width of vectors. Sanitizers start before
// the choice between copies can be made.
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !__has_feature(address_sanitizer) &&                               \
    !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer)
#define QRT_VECTOR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define QRT_VECTOR_CLONES
#endif
#define QRT_INLINE [[gnu::always_inline]] inline

namespace qrt {
namespace {

/// Whole numbers below 2^32 as f64: in the bits of 2^52 + n.
QRT_INLINE double doubleOf(uint32_t n) { return std::bit_cast<double>(0x4330000000000000u | uint64_t{n}) - 0x1p52; }

/// The upper 53 of 64 random bits as a number in [0, 1).
QRT_INLINE double uniform(uint32_t low, uint32_t high) {
  return doubleOf(high) * 0x1p-32 + doubleOf(low >> 11) * 0x1p-53;
}

/// The natural logarithm of a normal number in (0, 1], within one unit in the last place: with x = 2^e m and m between
/// sqrt(1/2) and sqrt(2), log m = 2 artanh(s) for s = (m - 1) / (m + 1), whose series in s^2 is cut off where the
/// remaining terms (|s| < 0.1716) are below 2^-58.
QRT_INLINE double logarithm(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  // Adding the distance from sqrt(1/2) to 1 carries into the exponent exactly where m would exceed sqrt(2).
  constexpr uint64_t kHalfRoot = 0x3FE6A09E667F3BCDu, kOne = 0x3FF0000000000000u;
  uint64_t shifted = bits + (kOne - kHalfRoot);
  double exponent = doubleOf(static_cast<uint32_t>(shifted >> 52)) - 1023;
  double m = std::bit_cast<double>((shifted & 0x000FFFFFFFFFFFFFu) + kHalfRoot);
  double f = m - 1, s = f / (2 + f), z = s * s;
  double series = 2.0 / 21;
  series = series * z + 2.0 / 19;
  series = series * z + 2.0 / 17;
  series = series * z + 2.0 / 15;
  series = series * z + 2.0 / 13;
  series = series * z + 2.0 / 11;
  series = series * z + 2.0 / 9;
  series = series * z + 2.0 / 7;
  series = series * z + 2.0 / 5;
  series = series * z + 2.0 / 3;
  // 2 artanh(s) = f - s (f - series z): f is exact, the rest small beside it. ln 2 in two parts, the first with zeros
  // at its end, so that its product with the exponent is exact.
  constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
  return exponent * kLn2High + (f - (s * (f - series * z) - exponent * kLn2Low));
}

struct SineCosine {
  double sine, cosine;
};

/// Of an angle from 0 to 2 pi: the nearest multiple of pi/2 is taken off in three parts, the rest goes into the Taylor
/// series (its first omitted terms are below 2^-58).
QRT_INLINE SineCosine sineCosine(double angle) {
  constexpr double kRound = 0x1.8p52, kTwoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double kHigh = 0x1.921fb54400000p+0, kMiddle = 0x1.0b4611a600000p-34, kLow = 0x1.3198a2e037073p-69;
  double rounded = angle * kTwoOverPi + kRound, quarters = rounded - kRound;
  uint64_t quadrant = std::bit_cast<uint64_t>(rounded);
  double r = angle - quarters * kHigh - quarters * kMiddle - quarters * kLow, z = r * r;
  double sine = -1.0 / 1307674368000;
  sine = sine * z + 1.0 / 6227020800;
  sine = sine * z - 1.0 / 39916800;
  sine = sine * z + 1.0 / 362880;
  sine = sine * z - 1.0 / 5040;
  sine = sine * z + 1.0 / 120;
  sine = sine * z - 1.0 / 6;
  sine = r + r * (z * sine);
  double cosine = 1.0 / 20922789888000;
  cosine = cosine * z - 1.0 / 87178291200;
  cosine = cosine * z + 1.0 / 479001600;
  cosine = cosine * z - 1.0 / 3628800;
  cosine = cosine * z + 1.0 / 40320;
  cosine = cosine * z - 1.0 / 720;
  cosine = cosine * z + 1.0 / 24;
  // What 1 - z / 2 loses by rounding is added again.
  double half = 0.5 * z, most = 1 - half;
  cosine = most + ((1 - most - half) + z * (z * cosine));
  bool swapped = quadrant & 1;
  double s = swapped ? cosine : sine, c = swapped ? sine : cosine;
  auto negated = [](double value, uint64_t sign) {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ sign << 63);
  };
  return {negated(s, quadrant >> 1 & 1), negated(c, (quadrant + 1) >> 1 & 1)};
}

/// Pairs whose words are drawn at once.
constexpr int kBlock = 256;

QRT_VECTOR_CLONES void block(uint64_t seed, uint64_t stream, uint64_t firstPair, double mean, double deviation,
                             float *values) {
  constexpr double kTwoPi = 0x1.921fb54442d18p+2;
  PhiloxKey key = philoxKey(seed);
  for (int i = 0; i < kBlock; ++i) {
    uint64_t pair = firstPair + static_cast<uint64_t>(i);
    PhiloxCounter words;
    // A call would end the vectors.
    [[clang::always_inline]] words = philox4x32({static_cast<uint32_t>(pair), static_cast<uint32_t>(pair >> 32),
                                                 static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
                                                key);
    // 1 - u lies in (0, 1]: its logarithm is finite.
    double radius = __builtin_sqrt(-2 * logarithm(1 - uniform(words[0], words[1])));
    SineCosine of = sineCosine(kTwoPi * uniform(words[2], words[3]));
    values[2 * i] = static_cast<float>(mean + deviation * (radius * of.cosine));
    values[2 * i + 1] = static_cast<float>(mean + deviation * (radius * of.sine));
  }
}

} // namespace

void normalNumbers(uint64_t seed, uint64_t stream, uint64_t firstPair, double mean, double deviation,
                   std::span<float> values) {
  assert(values.size() % 2 == 0 && "numbers come in pairs");
  constexpr size_t kNumbers = 2 * kBlock;
  for (; values.size() >= kNumbers; values = values.subspan(kNumbers), firstPair += kBlock)
    block(seed, stream, firstPair, mean, deviation, values.data());
  if (values.empty())
    return;
  float rest[kNumbers];
  block(seed, stream, firstPair, mean, deviation, rest);
  std::copy_n(rest, values.size(), values.begin());
}

} // namespace qrt
