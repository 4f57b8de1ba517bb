// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `qrun train` and `qrun eval` share: the program, the device and the weights of a command line.
#ifndef TOOLS_QRUN_PROGRAMS_H
#define TOOLS_QRUN_PROGRAMS_H

#include "runtime/data/TokenData.h"
#include "runtime/executor/Session.h"
#include "runtime/train/LoadWeights.h"
#include "tools/qrun/Devices.h"
#include "tools/qrun/StartUp.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

namespace qrt {

/// What the command line says of the program, its data and its weights.
struct SessionArguments {
  std::string program, data, weights;
  CompileOptions compile;
  /// As parseMemory takes it; empty: what the device has.
  std::string memory;
  bool noCompile = false;
  bool scratch = false;
  uint64_t seed = 0;
  DeviceArguments device;
};

/// Adds --program, --data, --weights, the device's options and what goes with them.
void addSessionOptions(CLI::App &command, SessionArguments &arguments);

/// A session with its weights, and where they came from.
struct OpenSession {
  StartUp startUp;
  std::unique_ptr<Session> session;
  /// Nothing: from scratch.
  std::optional<WeightSource> source;
};

/// Opens the data's program, compiling one from a .mlir file, checks that the data's vocabulary fits it, and loads or
/// initializes the weights. `evalData` may be null; `kind` is the entry that the rows of `data` run. Prints what was
/// opened.
StatusOr<OpenSession> openSession(const SessionArguments &arguments, const TokenData &data, const TokenData *evalData,
                                  EntryKind kind, Specializer *compiler);

/// Opens the folder of packed data of an option and prints its warnings.
StatusOr<TokenData> openPacked(const std::string &option, const std::string &directory);

} // namespace qrt

#endif // TOOLS_QRUN_PROGRAMS_H
