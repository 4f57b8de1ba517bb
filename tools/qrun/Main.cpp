// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of qrun, with or without the compiler.
#include "tools/cli/CommandLine.h"
#include "tools/qrun/Command.h"

#include <memory>
#include <vector>

namespace qrt {

/// A TOML file whose keys are the options of the subcommand that is run.
class OptionsFile : public CLI::ConfigTOML {
public:
  explicit OptionsFile(const CLI::App &app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream &input) const override {
    std::vector<CLI::ConfigItem> items = CLI::ConfigTOML::from_config(input);
    std::vector<const CLI::App *> chosen =
        app_.get_subcommands([](const CLI::App *command) { return command->parsed(); });
    for (CLI::ConfigItem &item : items)
      item.parents.insert(item.parents.begin(), chosen.front()->get_name());
    return items;
  }

private:
  const CLI::App &app_;
};

void printWarnings(const std::vector<std::string> &warnings) {
  for (const std::string &warning : warnings)
    fmt::print(stderr, "qrun: warning: {}\n", warning);
}

int qrunMain(int argc, char **argv, Specializer *compiler) {
  CLI::App app("qrun: runs compiled training programs", "qrun");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_config("--config", "", "Read the subcommand's options from a TOML file; the command line wins")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.config_formatter(std::make_shared<OptionsFile>(app));
  app.allow_config_extras(CLI::config_extras_mode::error);
  Command command;
  addPackCommand(app, command);
  addTrainCommand(app, command, compiler);
  addEvalCommand(app, command, compiler);
  addInspectCommand(app, command);
  if (std::optional<int> end = parseCommandLine(app, argc, argv))
    return *end;
  return finish(app, command());
}

} // namespace qrt
