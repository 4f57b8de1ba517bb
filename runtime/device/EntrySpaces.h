// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_DEVICE_ENTRYSPACES_H
#define RUNTIME_DEVICE_ENTRYSPACES_H

#include "runtime/program/Program.h"

namespace qrt {

/// What every device asks of an entry before it is made ready: that the spaces are large enough. ResourceExhausted
/// naming the program, the entry, the space and both sizes.
Status checkSpaces(const Program &program, const Entry &entry, const SpaceBytes &reserved);

/// The bytes of Io from `first` to `last` that hold an entry's arguments, or its results; empty where it has none.
struct IoRange {
  int64_t first = 0, last = 0;
  int64_t bytes() const { return last - first; }
};
IoRange argumentRange(const Entry &entry);
IoRange resultRange(const Entry &entry);

} // namespace qrt

#endif // RUNTIME_DEVICE_ENTRYSPACES_H
