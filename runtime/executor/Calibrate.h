// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_EXECUTOR_CALIBRATE_H
#define RUNTIME_EXECUTOR_CALIBRATE_H

#include "runtime/executor/Profile.h"

namespace qrt {

/// The rates that predict what was measured of a run: those of the copy and the product measured with it, the time of
/// the shortest instruction as the fixed one, and for each kernel and form of product the fraction of its floor that
/// the sum of its instructions reached. What the entry has none of stays as `known` has it, products in its other type
/// too. Unsupported where the device measured no copy or product.
StatusOr<MachineRates> calibratedRates(const Entry &entry, const ExecutionTimes &times, const ProfiledRow &row,
                                       const MachineRates &known, std::string_view device);

} // namespace qrt

#endif // RUNTIME_EXECUTOR_CALIBRATE_H
