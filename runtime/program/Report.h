// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_PROGRAM_REPORT_H
#define RUNTIME_PROGRAM_REPORT_H

#include "runtime/program/Program.h"

namespace qrt {

/// A program for people: what it was built from, its parameters, the memory by space and class, and of every entry the
/// memory, the arithmetic and how often each kernel runs; with `instructions`, each instruction with its slices. Ends
/// with a line feed.
std::string programReport(const Program &program, bool instructions);

} // namespace qrt

#endif // RUNTIME_PROGRAM_REPORT_H
