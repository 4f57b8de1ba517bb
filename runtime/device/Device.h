// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs programs: memory for the spaces, and entries made ready to run. A backend implements the two classes;
// nothing above knows which.
//
// A step is the same on every backend: the caller fills the arguments in io(), run() brings them to the device, does
// the entry's instructions in order and brings the results back. What a backend captures in prepare() (addresses, a
// graph) holds until it is destroyed: spaces never move.
#ifndef RUNTIME_DEVICE_DEVICE_H
#define RUNTIME_DEVICE_DEVICE_H

#include "runtime/program/Program.h"

#include <memory>

namespace qrt {

/// Sees values in the middle of a run, by the entry's debug table. Nothing else changes: a run with an observer
/// computes the same bits.
class Observer {
public:
  virtual ~Observer() = default;
  /// Whether to copy this value.
  virtual bool wants(const DebugValue &value) = 0;
  /// `bytes` are the elements of `shape` without gaps, row-major; they are gone after the call. An error ends the run.
  virtual Status observe(const DebugValue &value, const TensorShape &shape, std::span<const std::byte> bytes) = 0;
};

/// Times of an entry on its device, warm, in milliseconds; medians.
struct ExecutionTimes {
  /// A whole run.
  double run = 0;
  /// Its matrix products alone, once each, one behind the other.
  double gemms = 0;
  /// Each instruction, inside whole runs.
  std::vector<double> instructions;
  /// Pieces of work that the device gets for each instruction.
  std::vector<int> works;
  /// What the device can do, measured just before: bytes read and written a second by a large copy, operations a second
  /// of a large matrix product in the entry's storage type.
  double copyRate = 0, gemmRate = 0;
};

/// An entry made ready: it refers to the entry and to its device, which must outlive it.
class Executable {
public:
  virtual ~Executable() = default;
  /// Runs the entry once and waits for it. Allocates nothing (but with an observer, and what oneDNN takes for the
  /// length of a product: Session.h).
  virtual Status run(Observer *observer = nullptr) = 0;
  /// Runs the entry again and again, for about `seconds` each way of looking at it. What it updates (weights, moments)
  /// changes each time, and the arena's contents are lost.
  virtual StatusOr<ExecutionTimes> time(double seconds) = 0;
};

class Device {
public:
  virtual ~Device() = default;

  /// One line for people: the processor or accelerator.
  virtual std::string description() const = 0;
  /// The same for a program with bf16 tensors: how it multiplies those.
  virtual std::string bf16Description() const = 0;

  /// Whether this device runs programs compiled for `target`.
  virtual bool runsTarget(std::string_view target) const = 0;

  /// Bytes that may be reserved in all, as far as the system says; 0: unknown.
  virtual int64_t memoryBytes() const = 0;

  /// Reserves the spaces, once, before anything else. ResourceExhausted if they do not fit. What they hold is
  /// undefined.
  virtual Status reserve(const SpaceBytes &bytes) = 0;
  virtual const SpaceBytes &reserved() const = 0;

  /// Makes an entry of `program` ready; everything that it needs beyond the spaces is allocated now. The spaces must be
  /// large enough.
  virtual StatusOr<std::unique_ptr<Executable>> prepare(const Program &program, const Entry &entry) = 0;

  /// Copies bytes into or out of a space; the range must lie in it. Returns when the copy is done.
  virtual Status write(Space space, int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual Status read(Space space, int64_t offset, std::span<std::byte> bytes) const = 0;
  virtual Status zero(Space space, int64_t offset, int64_t bytes) = 0;

  /// The host's view of the space Io: what a run finds there, and afterwards its results.
  virtual std::span<std::byte> io() = 0;
};

} // namespace qrt

#endif // RUNTIME_DEVICE_DEVICE_H
