// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Overlap.h"

#include <algorithm>

namespace qrt {
namespace {

/// A set of bytes: `run` bytes, repeated by the levels, the largest stride first. Strides are in bytes.
struct Bytes {
  struct Level {
    int64_t count, stride;
  };
  int levels = 0;
  Level level[4];
  int64_t run;

  /// From the first byte to the last, from level `from` on.
  int64_t extent(int from) const {
    int64_t bytes = run;
    for (int i = from; i < levels; ++i)
      bytes += (level[i].count - 1) * level[i].stride;
    return bytes;
  }
};

int sortedAxes(const TensorShape &shape, int (&axes)[4]) {
  int count = 0;
  for (int axis = 0; axis < shape.rank; ++axis)
    if (shape.dims[axis] > 1)
      axes[count++] = axis;
  std::sort(axes, axes + count, [&](int a, int b) { return shape.strides[a] > shape.strides[b]; });
  return count;
}

Bytes bytesOf(const TensorShape &shape) {
  int axes[4];
  int count = sortedAxes(shape, axes);
  int64_t size = byteSize(shape.dtype);
  Bytes bytes;
  bytes.run = size;
  while (count > 0 && shape.strides[axes[count - 1]] * size == bytes.run)
    bytes.run *= shape.dims[axes[--count]];
  for (; bytes.levels < count; ++bytes.levels)
    bytes.level[bytes.levels] = {shape.dims[axes[bytes.levels]], shape.strides[axes[bytes.levels]] * size};
  return bytes;
}

/// `a` from level `i` on at 0, `b` from level `j` on at `distance` >= 0.
bool mayOverlap(const Bytes &a, int i, const Bytes &b, int j, int64_t distance) {
  if (distance >= a.extent(i))
    return false;
  if (i == a.levels && j == b.levels)
    return true;
  // Rows of a common length; a slice of a single row counts as one row of the other's.
  int64_t strideA = i < a.levels ? a.level[i].stride : 0, strideB = j < b.levels ? b.level[j].stride : 0;
  int64_t stride = std::max(strideA, strideB);
  bool rowsA = strideA == stride, rowsB = strideB == stride;
  int64_t columnsA = a.extent(i + rowsA), columnsB = b.extent(j + rowsB);
  int64_t column = distance % stride, row = distance / stride;
  if (columnsA > stride || column + columnsB > stride)
    return true;
  if (column >= columnsA || row >= (rowsA ? a.level[i].count : 1))
    return false;
  return mayOverlap(a, i + rowsA, b, j + rowsB, column);
}

} // namespace

bool mayOverlap(const Slice &a, const Slice &b) {
  if (a.space != b.space)
    return false;
  const Slice &low = a.offset <= b.offset ? a : b, &high = a.offset <= b.offset ? b : a;
  return mayOverlap(bytesOf(low.shape), 0, bytesOf(high.shape), 0, high.offset - low.offset);
}

bool isInjective(const TensorShape &shape) {
  int axes[4];
  int64_t extent = 1;
  for (int i = sortedAxes(shape, axes); i-- > 0;) {
    if (shape.strides[axes[i]] < extent)
      return false;
    extent += (shape.dims[axes[i]] - 1) * shape.strides[axes[i]];
  }
  return true;
}

} // namespace qrt
