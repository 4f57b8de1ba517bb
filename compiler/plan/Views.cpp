// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/Views.h"

#include <cassert>

using namespace llvm;

namespace qcc {

/// Gives dimensions of size 1 the stride that row-major order gives them.
static void normalize(BufferView &view) {
  int64_t next = 1;
  for (size_t i = view.shape.size(); i-- > 0;) {
    if (view.shape[i] == 1)
      view.strides[i] = next;
    next = view.shape[i] * view.strides[i];
  }
}

BufferView wholeBuffer(unsigned buffer, ArrayRef<int64_t> shape) {
  BufferView view{buffer, 0, SmallVector<int64_t, 4>(shape), SmallVector<int64_t, 4>(shape.size())};
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    view.strides[i] = stride;
    stride *= shape[i];
  }
  return view;
}

SmallVector<std::pair<int64_t, int64_t>> mergedDims(const BufferView &view) {
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [size, stride] : zip_equal(view.shape, view.strides)) {
    if (size == 1)
      continue;
    if (!dims.empty() && dims.back().second == size * stride)
      dims.back() = {dims.back().first * size, stride};
    else
      dims.push_back({size, stride});
  }
  return dims;
}

std::optional<BufferView> reshapeView(const BufferView &view, ArrayRef<int64_t> shape) {
  BufferView result{view.buffer, view.offset, SmallVector<int64_t, 4>(shape), SmallVector<int64_t, 4>(shape.size(), 1)};
  SmallVector<std::pair<int64_t, int64_t>> merged = mergedDims(view);
  // From the innermost dimension outwards, new dimensions fill up one merged dimension after the other.
  size_t old = merged.size();
  int64_t filled = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1)
      continue;
    if (old == 0)
      return std::nullopt;
    auto [size, stride] = merged[old - 1];
    if (size % (filled * shape[i]) != 0)
      return std::nullopt;
    result.strides[i] = stride * filled;
    filled *= shape[i];
    if (filled == size) {
      --old;
      filled = 1;
    }
  }
  if (old != 0)
    return std::nullopt;
  normalize(result);
  return result;
}

BufferView partOfView(const BufferView &view, int64_t dim, int64_t begin, int64_t size) {
  assert(begin >= 0 && size > 0 && begin + size <= view.shape[dim]);
  BufferView part = view;
  part.offset += begin * view.strides[dim];
  part.shape[dim] = size;
  normalize(part);
  return part;
}

bool hasContiguousRows(const BufferView &view) { return view.shape.empty() || view.strides.back() == 1; }

} // namespace qcc
