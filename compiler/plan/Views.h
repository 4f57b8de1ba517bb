// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strided views of a buffer, and what reshaping, splitting and joining do to them.
#ifndef COMPILER_PLAN_VIEWS_H
#define COMPILER_PLAN_VIEWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace qcc {

/// Elements of a buffer: offset and strides count elements. The stride of a dimension of size 1 is what row-major order
/// gives it, so that equal sets of elements under equal shapes are equal views.
struct BufferView {
  unsigned buffer = 0;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<int64_t, 4> strides;

  bool operator==(const BufferView &) const = default;
};

/// All of a buffer of this shape, in row-major order.
BufferView wholeBuffer(unsigned buffer, llvm::ArrayRef<int64_t> shape);

/// The same elements in the same row-major order under another shape of as many elements; nothing if strides cannot say
/// that.
std::optional<BufferView> reshapeView(const BufferView &view, llvm::ArrayRef<int64_t> shape);

/// `size` indices of a dimension from `begin` on.
BufferView partOfView(const BufferView &view, int64_t dim, int64_t begin, int64_t size);

/// The dimensions that matter, those that are contiguous merged: (size, stride), outermost first. None is of size 1.
llvm::SmallVector<std::pair<int64_t, int64_t>> mergedDims(const BufferView &view);

/// Whether kernels can read and write it: the last dimension without gaps.
bool hasContiguousRows(const BufferView &view);

} // namespace qcc

#endif // COMPILER_PLAN_VIEWS_H
