// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Digits.h"

#include <fmt/format.h>

namespace qrt {

std::string groupDigits(int64_t number) {
  std::string digits = std::to_string(number), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-')
      text += ',';
    text += digits[i];
  }
  return text;
}

std::string countOf(int64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", groupDigits(number), thing, number == 1 ? "" : "s");
}

std::string printGib(int64_t bytes) { return fmt::format("{:.3f} GiB", static_cast<double>(bytes) / 0x1p30); }

std::string printBytes(int64_t bytes) { return fmt::format("{} ({})", countOf(bytes, "byte"), printGib(bytes)); }

} // namespace qrt
