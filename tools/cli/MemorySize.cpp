// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/cli/MemorySize.h"

#include <charconv>
#include <utility>

namespace qrt {

StatusOr<int64_t> parseMemory(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"GB", 1e9}, {"MB", 1e6}, {"", 1}};
  for (auto [unit, size] : kUnits) {
    if (!text.ends_with(unit))
      continue;
    std::string_view number = text.substr(0, text.size() - unit.size());
    while (number.ends_with(' '))
      number.remove_suffix(1);
    double value = 0;
    auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (code == std::errc() && end == number.data() + number.size() && value > 0 && value * size < 0x1p62)
      return static_cast<int64_t>(value * size);
  }
  return error(StatusCode::InvalidUsage, "--memory: expected an amount like 80GiB or 141GB, got '{}'", text);
}

} // namespace qrt
