// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_DEVICE_DEBUGTABLE_H
#define RUNTIME_DEVICE_DEBUGTABLE_H

#include "runtime/device/Device.h"

#include <functional>

namespace qrt {

/// The debug table of an entry, by instruction. The entry must outlive it.
class DebugTable {
public:
  explicit DebugTable(const Entry &entry);

  /// Fills `bytes` with the elements of a slice without gaps, row-major; `dense` is their shape.
  using ReadDense = std::function<Status(const Slice &slice, const TensorShape &dense, std::span<std::byte> bytes)>;

  /// Shows the observer what it wants of the values that are there after an instruction, in the order of the table.
  Status show(size_t instruction, Observer &observer, const ReadDense &read) const;

private:
  const Entry &entry_;
  /// Indices of entry_.debug, sorted by instruction.
  std::vector<uint32_t> order_;
};

} // namespace qrt

#endif // RUNTIME_DEVICE_DEBUGTABLE_H
