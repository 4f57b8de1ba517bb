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
#include <span>
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

/// Rows that a session is to run, and the entry that runs them.
struct RowsToRun {
  const TokenData &data;
  EntryKind kind;
  /// Of the data, the first row alone; there must be one.
  bool onlyFirst = false;
};

/// Opens a program for rows of packed data, those of --data first: from a .mlir file it is compiled for them. Checks
/// that the data's vocabulary fits it, compiles the buckets that it lacks, and loads or initializes the weights. Prints
/// what was opened.
StatusOr<OpenSession> openSession(const SessionArguments &arguments, std::span<const RowsToRun> rows,
                                  Specializer *compiler);

/// Opens the folder of packed data of an option and prints its warnings.
StatusOr<TokenData> openPacked(const std::string &option, const std::string &directory);

} // namespace qrt

#endif // TOOLS_QRUN_PROGRAMS_H
