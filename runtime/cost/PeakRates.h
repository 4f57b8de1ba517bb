// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_COST_PEAKRATES_H
#define RUNTIME_COST_PEAKRATES_H

#include "runtime/base/DType.h"

#include <optional>
#include <string_view>

namespace qrt {

/// Operations a second that a device can do by its maker's data sheet, in dense matrix products of this type (added in
/// f32), which no clock and no power limits. Nothing for a device or type that is not in the table, other models of the
/// same chip among them. `device`: its name as the driver has it: "NVIDIA H200".
std::optional<double> peakRate(std::string_view device, DType dtype);

} // namespace qrt

#endif // RUNTIME_COST_PEAKRATES_H
