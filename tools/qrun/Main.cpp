// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of qrun, with or without the compiler.
#include <cstdio>

#include "tools/qrun/Command.h"

namespace qrt {

int qrunMain(int argc, char **argv, Specializer *compiler) {
  CLI::App app("qrun: runs compiled training programs");
  app.require_subcommand(1);
  Command command;
  addPackCommand(app, command);
  addTrainCommand(app, command, compiler);
  addEvalCommand(app, command, compiler);
  addInspectCommand(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  Status status = command();
  if (status.ok())
    return 0;
  std::fprintf(stderr, "qrun: error: %s\n", status.message().c_str());
  return status.code() == StatusCode::InvalidUsage ? 2 : 1;
}

} // namespace qrt
