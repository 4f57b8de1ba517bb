// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/train/Schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace qrt {

double Schedule::at(int64_t step) const {
  if (step < warmup)
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (kind == ScheduleKind::Constant)
    return peak;
  double length = static_cast<double>(std::max<int64_t>(steps - warmup, 1));
  double done = std::min(static_cast<double>(step - warmup) / length, 1.0);
  return kind == ScheduleKind::Linear ? peak * (1 - done) : peak * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

StatusOr<ScheduleKind> parseScheduleKind(std::string_view name) {
  if (name == "constant")
    return ScheduleKind::Constant;
  if (name == "linear")
    return ScheduleKind::Linear;
  if (name == "cosine")
    return ScheduleKind::Cosine;
  return error(StatusCode::InvalidUsage, "--schedule: expected constant, linear or cosine, got {}", name);
}

} // namespace qrt
