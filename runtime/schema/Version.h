// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The version of step_program.fbs that the compiler writes and the runtime reads.
#ifndef RUNTIME_SCHEMA_VERSION_H
#define RUNTIME_SCHEMA_VERSION_H

#include <cstdint>

namespace qrt {

/// Programs of this major version, and of minor versions up to this one, are read.
struct ProgramVersion {
  uint32_t major, minor;
};
constexpr ProgramVersion kProgramVersion{2, 2};

} // namespace qrt

#endif // RUNTIME_SCHEMA_VERSION_H
