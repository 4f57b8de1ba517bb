// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun's subcommands: each adds its options to the command line and says what to run if it was chosen.
#ifndef TOOLS_QRUN_COMMAND_H
#define TOOLS_QRUN_COMMAND_H

#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace qrt {

class Specializer;

/// What the chosen subcommand runs.
using Command = std::function<Status()>;

void addPackCommand(CLI::App &app, Command &command);
void addInspectCommand(CLI::App &app, Command &command);
/// `compiler`: builds programs that are missing; null in a qrun without the compiler.
void addTrainCommand(CLI::App &app, Command &command, Specializer *compiler);
void addEvalCommand(CLI::App &app, Command &command, Specializer *compiler);
void addProfileCommand(CLI::App &app, Command &command, Specializer *compiler);
void addCalibrateCommand(CLI::App &app, Command &command, Specializer *compiler);

/// Prints to standard output. What cannot be written is left out; qrunMain looks for that at the end.
template <typename... Args> void say(fmt::format_string<Args...> format, Args &&...args) {
  std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), stdout);
}

/// Tells people on standard error, a line each.
void printWarnings(const std::vector<std::string> &warnings);

/// Parses the command line and runs it; the exit code: 0, 1 failed, 2 wrong usage.
int qrunMain(int argc, char **argv, Specializer *compiler);

} // namespace qrt

#endif // TOOLS_QRUN_COMMAND_H
