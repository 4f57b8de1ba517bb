// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run reports: a JSON line a step for programs, and the terminal for people.
#ifndef RUNTIME_TRAIN_METRICS_H
#define RUNTIME_TRAIN_METRICS_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace qrt {

/// One optimizer step, over all its micro-batches.
struct StepMetrics {
  int64_t step = 0; // from 1
  int64_t epoch = 0;
  double loss = 0; // mean over the trained tokens
  double gradNorm = 0;
  double learningRate = 0;
  /// Whether the gradients were not finite, so that nothing was updated.
  bool skipped = false;
  int64_t trainedTokens = 0, realTokens = 0, slotTokens = 0;
  double milliseconds = 0;
  /// Of this step, for buckets that were not built before.
  double compileMilliseconds = 0;
  /// Reserved for the spaces.
  int64_t memoryBytes = 0;
  /// Of a device that says what it uses: what was planned in all, and what it said at the beginning of the run; else 0.
  int64_t plannedBytes = 0, deviceBytes = 0;
};

struct EvalMetrics {
  int64_t step = 0;
  double loss = 0;
  int64_t trainedTokens = 0;
  double milliseconds = 0;
};

/// Writes DIR/metrics.jsonl: the keys of a line are sorted, times and what derives from them lie in the member "time".
class MetricsFile {
public:
  static StatusOr<MetricsFile> create(const std::string &path);
  MetricsFile(MetricsFile &&other) noexcept;
  ~MetricsFile();

  Status write(const StepMetrics &metrics);
  Status write(const EvalMetrics &metrics);

private:
  MetricsFile(std::FILE *file, std::string path) : file_(file), path_(std::move(path)) {}
  Status writeLine(const std::string &line);

  std::FILE *file_;
  std::string path_;
};

/// Reports to people. On a terminal a bar with the time left is redrawn in place. Elsewhere a line says a step: every
/// step of a short run, of a longer one about each hundredth and at least one in ten seconds, and always the first, the
/// last, and those with an evaluation. What cannot be written is left out: no run ends for that.
class Progress {
public:
  /// `logEvery`: a line every so many steps instead, also on a terminal.
  Progress(std::FILE *out, int64_t steps, std::optional<int64_t> logEvery = std::nullopt);

  /// Says what the numbers of a step are, and which steps have a line. `metrics`: the file with all of them.
  void begin(const std::string &metrics);
  void step(const StepMetrics &metrics);
  void eval(const EvalMetrics &metrics);
  /// A line of its own, above the bar.
  void message(const std::string &line);
  /// Ends the bar's line; the line of the last step.
  void finish();

private:
  bool wantsLine(const StepMetrics &metrics) const;
  void clearBar();
  /// The line of the last step, if it has none yet.
  void flushLine();

  std::FILE *out_;
  bool terminal_;
  int64_t steps_;
  std::optional<int64_t> logEvery_;
  bool barShown_ = false;
  double elapsedMilliseconds_ = 0;
  int64_t seen_ = 0;
  /// Where the last line was.
  int64_t lineStep_ = 0;
  double lineMilliseconds_ = 0;
  std::string unsaid_;
};

/// "2:05", "1:02:05".
std::string clockTime(double milliseconds);

} // namespace qrt

#endif // RUNTIME_TRAIN_METRICS_H
