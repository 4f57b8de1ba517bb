// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/OptionsFile.h"

#include "runtime/base/File.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/Numbers.h"
#include "tools/qrun/OptionsText.h"

#include <algorithm>
#include <memory>

namespace qrt {
namespace {

bool isFlag(const CLI::Option &option) { return option.get_expected_min() == 0; }

using Options = std::set<const CLI::Option *>;

/// Sets the option of an entry, unless the command line has said something else. What is wrong with it; empty: nothing.
std::string setOption(const CLI::App &app, CLI::App &command, const Options &onCommandLine, const OptionEntry &entry) {
  CLI::Option *option = command.get_option_no_throw("--" + entry.key);
  if (!option)
    option = command.get_option_no_throw(entry.key);
  if (!option)
    return unknownOption(app, command, "--" + entry.key);
  if (!option->get_configurable())
    return fmt::format("{}: has no place in a file of options", entry.key);

  if (entry.values.size() > 1 && option->get_items_expected_max() <= 1)
    return fmt::format("{}: expected one value, got a list of {}", entry.key, entry.values.size());
  for (const OptionValue &value : entry.values) {
    bool boolean = value.kind == OptionValue::Kind::Boolean;
    if (isFlag(*option) && !boolean)
      return fmt::format("{}: expected true or false, got '{}'", entry.key, value.text);
    if (!isFlag(*option) && boolean)
      return fmt::format("{}: expected a value ({}), got '{}'", entry.key, option->get_type_name(), value.text);
  }
  std::set<CLI::Option *> deciding = option->get_excludes();
  deciding.insert(option);
  if (std::any_of(deciding.begin(), deciding.end(),
                  [&](const CLI::Option *other) { return onCommandLine.contains(other); }))
    return std::string();
  // Flags are off until they are given: given as `false` they would still exclude others.
  if (isFlag(*option) && entry.values.front().text == "false")
    return std::string();
  for (const OptionValue &value : entry.values)
    option->add_result(value.text);
  try {
    option->run_callback();
  } catch (const CLI::ParseError &error) {
    return error.what();
  }
  return std::string();
}

/// Where the parser asks for the items of a file, they are set at once: only here is known which line is wrong.
class OptionsFile : public CLI::ConfigBase {
public:
  explicit OptionsFile(CLI::App &app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream &input) const override {
    std::vector<CLI::App *> chosen = app_.get_subcommands();
    if (chosen.empty()) // which is an error of its own
      return {};
    std::string path = app_.get_config_ptr()->as<std::string>();
    std::string text((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
    StatusOr<std::vector<OptionEntry>> entries = parseOptionsText(text, path);
    if (!entries.ok())
      throw CLI::ConfigError(entries.status().message());
    Options onCommandLine;
    for (const CLI::Option *option : chosen.front()->get_options())
      if (option->count() > 0)
        onCommandLine.insert(option);
    for (const OptionEntry &entry : *entries)
      if (std::string wrong = setOption(app_, *chosen.front(), onCommandLine, entry); !wrong.empty())
        throw CLI::ConfigError(fmt::format("{}:{}: {}", path, entry.line, wrong));
    return {};
  }

private:
  CLI::App &app_;
};

std::string checkFile(const std::string &path) {
  if (!pathExists(path))
    return path + ": no such file";
  if (isDirectory(path))
    return path + ": expected a file with options (TOML), got a folder";
  return checkReadable(path).message();
}

} // namespace

void addOptionsFile(CLI::App &app) {
  app.set_config("--config", "", "Read the command's options from a TOML file; the command line wins")
      ->check(CLI::Validator(checkFile, std::string()))
      ->type_name("FILE");
  app.config_formatter(std::make_shared<OptionsFile>(app));
}

std::string optionsText(const CLI::App &command) {
  std::string text;
  for (const CLI::Option *option : command.get_options()) {
    if (!option->get_configurable())
      continue;
    std::vector<std::string> results = option->reduced_results();
    if (results.empty() && isFlag(*option))
      results = {"false"};
    if (results.empty() && !option->get_default_str().empty())
      results = {option->get_default_str()};
    std::vector<OptionValue> values;
    double number;
    for (const std::string &result : results) {
      OptionValue::Kind kind = isFlag(*option)                      ? OptionValue::Kind::Boolean
                               : readNumber(result, number).empty() ? OptionValue::Kind::Number
                                                                    : OptionValue::Kind::Text;
      values.push_back({kind, result});
    }
    if (!values.empty())
      text += printOption(option->get_single_name(), values);
  }
  return text;
}

} // namespace qrt
