// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options as text: the part of TOML that they need, `key = value` a line, without sections.
#ifndef TOOLS_QRUN_OPTIONSTEXT_H
#define TOOLS_QRUN_OPTIONSTEXT_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

/// A value as it was written: text without its quotes, or the letters of a number, `true` or `false`.
struct OptionValue {
  enum class Kind { Text, Number, Boolean };
  Kind kind = Kind::Text;
  std::string text;

  bool operator==(const OptionValue &) const = default;
};

struct OptionEntry {
  /// Of the text, from 1.
  int64_t line = 0;
  std::string key;
  /// One, or those of a list: at least one.
  std::vector<OptionValue> values;

  bool operator==(const OptionEntry &) const = default;
};

/// The entries in their order. InvalidUsage, naming `source`, the line and the key: what is not in this part of TOML,
/// and a key that is there twice.
StatusOr<std::vector<OptionEntry>> parseOptionsText(std::string_view text, const std::string &source);

/// One entry as a line; parseOptionsText reads it back.
std::string printOption(const std::string &key, const std::vector<OptionValue> &values);

} // namespace qrt

#endif // TOOLS_QRUN_OPTIONSTEXT_H
