// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dual numbers: a value and its derivative in one direction. A function evaluated on them gives its directional
// derivative to rounding.
#ifndef DIALECTS_QT_REFERENCE_DUAL_H
#define DIALECTS_QT_REFERENCE_DUAL_H

#include <cmath>

namespace qt::reference {

struct Dual {
  double value = 0;
  double derivative = 0;

  Dual() = default;
  /// A constant.
  Dual(double value) : value(value) {}
  Dual(double value, double derivative) : value(value), derivative(derivative) {}

  Dual &operator+=(Dual b) { return *this = {value + b.value, derivative + b.derivative}; }
  Dual &operator-=(Dual b) { return *this = {value - b.value, derivative - b.derivative}; }
  Dual &operator*=(Dual b) { return *this = {value * b.value, derivative * b.value + value * b.derivative}; }
  Dual &operator/=(Dual b) {
    double quotient = value / b.value;
    return *this = {quotient, (derivative - quotient * b.derivative) / b.value};
  }
  friend Dual operator+(Dual a, Dual b) { return a += b; }
  friend Dual operator-(Dual a, Dual b) { return a -= b; }
  friend Dual operator*(Dual a, Dual b) { return a *= b; }
  friend Dual operator/(Dual a, Dual b) { return a /= b; }
  friend Dual operator-(Dual a) { return {-a.value, -a.derivative}; }
  // Branches go by the value: the derivative is that of the branch taken.
  friend bool operator<(Dual a, Dual b) { return a.value < b.value; }
  friend bool operator>(Dual a, Dual b) { return a.value > b.value; }
};

inline Dual exp(Dual x) {
  double e = std::exp(x.value);
  return {e, e * x.derivative};
}
inline Dual log(Dual x) { return {std::log(x.value), x.derivative / x.value}; }
inline Dual log1p(Dual x) { return {std::log1p(x.value), x.derivative / (1 + x.value)}; }
inline Dual sqrt(Dual x) {
  double root = std::sqrt(x.value);
  // The norm of nothing is a constant zero, not a quotient of zeros.
  return {root, x.derivative == 0 ? 0 : x.derivative / (2 * root)};
}
inline Dual pow(Dual x, double exponent) {
  return {std::pow(x.value, exponent), exponent * std::pow(x.value, exponent - 1) * x.derivative};
}

/// The number without its derivative.
inline double valueOf(double x) { return x; }
inline double valueOf(Dual x) { return x.value; }

} // namespace qt::reference

#endif // DIALECTS_QT_REFERENCE_DUAL_H
