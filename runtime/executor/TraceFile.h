// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_EXECUTOR_TRACEFILE_H
#define RUNTIME_EXECUTOR_TRACEFILE_H

#include "runtime/device/ExecutionTrace.h"
#include "runtime/program/Program.h"

namespace qrt {

/// A traced run as JSON of the Trace Event Format, which ui.perfetto.dev and chrome://tracing show: a line of the
/// device's works for each stream, and one of the entry's instructions by class, each with its number and its scope.
/// Times are microseconds from the beginning of the first work. Ends with a line feed.
std::string traceJson(const Entry &entry, const ExecutionTrace &trace, std::string_view device);

/// What a trace says in a line: how long the run took, how much of it the device worked, and, where the trace is not
/// complete, that works have no instructions.
std::string traceSummary(const ExecutionTrace &trace);

} // namespace qrt

#endif // RUNTIME_EXECUTOR_TRACEFILE_H
