// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of qrun, with or without the compiler.
#include "tools/cli/CommandLine.h"
#include "tools/qrun/Command.h"
#include "tools/qrun/OptionsFile.h"

namespace qrt {

void printWarnings(const std::vector<std::string> &warnings) {
  for (const std::string &warning : warnings)
    std::fputs(fmt::format("qrun: warning: {}\n", warning).c_str(), stderr);
}

int qrunMain(int argc, char **argv, Specializer *compiler) {
  CLI::App app("qrun: runs compiled training programs", "qrun");
  app.require_subcommand(1);
  app.fallthrough();
  addVersion(app, compiler ? "with the compiler" : "without the compiler");
  addOptionsFile(app);
  Command command;
  addPackCommand(app, command);
  addTrainCommand(app, command, compiler);
  addEvalCommand(app, command, compiler);
  addProfileCommand(app, command, compiler);
  addCalibrateCommand(app, command, compiler);
  addInspectCommand(app, command);
  if (std::optional<int> end = parseCommandLine(app, argc, argv))
    return *end;
  Status status = command();
  if (status.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout)))
    status = error(StatusCode::Io, "standard output: not all could be written");
  return finish(app, status);
}

} // namespace qrt
