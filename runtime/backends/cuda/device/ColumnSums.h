// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H

#include "Types.h"

namespace qrt::device {

constexpr int kColumnSumThreads = 1024;
/// Columns of a block: a warp's width.
constexpr int kColumnSumColumns = 32;

/// results[y][col] = (+=) sum of lines[i * stride + y * cols + col] over i < count; y along the grid.
struct ColumnSumsParams {
  Ptr lines, results[2];
  i64 stride;
  int count, cols;
  int accumulate[2];
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H
