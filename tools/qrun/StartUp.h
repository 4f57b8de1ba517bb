// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TOOLS_QRUN_STARTUP_H
#define TOOLS_QRUN_STARTUP_H

#include "runtime/base/Stopwatch.h"
#include "runtime/executor/Session.h"

#include <string>
#include <vector>

namespace qrt {

/// How long the parts of a start took, one behind the other.
class StartUp {
public:
  /// The time since the last part, or since the beginning, belongs to this one.
  void part(std::string name);
  /// `milliseconds` of what the next part takes are this one's.
  void partOfNext(std::string name, double milliseconds);

  double milliseconds() const { return watch_.milliseconds(); }
  /// "start-up 5,321 ms: program 12, device 830, reserve 45, prepare 1,410 (...), weights 3,024".
  /// `compiled`: functions of the device that were compiled for it.
  std::string report(const Preparation &preparation, int64_t compiled) const;

private:
  struct Part {
    std::string name;
    double milliseconds;
  };
  Stopwatch watch_;
  std::vector<Part> parts_;
  double last_ = 0;
};

/// The memory of a session's device against the plan, for devices that say what they use: a line; otherwise empty.
std::string deviceMemoryReport(const Session &session);

} // namespace qrt

#endif // TOOLS_QRUN_STARTUP_H
