// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The training loop: rows in, steps run, metrics out.
#ifndef RUNTIME_TRAIN_TRAINLOOP_H
#define RUNTIME_TRAIN_TRAINLOOP_H

#include "runtime/data/TokenData.h"
#include "runtime/executor/Session.h"
#include "runtime/train/Metrics.h"
#include "runtime/train/Schedule.h"

#include <atomic>
#include <optional>
#include <string>

namespace qrt {

struct TrainOptions {
  /// Rows of a step. More than one: gradients are added up in f32.
  int64_t microBatches = 1;
  /// One of the two; with neither, one epoch.
  std::optional<int64_t> steps, epochs;
  uint64_t seed = 0;
  bool shuffle = true;

  double learningRate = 1e-5;
  ScheduleKind schedule = ScheduleKind::Cosine;
  int64_t warmup = 0;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0;
  /// Global norm that gradients are scaled to where they exceed it; 0: never.
  double clip = 1;

  /// Evaluate on the held-out data every so many steps, and at the end; 0: at the end only.
  int64_t evalEvery = 0;
  /// Where to keep the device's choices of algorithms (Device::choices), written whenever there are new ones; empty:
  /// nowhere.
  std::string choicesFile;
  /// Where to write the gradients of every step, under the names of the checkpoint; empty: nowhere.
  std::string dumpGrads;
  /// Where to write what the last step did and when (runtime/executor/TraceFile.h), of several rows the first; empty:
  /// nowhere. Goes without dumpGrads.
  std::string traceFile;
};

struct TrainResult {
  int64_t steps = 0;
  /// Of those: whose gradients were not finite, so that nothing was updated.
  int64_t skipped = 0;
  /// Of the first and the last step; none without steps.
  std::optional<double> firstLoss, lastLoss;
  /// From the beginning to the end of the first step.
  double firstStepMilliseconds = 0;
  /// Of the whole run, with its evaluations.
  double milliseconds = 0;
  /// Whether the run ended before its last step because it was asked to.
  bool interrupted = false;
  std::optional<double> evalLoss;
};

/// InvalidUsage, naming the option, for a number that no run can have.
Status checkOptions(const TrainOptions &options);

/// InvalidData if a step of the run would have no trained token: what would end it in the middle is known before.
Status checkStepsAreTrained(const TrainOptions &options, const TokenData &data);

/// Trains on `data`; `evalData` may be null. `stop` is looked at after every step. Errors: data that does not fit the
/// program, a step without a trained token, a file that cannot be written.
StatusOr<TrainResult> train(Session &session, const TokenData &data, const TokenData *evalData,
                            const TrainOptions &options, MetricsFile &metrics, Progress &progress,
                            const std::atomic<bool> &stop);

/// Steps of a run with these options on `rows` rows.
StatusOr<int64_t> plannedSteps(const TrainOptions &options, int64_t rows);

} // namespace qrt

#endif // RUNTIME_TRAIN_TRAINLOOP_H
