// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_EXECUTOR_PROFILE_H
#define RUNTIME_EXECUTOR_PROFILE_H

#include "runtime/device/Device.h"

#include <string>
#include <vector>

namespace qrt {

/// Instructions of one class: a kernel of the catalog, or matrix products of one shape.
struct ProfileRow {
  std::string name;
  int calls = 0;
  /// Pieces of work that the device gets.
  int works = 0;
  double milliseconds = 0;
  /// Arithmetic by the catalog's formula (whose attention is that of one document as long as the bucket's longest), and
  /// bytes: every argument once, twice where it is updated.
  double flops = 0, bytes = 0;
};

/// The classes of an entry's instructions, those that take longest first.
std::vector<ProfileRow> profileRows(const Entry &entry, const ExecutionTimes &times);

/// The rows as a table, with what they reach of the device's rates where these are known; then the run against its
/// matrix products alone and the sum of its instructions, and tokens a second: of the bucket, in documents, trained.
std::string profileReport(const Entry &entry, const ExecutionTimes &times, const BucketShape &row);

} // namespace qrt

#endif // RUNTIME_EXECUTOR_PROFILE_H
