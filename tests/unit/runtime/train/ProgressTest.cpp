// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Metrics.h"

#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace qrt {
namespace {

/// A file that is no terminal, and what was written to it.
class Output {
public:
  Output() : file_(std::tmpfile()) {}
  ~Output() { std::fclose(file_); }
  std::FILE *file() { return file_; }
  std::string text() {
    std::string result;
    std::rewind(file_);
    for (int c; (c = std::fgetc(file_)) != EOF;)
      result += static_cast<char>(c);
    return result;
  }

private:
  std::FILE *file_;
};

/// The steps that have a line in a run of `steps`, each of `milliseconds`, with an evaluation after `evaluated`.
std::vector<int64_t> stepsWithLines(int64_t steps, double milliseconds, std::optional<int64_t> logEvery = std::nullopt,
                                    int64_t evaluated = 0, int64_t ran = 0) {
  Output output;
  Progress progress(output.file(), steps, logEvery);
  for (int64_t step = 1; step <= (ran ? ran : steps); ++step) {
    StepMetrics metrics;
    metrics.step = step;
    metrics.milliseconds = milliseconds;
    progress.step(metrics);
    if (step == evaluated)
      progress.eval({.step = step});
  }
  progress.finish();
  std::vector<int64_t> result;
  std::string text = output.text(), end = fmt::format("/{} ", steps);
  for (size_t at = text.find("step "); at != std::string::npos; at = text.find("step ", at + 1))
    if (size_t slash = text.find_first_not_of("0123456789", at + 5); text.compare(slash, end.size(), end) == 0)
      result.push_back(std::stoll(text.substr(at + 5)));
  return result;
}

using Steps = std::vector<int64_t>;

TEST(ProgressTest, ShortRunsHaveALineAStep) {
  EXPECT_EQ(stepsWithLines(3, 1), (Steps{1, 2, 3}));
  EXPECT_EQ(stepsWithLines(100, 1).size(), 100u);
}

TEST(ProgressTest, LongRunsHaveAboutAHundredLines) {
  Steps steps = stepsWithLines(1872, 1);
  EXPECT_EQ((Steps{steps.begin(), steps.begin() + 3}), (Steps{1, 20, 39}));
  EXPECT_EQ(steps.back(), 1872);
  EXPECT_EQ(steps.size(), 100u);
}

TEST(ProgressTest, NoSilenceOfMoreThanTenSeconds) {
  Steps steps = stepsWithLines(1000000, 4000, std::nullopt, 0, 10);
  EXPECT_EQ(steps, (Steps{1, 4, 7, 10}));
}

TEST(ProgressTest, EvaluatedAndLastStepsHaveALine) {
  EXPECT_EQ(stepsWithLines(1000, 1, std::nullopt, 13, 22), (Steps{1, 11, 13, 21, 22}));
}

TEST(ProgressTest, AsOftenAsAskedFor) { EXPECT_EQ(stepsWithLines(7, 60000, 3), (Steps{1, 3, 6, 7})); }

TEST(ProgressTest, NanHasNoSign) {
  Output output;
  Progress progress(output.file(), 1);
  StepMetrics metrics;
  metrics.step = 1;
  metrics.loss = metrics.gradNorm = -std::numeric_limits<double>::quiet_NaN();
  metrics.skipped = true;
  progress.step(metrics);
  std::string text = output.text();
  EXPECT_NE(text.find("step 1: the gradient norm is nan: nothing was updated"), std::string::npos) << text;
  EXPECT_NE(text.find("loss nan  grad nan"), std::string::npos) << text;
}

TEST(ProgressTest, ClockTime) {
  EXPECT_EQ(clockTime(125'400), "2:05");
  EXPECT_EQ(clockTime(3'725'000), "1:02:05");
}

} // namespace
} // namespace qrt
