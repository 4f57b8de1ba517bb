// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model in training on a device: programs, the state, the batch at hand.
#ifndef RUNTIME_EXECUTOR_SESSION_H
#define RUNTIME_EXECUTOR_SESSION_H

#include "runtime/data/Batch.h"
#include "runtime/device/Device.h"
#include "runtime/program/Program.h"
#include "runtime/specialize.h"

namespace qrt {

struct SessionOptions {
  /// Gradients of several micro-batches are summed: reserves their space, and takes the entries Accumulate and Apply.
  bool accumulate = false;
  /// Bytes that a run may take in all, the device's overhead included; 0: what the device says that there is.
  int64_t memoryLimit = 0;
  /// Asked for buckets that no program has; null: such a bucket is an error. Must outlive the session. Io is then
  /// reserved for any bucket of the tokens of those that are there, as far as there is room; Transient, which may be
  /// most of the memory, only for those themselves.
  Specializer *specializer = nullptr;
};

/// What a run has left in io; valid until another is started.
struct RunResult {
  /// Summed over the trained rows; NaN for Apply.
  float loss;
  /// Of Step and Apply, before clipping; NaN otherwise.
  float gradNorm;
  /// [trained rows of the bucket], only of Eval where the program has it: in the order of HostBatch::trainedRows, then
  /// zeros.
  std::span<const float> rowLoss;
};

/// Optimizer steps taken, and skipped because the gradients were not finite.
struct OptimizerCounters {
  int64_t taken, skipped;
};

/// Prepare once, then for each micro-batch: loadBatch, setScalars, run; or start and later finish, between which the
/// next batch may be loaded, and as many runs be started as the device has ahead (Device::runsAhead). The spaces are
/// reserved in create() and never move; what they hold is undefined until it is written: weights and state by
/// Initialize.h or LoadWeights.h, gradients by zeroGradients().
class Session {
public:
  /// All programs must be of the same state; buckets that are there twice are taken from the first. ResourceExhausted,
  /// naming every space, if they need more memory than there is.
  static StatusOr<std::unique_ptr<Session>> create(std::vector<Program> programs, std::unique_ptr<Device> device,
                                                   const SessionOptions &options = {});

  Device &device() { return *device_; }
  const Device &device() const { return *device_; }
  /// The first program: parameters, packs, configuration are those of all.
  const Program &program() const { return *programs_[0]; }
  const SessionOptions &options() const { return options_; }

  /// Adds the buckets of a further program, without the seconds that a careful choice of algorithms takes. InvalidData
  /// if it is of another state, ResourceExhausted if it needs more than is reserved.
  Status addProgram(Program program) { return add(std::move(program), Choosing::Quickly); }

  bool has(EntryKind kind, const BucketShape &bucket) const { return find(kind, bucket) != nullptr; }
  /// In the order in which they were added.
  std::vector<BucketShape> buckets(EntryKind kind) const;
  /// The bucket with the least work that takes a row. If there is none, it is compiled if a specializer is there;
  /// otherwise ResourceExhausted, naming the bucket to build.
  StatusOr<BucketShape> bucketFor(EntryKind kind, const BucketShape &row);

  /// The batch of the runs that follow. Checks every number that a kernel takes for an index: InvalidData naming the
  /// token.
  Status loadBatch(const HostBatch &batch);
  /// The scalars of the runs that follow: 1 / (trained tokens of the step), the optimizer's numbers, the seed of
  /// stochastic rounding.
  void setScalars(float inverseTokens, const Hyperparameters &hyper, int64_t seed);
  /// Runs the entry of this kind for the batch's bucket (Apply: for no batch). InvalidUsage if there is no such entry.
  /// Without an observer it allocates nothing, with one exception: within a matrix product on the CPU oneDNN takes a
  /// buffer of at most 4 MiB a thread (and for native bf16 products some small tables) and gives it back.
  StatusOr<RunResult> run(EntryKind kind, Observer *observer = nullptr);

  /// Starts such a run; at most Device::runsAhead() others may be under way. The results of the last run that was
  /// finished are gone.
  Status start(EntryKind kind, Observer *observer = nullptr);
  /// Waits for the earliest run under way.
  StatusOr<RunResult> finish();
  int runsUnderWay() const { return static_cast<int>(underWay_.size()); }

  /// What the run takes by plan: the spaces and the device's overhead.
  int64_t plannedBytes() const { return plannedBytes_; }
  /// Milliseconds that create() took to reserve memory, and to make the entries ready.
  double reserveMilliseconds() const { return reserveMilliseconds_; }
  double prepareMilliseconds() const { return prepareMilliseconds_; }

  /// Times of the entry of this kind for the batch's bucket (Executable::time). Weights and state change.
  StatusOr<ExecutionTimes> time(EntryKind kind, double seconds);
  /// As run(), when no other run is under way; `trace` gets what was done when (Executable::trace).
  StatusOr<RunResult> trace(EntryKind kind, ExecutionTrace &trace);
  /// The entry that run() would run; null if there is none.
  const Entry *entryFor(EntryKind kind) const;

  /// Before the first micro-batch of the first step; Apply leaves zeros.
  Status zeroGradients();

  StatusOr<OptimizerCounters> readCounters() const;
  Status writeCounters(const OptimizerCounters &counters);

  /// Elements [first, first + count) of a buffer that the parameter has, in its own type; `bytes` holds a whole number
  /// of elements.
  Status readParameter(const Parameter &parameter, ParameterPart part, int64_t first, std::span<std::byte> bytes) const;
  Status writeParameter(const Parameter &parameter, ParameterPart part, int64_t first,
                        std::span<const std::byte> bytes);
  Status zeroParameter(const Parameter &parameter, ParameterPart part);

private:
  struct Prepared {
    const Entry *entry;
    std::unique_ptr<Executable> executable;
  };

  struct Run {
    const Entry *entry;
    Executable *executable;
  };

  Session(std::unique_ptr<Device> device, const SessionOptions &options)
      : device_(std::move(device)), options_(options) {
    underWay_.reserve(static_cast<size_t>(device_->runsAhead()) + 1);
  }
  Status reserve(std::span<const Program> programs);
  Status add(Program program, Choosing choosing);
  const Prepared *find(EntryKind kind, const BucketShape &bucket) const;
  /// What runs the entry of this kind for the batch's bucket, with its arguments in io.
  StatusOr<const Prepared *> readyToRun(EntryKind kind);
  /// Of the run that was finished last, which is one of this entry.
  RunResult resultOf(const Entry &entry);
  void fillArguments(const Entry &entry);

  std::unique_ptr<Device> device_;
  SessionOptions options_;
  std::vector<std::unique_ptr<const Program>> programs_;
  std::vector<Prepared> prepared_;
  /// The earliest first.
  std::vector<Run> underWay_;
  int64_t plannedBytes_ = 0;
  double reserveMilliseconds_ = 0, prepareMilliseconds_ = 0;

  /// The batch as the entries take it; room for the largest bucket.
  BucketShape bucket_;
  std::vector<int32_t> ids_, labels_, embeddingOrder_, segments_;
  float inverseTokens_ = 0;
  Hyperparameters hyper_{};
  int64_t seed_ = 0;
};

} // namespace qrt

#endif // RUNTIME_EXECUTOR_SESSION_H
