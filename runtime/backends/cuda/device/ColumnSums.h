// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H

#include "Types.h"

namespace qrt::device {

constexpr int kColumnSumThreads = 512, kColumnSumBlocksOfOne = 2;
/// Columns of a block. Few columns: one a lane, and each warp has its own lines. Many: four a lane, so that fewer
/// blocks are needed.
constexpr int kColumnSumFew = 32, kColumnSumMany = 256;
/// Results of one launch.
constexpr int kColumnSumResults = 4;

/// `cols` elements of 2 (bf16) or 4 bytes (f32) next to each other, by blocks from `firstBlock`: data[col] = (+=) sum
/// of lines[i * stride + col] over i < count. `many`: blocks of kColumnSumMany columns; `lines` is then on 16 bytes,
/// and `stride` and `cols` are multiples of 4.
struct ColumnSumResult {
  Ptr data, lines;
  i64 stride;
  int count, cols, bytes, accumulate, many, firstBlock;
};

struct ColumnSumsParams {
  int results;
  ColumnSumResult result[kColumnSumResults];
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COLUMNSUMS_H
