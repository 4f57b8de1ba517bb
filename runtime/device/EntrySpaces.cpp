// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/EntrySpaces.h"

#include <algorithm>
#include <limits>

namespace qrt {

Status checkSpaces(const Program &program, const Entry &entry, const SpaceBytes &reserved) {
  SpaceBytes needed{program.stateBytes(), 0, entry.ioBytes, entry.transientBytes};
  for (const Slice &slice : entry.slices)
    if (slice.space == Space::Gradients)
      needed[static_cast<int>(Space::Gradients)] = program.gradientBytes();
  for (int space = 0; space < kNumSpaces; ++space)
    if (needed[space] > reserved[space])
      return error(StatusCode::ResourceExhausted, "{}: entry {} needs {} bytes of {}, but {} are reserved",
                   program.source(), entry.name(), needed[space], spaceName(static_cast<Space>(space)),
                   reserved[space]);
  return Status();
}

static IoRange rangeOf(const Entry &entry, std::span<const int32_t> slices) {
  IoRange range{std::numeric_limits<int64_t>::max(), 0};
  for (int32_t index : slices)
    if (index >= 0) {
      const Slice &slice = entry.slices[static_cast<size_t>(index)];
      range = {std::min(range.first, slice.offset), std::max(range.last, slice.end)};
    }
  return range.first < range.last ? range : IoRange();
}

IoRange argumentRange(const Entry &entry) { return rangeOf(entry, entry.arguments); }
IoRange resultRange(const Entry &entry) { return rangeOf(entry, entry.results); }

} // namespace qrt
