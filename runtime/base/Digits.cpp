// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Digits.h"

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

} // namespace qrt
