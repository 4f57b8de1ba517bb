// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar functions and small sums that several ops share, over doubles and duals alike.
#ifndef DIALECTS_QT_REFERENCE_FUNCTIONS_H
#define DIALECTS_QT_REFERENCE_FUNCTIONS_H

#include "dialects/qt/reference/Dual.h"
#include "dialects/qt/reference/Tensor.h"

#include <cmath>
#include <limits>

namespace qt::reference {

using std::exp;
using std::log;
using std::log1p;
using std::sqrt;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// 1 / (1 + e^-x), without overflow.
template <typename Scalar> Scalar sigmoid(Scalar x) {
  if (x < Scalar(0)) {
    Scalar e = exp(x);
    return e / (Scalar(1) + e);
  }
  return Scalar(1) / (Scalar(1) + exp(-x));
}

template <typename Scalar> Scalar silu(Scalar x) { return x * sigmoid(x); }

/// The derivative of silu.
template <typename Scalar> Scalar siluSlope(Scalar x) {
  Scalar s = sigmoid(x);
  return s * (Scalar(1) + x * (Scalar(1) - s));
}

/// log(1 + e^x), without overflow.
template <typename Scalar> Scalar softplus(Scalar x) { return x > Scalar(0) ? x + log1p(exp(-x)) : log1p(exp(x)); }

template <typename Scalar> Scalar dot(const Scalar *a, const Scalar *b, int64_t n) {
  Scalar sum(0);
  for (int64_t i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}

/// y += factor * x.
template <typename Scalar> void addScaled(Scalar *y, Scalar factor, const Scalar *x, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] += factor * x[i];
}

/// 1 / sqrt(mean(x^2) + eps).
template <typename Scalar> Scalar reciprocalRms(const Scalar *x, int64_t n, double eps) {
  return Scalar(1) / sqrt(dot(x, x, n) / Scalar(static_cast<double>(n)) + Scalar(eps));
}

/// log(sum(e^x)); minus infinity where every x is.
template <typename Scalar> Scalar logSumExp(const Scalar *x, int64_t n) {
  Scalar greatest(kMinusInfinity);
  for (int64_t i = 0; i < n; ++i)
    if (x[i] > greatest)
      greatest = x[i];
  if (!(greatest > Scalar(kMinusInfinity)))
    return greatest;
  Scalar sum(0);
  for (int64_t i = 0; i < n; ++i)
    sum += exp(x[i] - greatest);
  return greatest + log(sum);
}

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_FUNCTIONS_H
