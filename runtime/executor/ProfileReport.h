// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_EXECUTOR_PROFILEREPORT_H
#define RUNTIME_EXECUTOR_PROFILEREPORT_H

#include "runtime/executor/Profile.h"

namespace qrt {

/// A profile as a table with a line for each class, and below it the run against its matrix products alone, its
/// predicted time, tokens a second, utilisation, clock and power. What is unknown says so.
std::string profileTable(const ProfileInput &input, const Profile &profile, std::string_view device);

/// The same as JSON text that ends with a line feed; what is unknown is null.
std::string profileJson(const ProfileInput &input, const Profile &profile, std::string_view device);

/// A line for each instruction: its class, scope, time, predicted time and rates.
std::string instructionTable(const ProfileInput &input);

} // namespace qrt

#endif // RUNTIME_EXECUTOR_PROFILEREPORT_H
