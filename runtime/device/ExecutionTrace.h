// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_DEVICE_EXECUTIONTRACE_H
#define RUNTIME_DEVICE_EXECUTIONTRACE_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace qrt {

/// A piece of work that the device did.
struct TracedWork {
  /// As the device has it: a function, a copy, a fill.
  std::string name;
  /// Nanoseconds on the device's clock.
  int64_t begin = 0, end = 0;
  /// Where the device did it: works of one stream follow one another.
  int64_t stream = 0;
  /// The instruction of the entry that it belongs to; -1: of none, as the copies of arguments and results.
  int32_t instruction = -1;
};

/// What one run of an entry did and when.
struct ExecutionTrace {
  /// By their beginnings.
  std::vector<TracedWork> works;
  /// Whether the device's record has one piece of work for each that it was given; otherwise no work has an
  /// instruction.
  bool complete = true;
};

/// Gives works their instructions: they began in the order in which they were given to the device, first `before` that
/// belong to none, then of each instruction as many as `counts` says, then `after` that belong to none. If that is not
/// how many there are, the trace is not complete.
void assignInstructions(ExecutionTrace &trace, int before, std::span<const int> counts, int after);

/// Of works, by their beginnings, that a device begins early only to wait for the one before on their stream: each
/// begins when that has ended.
void beginInTurn(ExecutionTrace &trace);

} // namespace qrt

#endif // RUNTIME_DEVICE_EXECUTIONTRACE_H
