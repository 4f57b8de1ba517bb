// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between tensors and the f32 tiles that kernels compute on. A tile is a matrix in scratch, its rows the tokens of one
// head, padded with zeros to the columns that SmallGemm.h works on.
#ifndef RUNTIME_BACKENDS_CPU_TILES_H
#define RUNTIME_BACKENDS_CPU_TILES_H

#include "runtime/backends/cpu/Lanes.h"
#include "runtime/backends/cpu/VectorMath.h"

#include <cassert>

namespace qrt::cpu::QRT_ISA {

/// The rows of one head of a tensor [T, heads, width] (or [T, heads], width 1) in memory.
struct HeadRows {
  HeadRows(const Tensor &tensor, int64_t head)
      : data(static_cast<std::byte *>(tensor.data)), bf16(tensor.shape.dtype == DType::BF16),
        stride(tensor.shape.strides[0]), width(tensor.shape.rank > 2 ? tensor.shape.dims[2] : 1) {
    assert((tensor.shape.dtype == DType::F32 || tensor.shape.dtype == DType::BF16) &&
           "a floating-point tensor of the CPU backend is f32 or bf16");
    data += head * tensor.shape.strides[1] * (bf16 ? 2 : 4);
  }

  const float *f32(int64_t row) const { return reinterpret_cast<const float *>(data) + row * stride; }
  float *f32(int64_t row) { return reinterpret_cast<float *>(data) + row * stride; }
  const BF16 *b16(int64_t row) const { return reinterpret_cast<const BF16 *>(data) + row * stride; }
  BF16 *b16(int64_t row) { return reinterpret_cast<BF16 *>(data) + row * stride; }

  float get(int64_t row) const { return bf16 ? toFloat(*b16(row)) : *f32(row); }
  void set(int64_t row, float value) {
    if (bf16)
      *b16(row) = toBF16(value);
    else
      *f32(row) = value;
  }

  std::byte *data;
  bool bf16;
  int64_t stride;
  int64_t width;
};

/// tile [rows, padded(cols)] = scale * columns [col, col + cols) of the rows from `row`; zeros in the padding.
QRT_INLINE void loadTile(const HeadRows &from, int64_t row, int64_t rows, int64_t col, int64_t cols, float *tile,
                         int64_t ld, float scale = 1.0f) {
  int64_t paddedCols = padded(cols);
  for (int64_t i = 0; i < rows; ++i) {
    float *to = tile + i * ld;
    if (from.bf16) {
      const BF16 *x = from.b16(row + i) + col;
      QRT_ROW_LOOP
      for (int64_t j = 0; j < cols; ++j)
        to[j] = scale * toFloat(x[j]);
    } else {
      const float *x = from.f32(row + i) + col;
      QRT_ROW_LOOP
      for (int64_t j = 0; j < cols; ++j)
        to[j] = scale * x[j];
    }
    for (int64_t j = cols; j < paddedCols; ++j)
      to[j] = 0.0f;
  }
}

/// The inverse of loadTile: columns [col, col + cols) of the rows from `row` = scale * tile, rounded to the tensor's
/// type.
QRT_INLINE void storeTile(const float *tile, int64_t ld, int64_t rows, int64_t cols, HeadRows to, int64_t row,
                          int64_t col, float scale = 1.0f) {
  for (int64_t i = 0; i < rows; ++i) {
    const float *x = tile + i * ld;
    if (to.bf16) {
      BF16 *y = to.b16(row + i) + col;
      QRT_ROW_LOOP
      for (int64_t j = 0; j < cols; ++j)
        y[j] = toBF16(scale * x[j]);
    } else {
      float *y = to.f32(row + i) + col;
      QRT_ROW_LOOP
      for (int64_t j = 0; j < cols; ++j)
        y[j] = scale * x[j];
    }
  }
}

/// Zeros in the rows [row, row + rows) of every head of a tensor [T, heads, width] or [T, heads].
QRT_INLINE void zeroRows(const Tensor &tensor, int64_t row, int64_t rows) {
  bool flat = tensor.shape.rank < 3;
  for (int64_t head = 0; head < (flat ? 1 : tensor.shape.dims[1]); ++head) {
    HeadRows to(tensor, head);
    int64_t bytesEach = to.bf16 ? 2 : 4;
    for (int64_t i = row; i < row + rows; ++i)
      __builtin_memset(to.data + i * to.stride * bytesEach, 0, (flat ? tensor.shape.dims[1] : to.width) * bytesEach);
  }
}

/// Rows of a tail block (see tailBlocks).
constexpr int64_t kTailRows = 64;

/// Blocks of rows past the last document.
QRT_INLINE int64_t tailBlocks(const Segments &docs) {
  return (docs.layout.bucket.tokens - docs.tokens() + kTailRows - 1) / kTailRows;
}

/// Zeros in one block of the rows past the last document.
QRT_INLINE void zeroTailBlock(const Segments &docs, int64_t block, const Tensor &tensor) {
  int64_t begin = docs.tokens() + block * kTailRows;
  int64_t end = begin + kTailRows < docs.layout.bucket.tokens ? begin + kTailRows : docs.layout.bucket.tokens;
  if (tensor)
    zeroRows(tensor, begin, end - begin);
}

/// Cuts a thread's scratch into arrays. Without memory it only counts, so that a kernel describes its scratch once: for
/// scratchBytes and for the run.
class Carver {
public:
  explicit Carver(std::byte *memory) : memory_(memory) {}

  /// `count` floats, 64-byte aligned; not initialized.
  float *floats(int64_t count) {
    int64_t at = bytes_;
    bytes_ += padded(count) * static_cast<int64_t>(sizeof(float));
    return memory_ ? reinterpret_cast<float *>(memory_ + at) : nullptr;
  }
  int64_t bytes() const { return bytes_; }

private:
  std::byte *memory_;
  int64_t bytes_ = 0;
};

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_TILES_H
