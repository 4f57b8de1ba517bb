// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/qrun/StartUp.h"

#include "runtime/base/Digits.h"

#include <cmath>

namespace qrt {

static std::string whole(double milliseconds) { return groupDigits(std::llround(milliseconds)); }

void StartUp::part(std::string name) {
  double now = watch_.milliseconds();
  parts_.push_back({std::move(name), now - last_});
  last_ = now;
}

void StartUp::partOfNext(std::string name, double milliseconds) {
  parts_.push_back({std::move(name), milliseconds});
  last_ += milliseconds;
}

std::string StartUp::report(const Preparation &preparation, int64_t compiled) const {
  std::string text = fmt::format("start-up {} ms:", whole(last_));
  for (const Part &part : parts_) {
    text += fmt::format("{} {} {}", &part == &parts_.front() ? "" : ",", part.name, whole(part.milliseconds));
    if (part.name == "prepare" && preparation.functions > 0)
      text += fmt::format(
          " ({}, {} of them compiled, loaded in {}; {} timed in {}{}; captured in {})",
          countOf(preparation.functions, "device function"), compiled, whole(preparation.loadMilliseconds),
          countOf(preparation.productsTimed, "matrix product"), whole(preparation.productMilliseconds),
          preparation.productsNotKept > 0 ? ", which could not be kept: the next run may choose others" : "",
          whole(preparation.captureMilliseconds));
  }
  return text;
}

std::string deviceMemoryReport(const Session &session) {
  std::optional<MemoryUse> use = session.device().memoryUse();
  if (!use)
    return "";
  std::string others = use->others > 0 ? fmt::format(", {} of that by others", printGib(use->others)) : "";
  double ratio = static_cast<double>(use->bytes - use->others) / static_cast<double>(session.plannedBytes());
  return fmt::format("device memory: planned {}; the device reports {} in use{} ({:+.2f} %)\n",
                     printBytes(session.plannedBytes()), printBytes(use->bytes), others, 100 * (ratio - 1));
}

} // namespace qrt
