// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_TRAIN_SCHEDULE_H
#define RUNTIME_TRAIN_SCHEDULE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string_view>

namespace qrt {

enum class ScheduleKind { Constant, Linear, Cosine };

/// The learning rate over a run: a linear warm-up to the peak, then constant, or falling to zero along a line or half a
/// cosine.
struct Schedule {
  ScheduleKind kind = ScheduleKind::Cosine;
  double peak = 0;
  /// Steps of the warm-up: step s of them has (s + 1) / warmup of the peak.
  int64_t warmup = 0;
  /// Steps of the whole run.
  int64_t steps = 0;

  /// The learning rate of step `step`, counted from 0.
  double at(int64_t step) const;
};

/// constant, linear or cosine; InvalidUsage otherwise.
StatusOr<ScheduleKind> parseScheduleKind(std::string_view name);

} // namespace qrt

#endif // RUNTIME_TRAIN_SCHEDULE_H
