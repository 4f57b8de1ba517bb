// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Metrics.h"

#include "runtime/base/Digits.h"
#include "runtime/base/Json.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace qrt {

static double perSecond(int64_t tokens, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(tokens) * 1000 / milliseconds : 0;
}

//===----------------------------------------------------------------------===//
// MetricsFile
//===----------------------------------------------------------------------===//

StatusOr<MetricsFile> MetricsFile::create(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    return error(StatusCode::Io, "{}: {}", path, std::strerror(errno));
  return MetricsFile(file, path);
}

MetricsFile::MetricsFile(MetricsFile &&other) noexcept
    : file_(std::exchange(other.file_, nullptr)), path_(std::move(other.path_)) {}

MetricsFile::~MetricsFile() {
  if (file_)
    std::fclose(file_);
}

Status MetricsFile::writeLine(const std::string &line) {
  if (std::fputs(line.c_str(), file_) < 0 || std::fputc('\n', file_) == EOF || std::fflush(file_) != 0)
    return error(StatusCode::Io, "{}: {}", path_, std::strerror(errno));
  return Status();
}

/// JSON has no infinities: what is not finite is null.
static Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Status MetricsFile::write(const StepMetrics &m) {
  Json line = {
      {"step", m.step},
      {"epoch", m.epoch},
      {"loss", finite(m.loss)},
      {"grad_norm", finite(m.gradNorm)},
      {"lr", m.learningRate},
      {"skipped", m.skipped},
      {"tokens", {{"trained", m.trainedTokens}, {"real", m.realTokens}, {"slot", m.slotTokens}}},
      {"memory_bytes", m.memoryBytes},
      {"time",
       {{"step_ms", m.milliseconds},
        {"compile_ms", m.compileMilliseconds},
        {"tokens_per_second",
         {{"trained", perSecond(m.trainedTokens, m.milliseconds)},
          {"real", perSecond(m.realTokens, m.milliseconds)},
          {"slot", perSecond(m.slotTokens, m.milliseconds)}}}}},
  };
  if (m.deviceBytes > 0) {
    line["memory_planned_bytes"] = m.plannedBytes;
    line["memory_device_bytes"] = m.deviceBytes;
  }
  return writeLine(line.dump());
}

Status MetricsFile::write(const EvalMetrics &m) {
  Json line = {
      {"step", m.step},
      {"eval_loss", finite(m.loss)},
      {"tokens", {{"trained", m.trainedTokens}}},
      {"time", {{"eval_ms", m.milliseconds}}},
  };
  return writeLine(line.dump());
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

/// Runs of at most so many steps have a line for each.
static constexpr int64_t kShortRun = 100;
static constexpr double kLongestSilenceMilliseconds = 10'000;

std::string clockTime(double milliseconds) {
  int64_t seconds = static_cast<int64_t>(milliseconds / 1000 + 0.5);
  if (seconds >= 3600)
    return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

Progress::Progress(std::FILE *out, int64_t steps, std::optional<int64_t> logEvery)
    : out_(out), terminal_(isatty(fileno(out)) != 0), steps_(steps), logEvery_(logEvery) {}

void Progress::clearBar() {
  if (barShown_)
    std::fputs("\r\x1b[K", out_);
  barShown_ = false;
}

void Progress::message(const std::string &line) {
  clearBar();
  std::fputs((line + "\n").c_str(), out_);
  std::fflush(out_);
}

void Progress::begin(const std::string &metrics) {
  message(
      "of each step: loss: mean over its trained tokens (nats); grad: norm of all gradients, before clipping; ms: its "
      "time;");
  message(
      "  tok/s: tokens a second, of those that the loss counts (trained), of the documents (real), with places that "
      "stay empty (slot); GiB: memory reserved for the run");
  if (!terminal_ && !logEvery_ && steps_ > kShortRun)
    message(fmt::format("about every {} steps have a line (--log-every N: every N); all of them are in {}",
                        (steps_ + kShortRun - 1) / kShortRun, metrics));
  else
    message("all steps are in " + metrics);
}

bool Progress::wantsLine(const StepMetrics &m) const {
  if (logEvery_)
    return m.step % *logEvery_ == 0 || (!terminal_ && (m.step == 1 || m.step == steps_));
  if (terminal_)
    return false;
  return m.step == 1 || m.step == steps_ || m.step - lineStep_ >= (steps_ + kShortRun - 1) / kShortRun ||
         elapsedMilliseconds_ - lineMilliseconds_ >= kLongestSilenceMilliseconds;
}

void Progress::flushLine() {
  if (!terminal_ && !unsaid_.empty())
    message(unsaid_);
  unsaid_.clear();
}

void Progress::step(const StepMetrics &m) {
  elapsedMilliseconds_ += m.milliseconds + m.compileMilliseconds;
  ++seen_;
  if (m.skipped)
    message(fmt::format("step {}: the gradient norm is {}: nothing was updated", m.step, plainNan(m.gradNorm)));
  std::string numbers =
      fmt::format("loss {:.4f}  grad {:.3f}  lr {:.2e}  {:.0f} ms  tok/s {:.0f} trained, {:.0f} real, {:.0f} slot  {}",
                  plainNan(m.loss), plainNan(m.gradNorm), m.learningRate, m.milliseconds,
                  perSecond(m.trainedTokens, m.milliseconds), perSecond(m.realTokens, m.milliseconds),
                  perSecond(m.slotTokens, m.milliseconds), printGib(m.memoryBytes));
  if (m.compileMilliseconds > 0)
    numbers += fmt::format("  compile {:.0f} ms", m.compileMilliseconds);
  unsaid_ = fmt::format("step {}/{}  {}", m.step, steps_, numbers);
  if (wantsLine(m)) {
    message(unsaid_);
    unsaid_.clear();
    lineStep_ = m.step;
    lineMilliseconds_ = elapsedMilliseconds_;
  }
  if (!terminal_)
    return;
  constexpr int64_t kWidth = 20;
  int64_t full = kWidth * m.step / std::max<int64_t>(steps_, 1);
  double left = elapsedMilliseconds_ / static_cast<double>(seen_) * static_cast<double>(steps_ - m.step);
  clearBar();
  std::string line = fmt::format("[{:{}}] {}/{}  {} left  {}", std::string(static_cast<size_t>(full), '#'), kWidth,
                                 m.step, steps_, clockTime(left), numbers);
  // A line that wraps could not be redrawn in place. Asked each time: windows change their size.
  winsize window;
  if (::ioctl(fileno(out_), TIOCGWINSZ, &window) == 0 && window.ws_col > 1 && line.size() >= window.ws_col)
    line.resize(window.ws_col - 1u);
  std::fputs(line.c_str(), out_);
  std::fflush(out_);
  barShown_ = true;
}

void Progress::eval(const EvalMetrics &m) {
  flushLine();
  message(fmt::format("step {}: held-out loss {:.4f} over {} ({:.1f} s)", m.step, plainNan(m.loss),
                      countOf(m.trainedTokens, "trained token"), m.milliseconds / 1000));
}

void Progress::finish() {
  flushLine();
  if (barShown_)
    std::fputc('\n', out_);
  barShown_ = false;
  std::fflush(out_);
}

} // namespace qrt
