// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `qrun profile` and `qrun calibrate` share: an entry of a program, timed on the first row of packed data.
#ifndef TOOLS_QRUN_TIMEDENTRY_H
#define TOOLS_QRUN_TIMEDENTRY_H

#include "runtime/executor/Profile.h"
#include "tools/qrun/Programs.h"

namespace qrt {

/// What the command line says of the entry and how it is timed.
struct TimedEntryArguments {
  SessionArguments session;
  std::string entry = "step";
  double seconds = 3;
};

void addTimedEntryOptions(CLI::App &command, TimedEntryArguments &arguments);

/// An entry that has been timed, and can be run again: the batch is loaded.
struct TimedEntry {
  OpenSession open;
  EntryKind kind;
  ProfiledRow row;
  ExecutionTimes times;

  const Entry &entry() const { return *open.session->entryFor(kind); }
};

StatusOr<TimedEntry> timeEntry(const TimedEntryArguments &arguments, Specializer *compiler);

/// The rates in a file of `qrun calibrate`, or where `path` is empty those known of the program's target. InvalidData
/// for a file of another target.
StatusOr<MachineRates> machineRates(const std::string &path, const Program &program);

} // namespace qrt

#endif // TOOLS_QRUN_TIMEDENTRY_H
