// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs programs: memory for the spaces, and entries made ready to run. A backend implements the two classes;
// nothing above knows which.
//
// A step is the same on every backend: the caller fills the arguments in io(), start() brings them to the device, does
// the entry's instructions in order and brings the results back, which are in results() after finish(). What a backend
// captures in prepare() (addresses, a graph) holds until it is destroyed: spaces never move.
#ifndef RUNTIME_DEVICE_DEVICE_H
#define RUNTIME_DEVICE_DEVICE_H

#include "runtime/device/ExecutionTrace.h"
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

/// What a device says of itself while it works; nothing where it does not say it.
struct Telemetry {
  /// Clock of its multiprocessors; medians.
  std::optional<double> megahertz, watts;
};

/// Times of an entry on its device, warm, in milliseconds; medians.
struct ExecutionTimes {
  /// A whole run.
  double run = 0;
  /// Its matrix products alone, once each, one behind the other; none that is computed again.
  double gemms = 0;
  /// Each instruction, inside whole runs.
  std::vector<double> instructions;
  /// Pieces of work that the device gets for each instruction.
  std::vector<int> works;
  /// What the device can do, measured just before: bytes read and written a second by a large copy, operations a second
  /// of a large matrix product in the entry's storage type.
  double copyRate = 0, gemmRate = 0;
  /// While whole runs were timed.
  Telemetry telemetry;
};

/// An entry made ready: it refers to the entry and to its device, which must outlive it.
class Executable {
public:
  virtual ~Executable() = default;
  /// Starts a run with the arguments in the device's io(), which is free to be filled for another one afterwards (as
  /// far as Device::runsAhead says). With an observer the run is over when this returns. Allocates nothing (but with an
  /// observer, and what oneDNN takes for the length of a product: Session.h).
  virtual Status start(Observer *observer = nullptr) = 0;
  /// Waits for the run of this entry that was started; runs are finished in the order in which they were started. Its
  /// results are in the device's results(). An error names the entry, and the instruction where the device says it.
  virtual Status finish() = 0;
  /// Both, for a device without other runs under way.
  Status run(Observer *observer = nullptr) {
    QRT_RETURN_IF_ERROR(start(observer));
    return finish();
  }
  /// Runs the entry again and again, for about `seconds` each way of looking at it. What it updates (weights, moments)
  /// changes each time, and the arena's contents are lost.
  virtual StatusOr<ExecutionTimes> time(double seconds) = 0;
  /// Runs the entry once, as run() does, and says what was done when. No other run may be under way.
  virtual StatusOr<ExecutionTrace> trace() = 0;
};

/// Memory that a run may take, and whose it is in messages: "this machine".
struct AvailableMemory {
  int64_t bytes = 0;
  std::string_view owner;
};

/// What a device says of its memory.
struct MemoryUse {
  /// Of everything that runs there.
  int64_t bytes = 0;
  /// Of that, what was taken before this process came, as far as it can be told.
  int64_t others = 0;
};

/// How a device that has several algorithms for the same work chooses one.
enum class Choosing {
  /// By timing them, which may take seconds.
  Carefully,
  /// The first that it may take.
  Quickly,
};

/// What it took so far to make entries ready.
struct Preparation {
  /// Device functions whose machine code was loaded, and matrix products whose algorithms were timed.
  int64_t functions = 0, productsTimed = 0;
  /// Of these products, those whose choice could not be kept: the next run may make another one.
  int64_t productsNotKept = 0;
  double loadMilliseconds = 0, productMilliseconds = 0, captureMilliseconds = 0;
};

class Device {
public:
  virtual ~Device() = default;

  /// What it is called by its maker ("NVIDIA H200"), or "cpu".
  virtual std::string_view name() const = 0;
  /// One line for people: the processor or accelerator.
  virtual std::string description() const = 0;
  /// The same for a program with bf16 tensors: how it multiplies those.
  virtual std::string bf16Description() const = 0;

  /// Whether this device runs programs compiled for `target`.
  virtual bool runsTarget(std::string_view target) const = 0;

  /// What a run may take in all, the device's overhead (runtime/program/Memory.h) included, as far as the system says;
  /// 0: unknown. Asked before anything is reserved.
  virtual AvailableMemory availableMemory() const = 0;
  /// What is taken now; nothing where the device does not say it.
  virtual std::optional<MemoryUse> memoryUse() const = 0;

  /// Runs that may be under way while another one is started. 0: start() returns when its run is done.
  virtual int runsAhead() const = 0;

  /// Reserves the spaces, once, before anything else. ResourceExhausted if they do not fit. What they hold is
  /// undefined.
  virtual Status reserve(const SpaceBytes &bytes) = 0;
  virtual const SpaceBytes &reserved() const = 0;

  /// Makes an entry of `program` ready; everything that it needs beyond the spaces is allocated now. The spaces must be
  /// large enough.
  virtual StatusOr<std::unique_ptr<Executable>> prepare(const Program &program, const Entry &entry,
                                                        Choosing choosing) = 0;
  /// The algorithms chosen so far, as text that makes another device of the kind choose the same, so that a run has the
  /// same bits; empty where there is no choice.
  virtual std::string choices() const = 0;

  /// All zero for a device that has nothing to load, to choose or to capture.
  virtual Preparation preparation() const = 0;

  /// Copies bytes into or out of a space other than Io; the range must lie in it. Returns when the copy is done.
  /// Several threads may write at once.
  virtual Status write(Space space, int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual Status read(Space space, int64_t offset, std::span<std::byte> bytes) const = 0;
  virtual Status zero(Space space, int64_t offset, int64_t bytes) = 0;
  /// Memory of the host that write() copies from fastest, undefined; it must not outlive the device. ResourceExhausted
  /// where there is not as much.
  virtual StatusOr<std::shared_ptr<std::byte>> hostMemory(int64_t bytes) = 0;

  /// The host's view of the space Io for the next run: its arguments are filled in here. Where runs are ahead, each
  /// call of start() leaves another one.
  virtual std::span<std::byte> io() = 0;
  /// The same of the run that was finished last, with its results: as they are until two more runs have been started,
  /// or one where none are ahead.
  virtual std::span<const std::byte> results() = 0;
};

} // namespace qrt

#endif // RUNTIME_DEVICE_DEVICE_H
