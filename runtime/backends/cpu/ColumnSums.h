// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over rows that give one number a column (gradients of norm weights): rows are cut into blocks by the columns
// alone, each block sums its rows in order into a line of its own in scratch, and the lines are added in order. So the
// result depends neither on the threads nor on rows of zeros past the last, of which a larger bucket has more.
#ifndef RUNTIME_BACKENDS_CPU_COLUMNSUMS_H
#define RUNTIME_BACKENDS_CPU_COLUMNSUMS_H

#include "runtime/backends/cpu/Rows.h"

namespace qrt::cpu::QRT_ISA {

struct RowBlocks {
  int64_t rows, perBlock, count;

  RowBlocks(int64_t rows, int64_t cols) : rows(rows) {
    // Large enough that writing and adding the lines costs little beside the rows, small enough for many threads.
    constexpr int64_t kElements = 16 * 1024, kLeastRows = 32;
    perBlock = kElements / cols < kLeastRows ? kLeastRows : kElements / cols;
    count = (rows + perBlock - 1) / perBlock;
  }
  int64_t begin(int64_t block) const { return block * perBlock; }
  int64_t end(int64_t block) const { return (block + 1) * perBlock < rows ? (block + 1) * perBlock : rows; }
};

/// What each thread has to bring so that all together hold `bytes`.
QRT_INLINE int64_t shareOfScratch(const Call &call, int64_t bytes) {
  return (bytes + call.threads.size() - 1) / call.threads.size();
}

/// Bytes that the lines of the blocks of `rows` rows take, one number a column.
QRT_INLINE int64_t columnSumBytes(int64_t rows, int64_t cols) {
  return RowBlocks(rows, cols).count * cols * static_cast<int64_t>(sizeof(float));
}

/// result[col] = (or += where `accumulate`) the sum of lines[block][col] over blocks; lines are `stride` floats apart.
QRT_INLINE void addLines(ThreadPool &threads, const float *lines, int64_t stride, int64_t count, const Rows &result,
                         bool accumulate) {
  constexpr int64_t kColumns = 256;
  int64_t cols = result.cols();
  threads.forEach((cols + kColumns - 1) / kColumns, [&](int64_t task, int) {
    int64_t col = task * kColumns;
    int64_t n = cols - col < kColumns ? cols - col : kColumns;
    double sums[kColumns] = {};
    Buffer buffer;
    if (accumulate) {
      const float *old = result.read(0, col, n, buffer);
      for (int64_t i = 0; i < n; ++i)
        sums[i] = old[i];
    }
    for (int64_t line = 0; line < count; ++line)
      for (int64_t i = 0; i < n; ++i)
        sums[i] += lines[line * stride + col + i];
    float *out = result.open(0, col, buffer);
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<float>(sums[i]);
    result.commit(0, col, n, buffer);
  });
}

/// result[col] = (or += where `accumulate`) the sums over `rows` rows: `addRow(row, line)` adds the row's part of each
/// column to the line of its block, rows of a block in order on one thread. In call.scratch, columnSumBytes of it.
template <typename AddRow>
QRT_INLINE void sumColumns(const Call &call, int64_t rows, const Rows &result, bool accumulate, AddRow addRow) {
  int64_t cols = result.cols();
  RowBlocks blocks(rows, cols);
  float *lines = reinterpret_cast<float *>(call.scratch);
  call.threads.forEach(blocks.count, [&](int64_t block, int) {
    float *line = lines + block * cols;
    __builtin_memset(line, 0, cols * sizeof(float));
    for (int64_t row = blocks.begin(block); row < blocks.end(block); ++row)
      addRow(row, line);
  });
  addLines(call.threads, lines, cols, blocks.count, result, accumulate);
}

/// What a thread has to bring for sumColumns over as many rows and columns as argument 0 has.
QRT_INLINE int64_t columnSumScratch(const Call &call) {
  Rows x(call.args[0]);
  return shareOfScratch(call, columnSumBytes(x.count(), x.cols()));
}

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_COLUMNSUMS_H
