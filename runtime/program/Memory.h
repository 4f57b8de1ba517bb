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

/// Workspace that a GPU's matrix products share: how much an algorithm may ask for.
constexpr int64_t kGemmWorkspaceBytes = int64_t{64} << 20;
/// What a process takes on a GPU before it has asked for anything, and what the libraries take for their own code: as
/// an H200 reports it (docs/performance.md).
constexpr int64_t kContextBytes = int64_t{600} << 20;

/// What a run takes on its device beside the spaces, in bytes; nothing on the CPU.
struct DeviceOverhead {
  int64_t workspace = 0;
  /// Of the programs' own device functions.
  int64_t code = 0;
  int64_t context = 0;
  int64_t total() const { return workspace + code + context; }
};
/// `target`: what programs are compiled for ("cpu", "sm_90a"); `code`: bytes of their device functions.
DeviceOverhead deviceOverhead(std::string_view target, int64_t code);

/// A table for people: State by what it holds, what its runs reserve in all, and of what that consists. With a budget
/// in bytes also whether they fit, or how much is missing. Ends with a line feed.
std::string memoryReport(const Program &program, std::optional<int64_t> budget = std::nullopt);

/// What a run that trains takes of its device at least, in whatever bucket and with whatever computed again.
struct LeastMemory {
  /// Of the state: may be done without.
  bool masters = false;
  int64_t state = 0;
  /// Those of one step, which are all alive before the first weight changes; in a run that accumulates its sums too.
  int64_t gradients = 0;
  int64_t overhead = 0;
  int64_t total() const { return state + gradients + overhead; }
};
LeastMemory leastMemory(const Program &program, bool accumulate);

/// What would have a run take less than it does, where that is more than `available` bytes: "`qcc build` makes it less
/// with --states bf16, or a smaller bucket". `budget`: whether a budget would too.
std::string lessMemory(const LeastMemory &least, int64_t available, bool budget);

/// The same of runs of `program`, of what its options leave open.
std::string lessMemory(const Program &program, bool accumulate, int64_t available);

/// A line of such a table: what it is, exact bytes, GiB.
std::string memoryLine(std::string_view what, int64_t bytes);

} // namespace qrt

#endif // RUNTIME_PROGRAM_MEMORY_H
