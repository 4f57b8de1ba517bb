// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/TrainLoop.h"

#include "runtime/base/Digits.h"
#include "runtime/base/Stopwatch.h"
#include "runtime/data/Batch.h"
#include "runtime/data/Sampler.h"
#include "runtime/executor/DebugDump.h"
#include "runtime/train/Evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

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

class Loop {
public:
  Loop(Session &session, const TokenData &data, const TrainOptions &options)
      : session_(session), data_(data), options_(options), dump_(session.program(), DebugDump::Kind::Gradients) {}

  /// Trains one step on these rows.
  StatusOr<StepMetrics> step(int64_t step, const std::vector<int64_t> &rows, double learningRate);

private:
  Hyperparameters hyperparameters(double learningRate) const;
  /// Brings a row into the session; a bucket that has to be compiled for it is counted.
  Status loadRow(int64_t index, EntryKind kind, StepMetrics &metrics);
  Status dumpAccumulatedGradients();

  Session &session_;
  const TokenData &data_;
  const TrainOptions &options_;
  DebugDump dump_;
  TokenRow row_;
  HostBatch batch_;
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
  size_t built = session_.buckets(kind).size();
  Stopwatch watch;
  QRT_ASSIGN_OR_RETURN(BucketShape bucket, session_.bucketFor(kind, data_.rowShape(index)));
  if (session_.buckets(kind).size() != built)
    metrics.compileMilliseconds += watch.milliseconds();
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

StatusOr<StepMetrics> Loop::step(int64_t step, const std::vector<int64_t> &rows, double learningRate) {
  Stopwatch watch;
  StepMetrics metrics;
  metrics.step = step + 1;
  metrics.learningRate = learningRate;
  for (int64_t index : rows) {
    metrics.trainedTokens += data_.rowShape(index).trained;
    metrics.realTokens += data_.rowShape(index).tokens;
  }
  if (metrics.trainedTokens == 0)
    return error(StatusCode::InvalidData, "{}: step {}: none of its rows ({}) has a trained token", data_.directory(),
                 metrics.step, fmt::join(rows, ", "));

  // One row is a whole step; several add up their gradients before one update.
  bool accumulate = rows.size() > 1, dump = !options_.dumpGrads.empty();
  EntryKind kind = accumulate ? EntryKind::Accumulate : EntryKind::Step;
  session_.setScalars(static_cast<float>(1.0 / static_cast<double>(metrics.trainedTokens)),
                      hyperparameters(learningRate), static_cast<int64_t>(options_.seed));
  double loss = 0;
  for (int64_t index : rows) {
    QRT_RETURN_IF_ERROR(loadRow(index, kind, metrics));
    QRT_ASSIGN_OR_RETURN(RunResult run, session_.run(kind, dump && !accumulate ? &dump_ : nullptr));
    loss += run.loss;
    metrics.gradNorm = run.gradNorm;
  }
  if (accumulate) {
    if (dump)
      QRT_RETURN_IF_ERROR(dumpAccumulatedGradients());
    QRT_ASSIGN_OR_RETURN(RunResult applied, session_.run(EntryKind::Apply));
    metrics.gradNorm = applied.gradNorm;
  }
  if (dump)
    QRT_RETURN_IF_ERROR(dump_.write(joinPath(options_.dumpGrads, fmt::format("step-{:05}.safetensors", metrics.step))));

  metrics.loss = loss / static_cast<double>(metrics.trainedTokens);
  metrics.skipped = !std::isfinite(metrics.gradNorm);
  for (int64_t bytes : session_.device().reserved())
    metrics.memoryBytes += bytes;
  metrics.milliseconds = watch.milliseconds() - metrics.compileMilliseconds;
  return metrics;
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
  Loop loop(session, data, options);
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
    int64_t epoch = sampler->state().epoch;
    QRT_ASSIGN_OR_RETURN(StepMetrics line, loop.step(step, sampler->next(), schedule.at(step)));
    line.epoch = epoch;
    progress.step(line);
    QRT_RETURN_IF_ERROR(metrics.write(line));
    result.steps = line.step;
    result.skipped += line.skipped;
    result.firstLoss = result.firstLoss.value_or(line.loss);
    result.lastLoss = line.loss;
    if (evalData && options.evalEvery > 0 && line.step % options.evalEvery == 0) {
      QRT_RETURN_IF_ERROR(evaluateNow(line.step));
      lastEval = line.step;
    }
    result.interrupted = stop.load();
  }
  progress.finish();
  // Who stops a run wants its checkpoint now.
  if (evalData && lastEval != result.steps && !result.interrupted)
    QRT_RETURN_IF_ERROR(evaluateNow(result.steps));
  result.milliseconds = watch.milliseconds();
  return result;
}

} // namespace qrt
