// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/TrainLoop.h"

#include "runtime/base/Digits.h"
#include "runtime/base/File.h"
#include "runtime/base/Stopwatch.h"
#include "runtime/data/Batch.h"
#include "runtime/data/Buckets.h"
#include "runtime/data/Sampler.h"
#include "runtime/executor/DebugDump.h"
#include "runtime/executor/TraceFile.h"
#include "runtime/train/Evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <utility>

namespace qrt {
namespace {

SamplerOptions samplerOptions(const TrainOptions &options, int64_t rows) {
  SamplerOptions sampler;
  sampler.rows = rows;
  sampler.microBatches = options.microBatches;
  sampler.steps = options.steps;
  sampler.epochs = options.epochs;
  if (!options.steps && !options.epochs)
    sampler.epochs = 1;
  sampler.seed = options.seed;
  sampler.shuffle = options.shuffle;
  return sampler;
}

Status saveChoices(const Session &session, const TrainOptions &options) {
  std::string choices = options.choicesFile.empty() ? "" : session.device().choices();
  return choices.empty() ? Status() : writeFileAtomically(options.choicesFile, choices);
}

/// Steps one after the other. Where the device takes runs ahead, the rows of the next run are read and its arguments
/// filled in and queued while one is computed; a step is reported when its last run is finished.
class Loop {
public:
  using Report = std::function<Status(const StepMetrics &metrics)>;

  /// `traced`: the step that is to be traced.
  Loop(Session &session, const TokenData &data, const TrainOptions &options, int64_t traced, Report report)
      : session_(session), data_(data), options_(options), traced_(traced), report_(std::move(report)),
        dump_(session.program(), DebugDump::Kind::Gradients), memory_(session.device().memoryUse()) {}

  /// Trains a step on these rows; `metrics` has its number, epoch and learning rate.
  Status step(StepMetrics metrics, const std::vector<int64_t> &rows);
  /// Waits until all steps are reported.
  Status finishAll();

private:
  /// A step with runs that are not finished.
  struct Pending {
    StepMetrics metrics;
    bool accumulates = false;
    size_t runsLeft = 0;
    double loss = 0;
    /// When it was begun, by watch_.
    double begin = 0;
  };

  Hyperparameters hyperparameters(double learningRate) const;
  /// Brings a row into the session; a bucket that has to be compiled for it is counted.
  Status loadRow(int64_t index, EntryKind kind, StepMetrics &metrics);
  Status start(EntryKind kind, Observer *observer);
  /// Runs and writes the trace.
  Status trace(EntryKind kind);
  Status finishOne();
  /// Adds a run that is finished to its step.
  Status take(const RunResult &run);
  Status finishWhileMoreThan(int underWay);
  Status dumpAccumulatedGradients();

