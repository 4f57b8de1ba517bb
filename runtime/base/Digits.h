// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BASE_DIGITS_H
#define RUNTIME_BASE_DIGITS_H

#include <cstdint>
#include <string>

namespace qrt {

/// A number for people: "1,234,567".
std::string groupDigits(int64_t number);

} // namespace qrt

#endif // RUNTIME_BASE_DIGITS_H
