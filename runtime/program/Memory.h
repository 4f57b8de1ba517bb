// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a program, known before anything runs: what a build promises, a run reserves and `qrun inspect` shows.
#ifndef RUNTIME_PROGRAM_MEMORY_H
#define RUNTIME_PROGRAM_MEMORY_H

#include "runtime/program/Program.h"

namespace qrt {

/// What lies in the space State, in bytes.
struct StateMemory {
  int64_t weights = 0;
  int64_t masters = 0;
  int64_t moments = 0;
  int64_t counters = 0;
  /// Gaps that let every buffer begin where alignment wants it.
  int64_t alignment = 0;
};
StateMemory stateMemory(const Program &program);

/// A table for people: State by what it holds, what its runs reserve in all, and of what that consists. With a budget
/// in bytes also whether they fit, or how much is missing. Ends with a line feed.
std::string memoryReport(const Program &program, std::optional<int64_t> budget = std::nullopt);

/// A line of such a table: what it is, exact bytes, GiB.
std::string memoryLine(std::string_view what, int64_t bytes);

} // namespace qrt

#endif // RUNTIME_PROGRAM_MEMORY_H