  Session &session_;
  const TokenData &data_;
  const TrainOptions &options_;
  int64_t traced_;
  Report report_;
  DebugDump dump_;
  std::optional<MemoryUse> memory_;
  TokenRow row_;
  HostBatch batch_;
  Stopwatch watch_;
  /// When the last step was finished, by watch_.
  double lastFinished_ = 0;
  /// The earliest first.
  std::deque<Pending> pending_;
};

Hyperparameters Loop::hyperparameters(double learningRate) const {
  Hyperparameters hyper{};
  hyper.learningRate = static_cast<float>(learningRate);
  hyper.beta1 = static_cast<float>(options_.beta1);
  hyper.beta2 = static_cast<float>(options_.beta2);
  hyper.eps = static_cast<float>(options_.eps);
  hyper.weightDecay = static_cast<float>(options_.weightDecay);
  hyper.clip = options_.clip > 0 ? static_cast<float>(options_.clip) : std::numeric_limits<float>::infinity();
  return hyper;
}

Status Loop::loadRow(int64_t index, EntryKind kind, StepMetrics &metrics) {
  // A step under way is not to wait for a compiler.
  if (!findBucket(session_.buckets(kind), data_.rowShape(index)).ok())
    QRT_RETURN_IF_ERROR(finishAll());
  size_t built = session_.buckets(kind).size();
  Stopwatch watch;
  QRT_ASSIGN_OR_RETURN(BucketShape bucket, session_.bucketFor(kind, data_.rowShape(index)));
  if (session_.buckets(kind).size() != built) {
    metrics.compileMilliseconds += watch.milliseconds();
    QRT_RETURN_IF_ERROR(saveChoices(session_, options_));
  }
  data_.readRow(index, row_);
  QRT_RETURN_IF_ERROR(fillBatch(row_, bucket, batch_));
  metrics.slotTokens += bucket.tokens;
  return session_.loadBatch(batch_);
}

Status Loop::dumpAccumulatedGradients() {
  std::vector<std::byte> bytes;
  for (const Parameter &parameter : session_.program().parameters()) {
    const std::optional<BufferRef> &gradient = parameter.part(ParameterPart::Gradient);
    if (!gradient)
      continue;
    bytes.resize(static_cast<size_t>(parameter.elements * byteSize(gradient->dtype)));
    QRT_RETURN_IF_ERROR(session_.readParameter(parameter, ParameterPart::Gradient, 0, bytes));
    dump_.addParameter(parameter, gradient->dtype, bytes);
  }
  return Status();
}

Status Loop::start(EntryKind kind, Observer *observer) {
  QRT_RETURN_IF_ERROR(session_.start(kind, observer));
  return finishWhileMoreThan(session_.device().runsAhead());
}

Status Loop::finishWhileMoreThan(int underWay) {
  while (session_.runsUnderWay() > underWay)
    QRT_RETURN_IF_ERROR(finishOne());
  return Status();
}

Status Loop::finishAll() { return finishWhileMoreThan(0); }

Status Loop::trace(EntryKind kind) {
  QRT_RETURN_IF_ERROR(finishAll());
  ExecutionTrace trace;
  QRT_ASSIGN_OR_RETURN(RunResult run, session_.trace(kind, trace));
  QRT_RETURN_IF_ERROR(
      writeFileAtomically(options_.traceFile, traceJson(*session_.entryFor(kind), trace, session_.device().name())));
  return take(run);
}

Status Loop::finishOne() {
  QRT_ASSIGN_OR_RETURN(RunResult run, session_.finish());
  return take(run);
}

Status Loop::take(const RunResult &run) {
  Pending &step = pending_.front();
  StepMetrics &metrics = step.metrics;
  metrics.gradNorm = run.gradNorm;
  --step.runsLeft;
  // The last run of a step that accumulates is the optimizer's alone.
  if (!step.accumulates || step.runsLeft > 0)
    step.loss += run.loss;
  if (step.runsLeft > 0)
    return Status();
  metrics.loss = step.loss / static_cast<double>(metrics.trainedTokens);
  metrics.skipped = !std::isfinite(metrics.gradNorm);
  metrics.memoryBytes = totalBytes(session_.device().reserved());
  if (memory_) {
    metrics.plannedBytes = session_.plannedBytes();
    metrics.deviceBytes = memory_->bytes - memory_->others;
  }
  double now = watch_.milliseconds();
  metrics.milliseconds = now - std::max(step.begin, lastFinished_) - metrics.compileMilliseconds;
  lastFinished_ = now;
  StepMetrics done = metrics;
  pending_.pop_front();
  return report_(done);
}

Status Loop::step(StepMetrics metrics, const std::vector<int64_t> &rows) {
  double begin = watch_.milliseconds();
  for (int64_t index : rows) {
    metrics.trainedTokens += data_.rowShape(index).trained;
    metrics.realTokens += data_.rowShape(index).tokens;
  }
  if (metrics.trainedTokens == 0)
    return error(StatusCode::InvalidData, "{}: step {}: none of its rows ({}) has a trained token", data_.directory(),
                 metrics.step, fmt::join(rows, ", "));

  // One row is a whole step; several add up their gradients before one update.
  bool accumulate = rows.size() > 1, dump = !options_.dumpGrads.empty(), isTraced = metrics.step == traced_;
  EntryKind kind = accumulate ? EntryKind::Accumulate : EntryKind::Step;
  pending_.push_back({metrics, accumulate, rows.size() + accumulate, 0, begin});
  // A reference to the last element holds while the first ones go.
  Pending &pending = pending_.back();
  for (int64_t index : rows) {
    QRT_RETURN_IF_ERROR(loadRow(index, kind, pending.metrics));
    session_.setScalars(static_cast<float>(1.0 / static_cast<double>(metrics.trainedTokens)),
                        hyperparameters(metrics.learningRate), static_cast<int64_t>(options_.seed));
    if (std::exchange(isTraced, false))
      QRT_RETURN_IF_ERROR(trace(kind));
    else
      QRT_RETURN_IF_ERROR(start(kind, dump && !accumulate ? &dump_ : nullptr));
  }
  if (accumulate) {
    if (dump) {
      QRT_RETURN_IF_ERROR(finishAll());
      QRT_RETURN_IF_ERROR(dumpAccumulatedGradients());
    }
    QRT_RETURN_IF_ERROR(start(EntryKind::Apply, nullptr));
  }
  if (!dump)
    return Status();
  QRT_RETURN_IF_ERROR(finishAll());
  return dump_.write(joinPath(options_.dumpGrads, fmt::format("step-{:05}.safetensors", metrics.step)));
}

} // namespace

Status checkOptions(const TrainOptions &options) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const struct {
    const char *name;
    double value, least, below;
    const char *expected;
  } numbers[] = {
      {"lr", options.learningRate, 0, kInfinity, "a finite number of at least 0"},
      {"beta1", options.beta1, 0, 1, "a number of at least 0 and below 1"},
      {"beta2", options.beta2, 0, 1, "a number of at least 0 and below 1"},
      // The smallest that f32 holds in full: with 0 a moment that is 0 would divide by it.
      {"eps", options.eps, std::numeric_limits<float>::min(), kInfinity, "a finite number above 1e-38"},
      {"weight-decay", options.weightDecay, 0, kInfinity, "a finite number of at least 0"},
      {"clip", options.clip, 0, kInfinity, "a finite number of at least 0"},
  };
  for (const auto &number : numbers)
    // Written so that it is true for NaN.
    if (!(number.value >= number.least && number.value < number.below) ||
        !std::isfinite(static_cast<float>(number.value)))
      return error(StatusCode::InvalidUsage, "--{}: expected {}, got {}", number.name, number.expected,
                   plainNan(number.value));
  const struct {
    const char *name;
    int64_t value, least;
  } counts[] = {{"micro-batches", options.microBatches, 1},
                {"steps", options.steps.value_or(0), 0},
                {"epochs", options.epochs.value_or(0), 0},
                {"warmup", options.warmup, 0},
                {"eval-every", options.evalEvery, 0}};
  for (const auto &count : counts)
    if (count.value < count.least)
      return error(StatusCode::InvalidUsage, "--{}: expected at least {}, got {}", count.name, count.least,
                   count.value);
  if (!options.traceFile.empty() && !options.dumpGrads.empty())
    return error(StatusCode::InvalidUsage, "--trace: a step whose gradients are written is not traced; leave one of "
                                           "--trace and --dump-grads out");
  return Status();
}

