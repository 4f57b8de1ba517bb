// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/TrainLoop.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "runtime/data/Batch.h"
#include "runtime/data/Sampler.h"
#include "runtime/train/Dump.h"
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

class Loop {
public:
  Loop(Session &session, const TokenData &data, const TrainOptions &options)
      : session_(session), data_(data), options_(options) {}

  /// Trains one step on these rows.
  StatusOr<StepMetrics> step(int64_t step, const std::vector<int64_t> &rows, double learningRate);

private:
  Status loadRow(int64_t index);

  Session &session_;
  const TokenData &data_;
  const TrainOptions &options_;
  TokenRow row_;
  HostBatch batch_;
};

Status Loop::loadRow(int64_t index) {
  QRT_ASSIGN_OR_RETURN(BucketShape bucket, session_.bucketFor(data_.rowShape(index)));
  data_.readRow(index, row_);
  QRT_RETURN_IF_ERROR(fillBatch(row_, bucket, batch_));
  return session_.loadBatch(batch_);
}

StatusOr<StepMetrics> Loop::step(int64_t step, const std::vector<int64_t> &rows, double learningRate) {
  auto begin = std::chrono::steady_clock::now();
  double compiledBefore = session_.compileMilliseconds();
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

  Hyperparameters hyper{};
  hyper.learningRate = static_cast<float>(learningRate);
  hyper.beta1 = static_cast<float>(options_.beta1);
  hyper.beta2 = static_cast<float>(options_.beta2);
  hyper.eps = static_cast<float>(options_.eps);
  hyper.weightDecay = static_cast<float>(options_.weightDecay);
  hyper.clip = options_.clip > 0 ? static_cast<float>(options_.clip) : std::numeric_limits<float>::infinity();
  float inverseTokens = static_cast<float>(1.0 / static_cast<double>(metrics.trainedTokens));

  // One row is a whole step; several add up their gradients before one update.
  GradientDump gradients(session_.program());
  Observer *observer = options_.dumpGrads.empty() ? nullptr : &gradients;
  bool accumulate = rows.size() > 1;
  double loss = 0;
  StepResult result;
  for (int64_t index : rows) {
    QRT_RETURN_IF_ERROR(loadRow(index));
    session_.setScalars(inverseTokens, hyper, options_.seed);
    QRT_ASSIGN_OR_RETURN(result, session_.run(accumulate ? EntryKind::Accumulate : EntryKind::Step, batch_.bucket,
                                              accumulate ? nullptr : observer));
    loss += result.loss;
    metrics.slotTokens += batch_.bucket.tokens;
  }
  if (accumulate) {
    if (observer)
      QRT_RETURN_IF_ERROR(addAccumulatedGradients(session_, gradients.tensors()));
    QRT_ASSIGN_OR_RETURN(result, session_.run(EntryKind::Apply, BucketShape()));
  }
  if (observer)
    QRT_RETURN_IF_ERROR(gradients.tensors().write(options_.dumpGrads, fmt::format("step-{:05}", metrics.step)));

  metrics.loss = loss / static_cast<double>(metrics.trainedTokens);
  metrics.gradNorm = result.gradNorm;
  metrics.skipped = !std::isfinite(result.gradNorm);
  metrics.memoryBytes = session_.memoryBytes();
  metrics.compileMilliseconds = session_.compileMilliseconds() - compiledBefore;
  double all = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  metrics.milliseconds = all - metrics.compileMilliseconds;
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
