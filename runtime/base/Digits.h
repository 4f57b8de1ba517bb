// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers for people.
#ifndef RUNTIME_BASE_DIGITS_H
#define RUNTIME_BASE_DIGITS_H

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace qrt {

/// "1,234,567".
std::string groupDigits(int64_t number);

/// "1 document", "2,000 documents": of things whose plural ends in an s.
std::string countOf(int64_t number, std::string_view thing);

/// The same number; NaN without the sign that it may have by chance, which would be printed.
inline double plainNan(double number) { return std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number; }

/// An amount of memory in the one unit that all programs print: "0.004 GiB" of 2^30 bytes.
std::string printGib(int64_t bytes);

/// The exact amount too: "4,819,968 bytes (0.004 GiB)".
std::string printBytes(int64_t bytes);

} // namespace qrt

#endif // RUNTIME_BASE_DIGITS_H