Status checkStepsAreTrained(const TrainOptions &options, const TokenData &data) {
  bool allTrained = true;
  for (int64_t row = 0; row < data.rows() && allTrained; ++row)
    allTrained = data.rowShape(row).trained > 0;
  if (allTrained || (options.steps && *options.steps == 0))
    return Status();
  QRT_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create(samplerOptions(options, data.rows())));
  for (int64_t step = 0, steps = sampler.steps(); step < steps; ++step) {
    std::vector<int64_t> rows = sampler.next();
    if (std::none_of(rows.begin(), rows.end(), [&](int64_t row) { return data.rowShape(row).trained > 0; }))
      return error(StatusCode::InvalidData, "{}: step {}: none of its rows ({}) has a trained token", data.directory(),
                   step + 1, fmt::join(rows, ", "));
  }
  return Status();
}

StatusOr<int64_t> plannedSteps(const TrainOptions &options, int64_t rows) {
  if (options.steps && *options.steps == 0)
    return 0;
  QRT_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create(samplerOptions(options, rows)));
  return sampler.steps();
}

StatusOr<TrainResult> train(Session &session, const TokenData &data, const TokenData *evalData,
                            const TrainOptions &options, MetricsFile &metrics, Progress &progress,
                            const std::atomic<bool> &stop) {
  Stopwatch watch;
  TrainResult result;
  QRT_ASSIGN_OR_RETURN(int64_t steps, plannedSteps(options, data.rows()));
  Schedule schedule{options.schedule, options.learningRate, options.warmup, steps};
  Loop loop(session, data, options, options.traceFile.empty() ? 0 : steps, [&](const StepMetrics &line) -> Status {
    progress.step(line);
    result.steps = line.step;
    result.skipped += line.skipped;
    result.firstLoss = result.firstLoss.value_or(line.loss);
    result.lastLoss = line.loss;
    if (line.step == 1)
      result.firstStepMilliseconds = watch.milliseconds();
    return metrics.write(line);
  });
  QRT_RETURN_IF_ERROR(saveChoices(session, options));
  if (!options.dumpGrads.empty())
    QRT_RETURN_IF_ERROR(createDirectories(options.dumpGrads));
  if (options.microBatches > 1)
    QRT_RETURN_IF_ERROR(session.zeroGradients());

  auto evaluateNow = [&](int64_t step) -> Status {
    QRT_ASSIGN_OR_RETURN(EvalResult eval, evaluate(session, *evalData));
    EvalMetrics line{step, eval.loss, eval.trainedTokens, eval.milliseconds};
    progress.eval(line);
    result.evalLoss = eval.loss;
    return metrics.write(line);
  };

  std::optional<Sampler> sampler;
  if (steps > 0) {
    QRT_ASSIGN_OR_RETURN(sampler, Sampler::create(samplerOptions(options, data.rows())));
  }
  int64_t lastEval = -1;
  for (int64_t step = 0; step < steps && !result.interrupted; ++step) {
    StepMetrics line;
    line.step = step + 1;
    line.epoch = sampler->state().epoch;
    line.learningRate = schedule.at(step);
    QRT_RETURN_IF_ERROR(loop.step(line, sampler->next()));
    if (evalData && options.evalEvery > 0 && line.step % options.evalEvery == 0) {
      QRT_RETURN_IF_ERROR(loop.finishAll());
      QRT_RETURN_IF_ERROR(evaluateNow(line.step));
      lastEval = line.step;
    }
    result.interrupted = stop.load();
  }
  QRT_RETURN_IF_ERROR(loop.finishAll());
  progress.finish();
  // Who stops a run wants its checkpoint now.
  if (evalData && lastEval != result.steps && !result.interrupted)
    QRT_RETURN_IF_ERROR(evaluateNow(result.steps));
  result.milliseconds = watch.milliseconds();
  return result;
}

} // namespace qrt
