// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How kernels read and write tensors: as rows (the last dimension) in pieces of at most kBlock elements, in f32,
// whatever the storage. Where the storage is f32 a piece is the memory itself; where it is bf16 it goes through a
// buffer that stays in the first-level cache. So a kernel is written once, for floats.
#ifndef RUNTIME_BACKENDS_CPU_ROWS_H
#define RUNTIME_BACKENDS_CPU_ROWS_H

#include "runtime/backends/cpu/VectorMath.h"

#include <cassert>

namespace qrt::cpu::QRT_ISA {

constexpr int64_t kBlock = 1024;

struct alignas(64) Buffer {
  float values[kBlock];
};

/// A tensor of one to four dimensions as rows: every index but the last, flattened in order; strides of its own.
class Rows {
public:
  /// Without data for an absent argument.
  explicit Rows(const Tensor &tensor) : data_(static_cast<std::byte *>(tensor.data)), bf16_(isBF16(tensor)) {
    const TensorShape &shape = tensor.shape;
    int last = shape.rank - 1;
    cols_ = last >= 0 ? shape.dims[last] : 1;
    // Leading dimensions of extent one or laid out without gaps collapse, so that most tensors need no division below.
    int64_t inner[3], stride[3];
    int n = 0;
    for (int i = 0; i < last; ++i) {
      if (n > 0 && stride[n - 1] == shape.dims[i] * shape.strides[i]) {
        inner[n - 1] *= shape.dims[i];
        stride[n - 1] = shape.strides[i];
      } else {
        inner[n] = shape.dims[i];
        stride[n] = shape.strides[i];
        ++n;
      }
    }
    count_ = 1;
    for (int i = 0; i < n; ++i)
      count_ *= inner[i];
    // Aligned to the right: index = (outer, middle, innermost).
    if (n >= 1)
      innerStride_ = stride[n - 1];
    if (n >= 2) {
      inner_ = inner[n - 1];
      middleStride_ = stride[n - 2];
    }
    if (n >= 3) {
      middle_ = inner[1];
      outerStride_ = stride[0];
    }
    dims_ = n;
  }

  /// Every element a row of its own: for a tensor of one number a row of another tensor.
  static Rows ofScalars(Tensor tensor) {
    TensorShape &shape = tensor.shape;
    assert(shape.rank < 4);
    shape.dims[shape.rank] = shape.strides[shape.rank] = 1;
    ++shape.rank;
    return Rows(tensor);
  }

  /// For kernels that treat elements alike: tensors without gaps are one row.
  static Rows ofElements(const Tensor &tensor) {
    Rows rows(tensor);
    if (rows.dims_ == 0 || (rows.dims_ == 1 && (rows.innerStride_ == rows.cols_ || rows.count_ == 1))) {
      rows.cols_ *= rows.count_;
      rows.count_ = 1;
      rows.dims_ = 0;
    }
    return rows;
  }

  explicit operator bool() const { return data_ != nullptr; }
  int64_t count() const { return count_; }
  int64_t cols() const { return cols_; }
  bool isBF16() const { return bf16_; }

  /// Elements before row `row`.
  int64_t offset(int64_t row) const {
    if (dims_ <= 1)
      return row * innerStride_;
    int64_t outer = row / inner_;
    int64_t at = (row - outer * inner_) * innerStride_;
    if (dims_ == 2)
      return at + outer * middleStride_;
    int64_t top = outer / middle_;
    return at + (outer - top * middle_) * middleStride_ + top * outerStride_;
  }

  /// n <= kBlock elements of a row from `col`, in memory or in `buffer`.
  const float *read(int64_t row, int64_t col, int64_t n, Buffer &buffer) const {
    int64_t at = offset(row) + col;
    if (!bf16_)
      return reinterpret_cast<const float *>(data_) + at;
    assert(n <= kBlock);
    widen(reinterpret_cast<const BF16 *>(data_) + at, buffer.values, n);
    return buffer.values;
  }

  /// Where to put n <= kBlock elements of a row; commit() stores them.
  float *open(int64_t row, int64_t col, Buffer &buffer) const {
    return bf16_ ? buffer.values : reinterpret_cast<float *>(data_) + offset(row) + col;
  }
  void commit(int64_t row, int64_t col, int64_t n, const Buffer &buffer) const {
    assert(n <= kBlock);
    if (bf16_)
      narrow(buffer.values, bf16(row, col), n);
  }

