// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H

#include "Types.h"

namespace qrt::device {

constexpr int kColumnSumThreads = 1024;
/// Columns of a block: a warp's width.
constexpr int kColumnSumColumns = 32;
/// Results of one launch.
constexpr int kColumnSumResults = 3;

/// `cols` elements of 2 (bf16) or 4 bytes (f32) next to each other, by blocks from `firstBlock`: data[col] = (+=) sum
/// of lines[i * stride + col] over i < count.
struct ColumnSumResult {
  Ptr data, lines;
  i64 stride;
  int count, cols, bytes, accumulate, firstBlock;
};

struct ColumnSumsParams {
  int results;
  ColumnSumResult result[kColumnSumResults];
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H
