// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options with a number, read strictly: decimal digits of the type's range. The library alone would take -1 for a huge
// number without a sign, 010 for eight, and what does not fit for the greatest that does.
#ifndef TOOLS_CLI_NUMBERS_H
#define TOOLS_CLI_NUMBERS_H

#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>

namespace qrt {

/// Reads a number of type T. What is wrong with the text; empty: nothing.
template <typename T> std::string readNumber(const std::string &text, T &number) {
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc() && end == text.data() + text.size())
    return std::string();
  std::string expected = std::floating_point<T> ? "a number" : "a whole number";
  if (std::unsigned_integral<T>)
    expected += " of at least 0";
  if (code == std::errc::result_out_of_range)
    expected = std::floating_point<T> ? "a number that 64 bits can hold"
                                      : fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                                                    std::numeric_limits<T>::max());
  return fmt::format("expected {}, got '{}'", expected, text);
}

/// Adds an option with one number; T may be optional: then it has no value before it is given one.
template <typename T>
CLI::Option *addNumber(CLI::App &command, const std::string &name, std::optional<T> &value,
                       const std::string &description) {
  auto read = [name, &value](const std::string &text) {
    if (std::string wrong = readNumber(text, value.emplace()); !wrong.empty())
      throw CLI::ValidationError(name, wrong);
  };
  return command.add_option_function<std::string>(name, read, description)
      ->type_name(std::floating_point<T> ? "NUMBER" : "N");
}
template <typename T>
CLI::Option *addNumber(CLI::App &command, const std::string &name, T &value, const std::string &description) {
  auto read = [name, &value](const std::string &text) {
    if (std::string wrong = readNumber(text, value); !wrong.empty())
      throw CLI::ValidationError(name, wrong);
  };
  return command.add_option_function<std::string>(name, read, description)
      ->type_name(std::floating_point<T> ? "NUMBER" : "N")
      ->default_str(fmt::format("{}", value));
}

} // namespace qrt

#endif // TOOLS_CLI_NUMBERS_H