  /// Stores n elements of a row.
  void write(int64_t row, int64_t col, int64_t n, const float *values) const {
    int64_t at = offset(row) + col;
    if (bf16_)
      narrow(values, reinterpret_cast<BF16 *>(data_) + at, n);
    else
      __builtin_memcpy(reinterpret_cast<float *>(data_) + at, values, n * sizeof(float));
  }

  /// The memory of f32 storage.
  float *f32(int64_t row, int64_t col) const {
    assert(!bf16_);
    return reinterpret_cast<float *>(data_) + offset(row) + col;
  }
  /// The memory of bf16 storage.
  BF16 *bf16(int64_t row, int64_t col) const {
    assert(bf16_);
    return reinterpret_cast<BF16 *>(data_) + offset(row) + col;
  }

  /// Makes row `row` a row of `from`, a tensor of the same type and width.
  void copyRow(int64_t row, const Rows &from, int64_t fromRow) const {
    assert(from.bf16_ == bf16_ && from.cols_ == cols_);
    int64_t bytes = bf16_ ? 2 : 4;
    __builtin_memcpy(data_ + offset(row) * bytes, from.data_ + from.offset(fromRow) * bytes, cols_ * bytes);
  }

  /// The whole row, of any length, to or from an array.
  void readRow(int64_t row, float *values) const {
    const std::byte *from = data_ + offset(row) * (bf16_ ? 2 : 4);
    if (bf16_)
      widen(reinterpret_cast<const BF16 *>(from), values, cols_);
    else
      __builtin_memcpy(values, from, cols_ * sizeof(float));
  }
  void writeRow(int64_t row, const float *values) const { write(row, 0, cols_, values); }

  /// As read(), open() and commit(), for whole rows of any length; the buffer holds cols() floats.
  const float *peekRow(int64_t row, float *buffer) const {
    if (!bf16_)
      return reinterpret_cast<const float *>(data_) + offset(row);
    widen(bf16(row, 0), buffer, cols_);
    return buffer;
  }
  float *openRow(int64_t row, float *buffer) const {
    return bf16_ ? buffer : reinterpret_cast<float *>(data_) + offset(row);
  }
  void commitRow(int64_t row, const float *values) const {
    if (bf16_)
      narrow(values, bf16(row, 0), cols_);
  }

  /// Starts to load a row: rows of a few cache lines come too fast for the processor to see a stream. Rows past the
  /// last are ignored.
  void prefetchRow(int64_t row) const {
    if (row >= count_)
      return;
    int64_t bytes = cols_ * (bf16_ ? 2 : 4);
    const std::byte *from = data_ + offset(row) * (bf16_ ? 2 : 4);
    for (int64_t i = 0; i < bytes; i += 64)
      __builtin_prefetch(from + i);
  }

  /// The element of a row of ofScalars() in f32 storage.
  float &scalar(int64_t row) const {
    assert(!bf16_);
    return reinterpret_cast<float *>(data_)[offset(row)];
  }

  void zero(int64_t row, int64_t col, int64_t n) const {
    int64_t at = offset(row) + col;
    __builtin_memset(data_ + at * (bf16_ ? 2 : 4), 0, n * (bf16_ ? 2 : 4));
  }

private:
  static bool isBF16(const Tensor &tensor) {
    assert((!tensor.data || tensor.shape.dtype == DType::F32 || tensor.shape.dtype == DType::BF16) &&
           "a floating-point tensor of the CPU backend is f32 or bf16");
    return tensor.shape.dtype == DType::BF16;
  }

  std::byte *data_;
  bool bf16_;
  int dims_ = 0;
  int64_t count_ = 1, cols_ = 1;
  int64_t inner_ = 1, middle_ = 1;
  int64_t innerStride_ = 0, middleStride_ = 0, outerStride_ = 0;
};

/// Calls body(col, n) for the pieces of a row of `cols` elements.
template <typename Body> QRT_INLINE void forBlocks(int64_t cols, Body &&body) {
  for (int64_t col = 0; col < cols; col += kBlock)
    body(col, cols - col < kBlock ? cols - col : kBlock);
}

/// Calls body(row, thread) for every row, several rows a task: about `elements` elements each.
template <typename Body>
QRT_INLINE void forRows(ThreadPool &threads, int64_t rows, int64_t cols, Body &&body, int64_t elements = 16 * 1024) {
  int64_t perTask = cols > 0 && elements / cols > 1 ? elements / cols : 1;
  threads.forEach((rows + perTask - 1) / perTask, [&](int64_t task, int thread) {
    int64_t end = (task + 1) * perTask < rows ? (task + 1) * perTask : rows;
    for (int64_t row = task * perTask; row < end; ++row)
      body(row, thread);
  });
}

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_ROWS_H
