// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qrun --config FILE: the options of a subcommand from a file, and back.
#ifndef TOOLS_QRUN_OPTIONSFILE_H
#define TOOLS_QRUN_OPTIONSFILE_H

#include <CLI/CLI.hpp>
#include <string>

namespace qrt {

/// Adds --config. The command line wins over the file: also over an option of the file that excludes one of its own.
void addOptionsFile(CLI::App &app);

/// The options of a parsed subcommand as such a file, defaults included; those that were not given and have no default
/// are left out.
std::string optionsText(const CLI::App &command);

} // namespace qrt

#endif // TOOLS_QRUN_OPTIONSFILE_H
