// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/cli/CommandLine.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace qrt {

/// Insertions, deletions and replacements between two words.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({diagonal + (a[i] != b[j]), row[j] + 1, row[j + 1] + 1}));
  }
  return row.back();
}

std::string didYouMean(std::string_view word, const std::vector<std::string> &words) {
  const std::string *best = nullptr;
  size_t least = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string &candidate : words) {
    bool isPrefix = word.size() > 2 && candidate.starts_with(word);
    if (size_t distance = isPrefix ? 1 : editDistance(word, candidate); distance < least) {
      least = distance;
      best = &candidate;
    }
  }
  return best ? fmt::format("; did you mean {}?", *best) : "";
}

namespace {

/// "a", "a and b", "a, b and c".
std::string list(const std::vector<std::string> &words, std::string_view last = "and") {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : fmt::format(" {} ", last)) + words[i];
  return text;
}

std::vector<std::string> commandsOf(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> optionsOf(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

/// Begins like an option; negative numbers are values.
bool looksLikeOption(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

std::string describeLeftover(const CLI::App &app, const CLI::App &command, const std::string &word) {
  std::string name = app.get_name() + " " + command.get_name();
  if (!looksLikeOption(word))
    return fmt::format("{} takes no argument '{}'", name, word);
  std::string option = word.substr(0, word.find('='));
  std::vector<std::string> known = optionsOf(command);
  if (std::find(known.begin(), known.end(), option) != known.end())
    return fmt::format("{} is an option of {}: it comes after the command", option, name);
  return unknownOption(app, command, option);
}

/// An option with one value that was given more often; null if there is none.
const CLI::Option *repeatedOption(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options())
    if (option->get_items_expected_max() == 1 && option->count() > 1)
      return option;
  return nullptr;
}

/// "--out DIR"; of an argument by position: "FILE.mlir".
std::string spell(const CLI::Option &option) {
  // What the library says where nobody named what it is.
  std::string type = option.get_type_name() == "TEXT" ? "" : option.get_type_name();
  if (option.get_positional())
    return type.empty() ? option.get_name() : type;
  return option.get_name() + (type.empty() ? "" : " " + type);
}

/// What the library says of values, in our words.
std::string describeValue(std::string_view message) {
  auto between = [&](std::string_view before,
                     std::string_view after) -> std::optional<std::pair<std::string, std::string>> {
    size_t begin = message.find(before);
    if (begin == std::string_view::npos)
      return std::nullopt;
    begin += before.size();
    size_t end = message.find(after, begin);
    if (end == std::string_view::npos)
      return std::nullopt;
    return std::pair(std::string(message.substr(begin, end - begin)), std::string(message.substr(end + after.size())));
  };
  if (auto parts = between("Could not convert: ", " = "))
    return fmt::format("{}: expected a number, got '{}'", parts->first, parts->second);
  if (message.ends_with(" missing"))
    if (auto parts = between("", ": "))
      return fmt::format("{}: expected a value", parts->first);
  if (auto parts = between(": ", " not in {"); parts && parts->second.ends_with('}')) {
    std::vector<std::string> allowed = CLI::detail::split(parts->second.substr(0, parts->second.size() - 1), ',');
    return fmt::format("{}: expected {}, got '{}'", message.substr(0, message.find(": ")), list(allowed, "or"),
                       parts->first);
  }
  return std::string(message);
}

} // namespace

std::string unknownOption(const CLI::App &app, const CLI::App &command, const std::string &option) {
  return fmt::format("{0} has no option {1}{2} (`{0} --help` lists them)", app.get_name() + " " + command.get_name(),
                     option, didYouMean(option, optionsOf(command)));
}

std::string describeUsage(const CLI::App &app, const CLI::ParseError &error) {
  std::vector<std::string> left = app.remaining(/*recurse=*/true), commands = commandsOf(app);
  const CLI::App *command = app.get_subcommands().empty() ? nullptr : app.get_subcommands().front();
  if (!command) {
    std::string there = fmt::format("the commands are {}", list(commands));
    if (left.empty())
      return fmt::format("expected a command: {}", list(commands, "or"));
    if (looksLikeOption(left.front()))
      return fmt::format("expected a command before {}: {}", left.front(), there);
    return fmt::format("there is no command '{}': {}{}", left.front(), there, didYouMean(left.front(), commands));
  }
  std::string name = app.get_name() + " " + command->get_name();
  // Of a file of options: whoever read it has said where it is wrong.
  if (error.get_name() == "ConfigError")
    return error.what();
  // An option nobody knows explains the rest: its value was taken for something else.
  if (auto option = std::find_if(left.begin(), left.end(), looksLikeOption); option != left.end())
    return describeLeftover(app, *command, *option);
  if (error.get_name() == "RequiredError") {
    std::vector<std::string> missing;
    for (const CLI::Option *option : command->get_options())
      if (option->get_required() && option->count() == 0)
        missing.push_back(spell(*option));
    if (!missing.empty())
      return fmt::format("{}: expected {}", name, list(missing));
  }
  if (!left.empty())
    return describeLeftover(app, *command, left.front());
  if (error.get_name() == "ArgumentMismatch")
    if (const CLI::Option *option = repeatedOption(*command))
      return fmt::format("{}: expected once, got {} times", option->get_name(), option->count());
  return describeValue(error.what());
}

void addVersion(CLI::App &app, std::string_view with) {
  app.set_version_flag("--version", fmt::format("{} {}, {}", app.get_name(), QCC_VERSION, with),
                       "Print the version and exit");
}

std::optional<int> parseCommandLine(CLI::App &app, int argc, const char *const *argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    // --help and --version are such too.
    if (error.get_exit_code() == 0)
      return app.exit(error);
    return finish(app, Status(StatusCode::InvalidUsage, describeUsage(app, error)));
  }
}

int finish(const CLI::App &app, const Status &status) {
  if (status.ok())
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", app.get_name().c_str(), status.message().c_str());
  return status.code() == StatusCode::InvalidUsage ? 2 : 1;
}

} // namespace qrt
