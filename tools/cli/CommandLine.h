// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the command lines of qcc and qrun have in common: how wrong usage is said, and how a program ends.
#ifndef TOOLS_CLI_COMMANDLINE_H
#define TOOLS_CLI_COMMANDLINE_H

#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qrt {

/// Adds --version, which prints the program's name and version, and what is in it: "qcc 0.1.0, LLVM 22.1.0".
void addVersion(CLI::App &app, std::string_view with);

/// Parses the command line of a program with subcommands; `app` has the program's name. Where that is the end, the exit
/// code: 0 after --help and --version, 2 after wrong usage, which is said in a line on standard error.
std::optional<int> parseCommandLine(CLI::App &app, int argc, const char *const *argv);

/// What is wrong with a command line, in a line: the word that nobody knows and what there is instead, everything that
/// is missing, or the value that does not fit.
std::string describeUsage(const CLI::App &app, const CLI::ParseError &error);

/// "qrun train has no option --lrr; did you mean --lr? (`qrun train --help` lists them)", for an option of `command`.
std::string unknownOption(const CLI::App &app, const CLI::App &command, const std::string &option);

/// "; did you mean --buckets?" if one of the words is near `word`, or begins with it; else nothing.
std::string didYouMean(std::string_view word, const std::vector<std::string> &words);

/// Says on standard error why a command failed, if it did. The exit code: 0, 1 failed, 2 wrong usage.
int finish(const CLI::App &app, const Status &status);

} // namespace qrt

#endif // TOOLS_CLI_COMMANDLINE_H
