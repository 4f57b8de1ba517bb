// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/DebugTable.h"

#include <algorithm>
#include <numeric>

namespace qrt {

DebugTable::DebugTable(const Entry &entry) : entry_(entry), order_(entry.debug.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(entry_.debug[a].instruction, a) < std::pair(entry_.debug[b].instruction, b);
  });
}

Status DebugTable::show(size_t instruction, Observer &observer, const ReadDense &read) const {
  auto of = [&](uint32_t index) { return static_cast<size_t>(entry_.debug[index].instruction); };
  auto next = std::lower_bound(order_.begin(), order_.end(), instruction,
                               [&](uint32_t index, size_t wanted) { return of(index) < wanted; });
  for (; next != order_.end() && of(*next) == instruction; ++next) {
    const DebugValue &value = entry_.debug[*next];
    if (!observer.wants(value))
      continue;
    const Slice &slice = entry_.slices[static_cast<size_t>(value.slice)];
    TensorShape dense =
        denseShape(slice.shape.dtype, std::span(slice.shape.dims, static_cast<size_t>(slice.shape.rank)));
    std::vector<std::byte> bytes(static_cast<size_t>(dense.elements() * byteSize(dense.dtype)));
    QRT_RETURN_IF_ERROR(read(slice, dense, bytes));
    QRT_RETURN_IF_ERROR(observer.observe(value, dense, bytes));
  }
  return Status();
}

} // namespace qrt
