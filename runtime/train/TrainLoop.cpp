// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/TrainLoop.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "runtime/data/Batch.h"
#include "runtime/data/Sampler.h"
#include "runtime/executor/DebugDump.h"
#include "runtime/train/Evaluate.h"

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

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
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
  auto begin = Clock::now();
  QRT_ASSIGN_OR_RETURN(BucketShape bucket, session_.bucketFor(kind, data_.rowShape(index)));
  if (session_.buckets(kind).size() != built)
    metrics.compileMilliseconds += millisecondsSince(begin);
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
  auto begin = Clock::now();
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
  metrics.milliseconds = millisecondsSince(begin) - metrics.compileMilliseconds;
  return metrics;
}

} // namespace

StatusOr<int64_t> plannedSteps(const TrainOptions &options, int64_t rows) {
  if (options.steps && *options.steps == 0)
    return 0;
  QRT_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create(samplerOptions(options, rows)));
  return sampler.steps();
}

StatusOr<TrainResult> train(Session &session, const TokenData &data, const TokenData *evalData,
                            const TrainOptions &options, MetricsFile &metrics, Progress &progress,
                            const std::atomic<bool> &stop) {
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
    if (evalData && options.evalEvery > 0 && line.step % options.evalEvery == 0) {
      QRT_RETURN_IF_ERROR(evaluateNow(line.step));
      lastEval = line.step;
    }
    result.interrupted = stop.load();
  }
  progress.finish();
  if (evalData && lastEval != result.steps)
    QRT_RETURN_IF_ERROR(evaluateNow(result.steps));
  return result;
}

} // namespace qrt
