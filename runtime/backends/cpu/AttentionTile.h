// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal softmax attention of one tile of queries: what the forward kernel and the gradient's rebuilding share.
//
// Everything is kept transposed, queries along the rows of a matrix: scores S [keys, queries] = K Q^T, output O^T [D,
// queries] = V^T P. So keys and values are only ever left factors, which need no copy where they are f32, and the
// softmax of 16 queries is one vector.
#ifndef RUNTIME_BACKENDS_CPU_ATTENTIONTILE_H
#define RUNTIME_BACKENDS_CPU_ATTENTIONTILE_H

#include "runtime/backends/cpu/Tiles.h"

namespace qrt::cpu::QRT_ISA {

/// Tokens of a tile of queries, as in the segment table, and of a tile of keys.
constexpr int64_t kTile = kTileTokens;

/// The queries of one tile, and where its document begins.
struct QueryTile {
  QueryTile(const Segments &docs, int64_t begin) : begin(begin) {
    int64_t document = docs.document(begin);
    documentBegin = docs.begin(document);
    documentEnd = docs.end(document);
    count = documentEnd - begin < kTile ? documentEnd - begin : kTile;
  }
  int64_t begin, count;
  int64_t documentBegin, documentEnd;
};

/// Rows of a key or value head as a left factor: the tensor's own memory, or widened into `buffer` [kTile,
/// padded(width)].
QRT_INLINE LeftFactor leftRows(const HeadRows &rows, int64_t row, int64_t count, float *buffer) {
  if (!rows.bf16)
    return {rows.f32(row), rows.stride};
  int64_t ld = padded(rows.width);
  loadTile(rows, row, count, 0, rows.width, buffer, ld);
  return {buffer, ld};
}

/// The same matrix read as its transpose.
QRT_INLINE LeftFactor transposed(LeftFactor factor) { return {factor.data, factor.ld, !factor.transposed}; }

/// scores[j][i] = `value` where key j comes after query i of the same tile.
QRT_INLINE void maskFuture(float *scores, int64_t keys, float value) {
  for (int64_t j = 1; j < keys; ++j)
    for (int64_t i = 0; i < j; ++i)
      scores[j * kTile + i] = value;
}

/// tile [rows, ld] *= sigmoid(sign * gate), the gate's rows from `row`.
QRT_INLINE void multiplyBySigmoid(float *tile, int64_t ld, const HeadRows &gate, int64_t row, int64_t rows,
                                  float sign = 1.0f) {
  constexpr int64_t kPart = 64;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t col = 0; col < gate.width; col += kPart) {
      alignas(64) float part[kPart];
      int64_t cols = gate.width - col < kPart ? gate.width - col : kPart;
      loadTile(gate, row + i, 1, col, cols, part, kPart, sign);
      float *__restrict to = tile + i * ld + col;
      QRT_ROW_LOOP
      for (int64_t d = 0; d < cols; ++d)
        to[d] *= fastSigmoid(part[d]);
    }
}

/// The forward pass of tiles of one call, on one thread.
class AttentionForward {
public:
  AttentionForward(int64_t width, bool widen, Carver &carver)
      : width_(width), rows_(carver.floats(kTile * padded(width))), queries_(carver.floats(width * kTile)),
        scores_(carver.floats(kTile * kTile)), output_(carver.floats(width * kTile)), max_(carver.floats(kTile)),
        sum_(carver.floats(kTile)), rescale_(carver.floats(kTile)),
        buffer_(widen ? carver.floats(kTile * padded(width)) : nullptr) {}

  /// Leaves output() and logSumExp() of the tile. `scale` multiplies the products q.k.
  void run(const QueryTile &tile, const HeadRows &q, const HeadRows &k, const HeadRows &v, float scale) {
    int64_t count = tile.count, lanes = padded(count);
    loadTile(q, tile.begin, count, 0, width_, rows_, padded(width_), scale);
    transpose(count, width_, rows_, padded(width_), queries_, kTile);
    for (int64_t i = 0; i < kTile; ++i) {
      max_[i] = -__builtin_inff();
      sum_[i] = 0.0f;
    }
    for (int64_t key = tile.documentBegin; key <= tile.begin; key += kTile) {
      bool diagonal = key == tile.begin;
      int64_t keys = diagonal ? count : kTile;
      multiply(keys, count, width_, leftRows(k, key, keys, buffer_), queries_, kTile, 0.0f, scores_, kTile,
               diagonal ? Triangle::UpperC : Triangle::None);
      if (diagonal)
        maskFuture(scores_, keys, -__builtin_inff());
      bool first = key == tile.documentBegin;
      softmax(keys, lanes);
      if (!first)
        rescaleOutput(lanes);
      multiply(width_, count, keys, transposed(leftRows(v, key, keys, buffer_)), scores_, kTile, first ? 0.0f : 1.0f,
               output_, kTile, diagonal ? Triangle::UpperB : Triangle::None);
    }
    QRT_ROW_LOOP
    for (int64_t i = 0; i < lanes; ++i)
      rescale_[i] = 1.0f / sum_[i];
    rescaleOutput(lanes);
    transpose(width_, count, output_, kTile, rows_, padded(width_));
    QRT_ROW_LOOP
    for (int64_t i = 0; i < lanes; ++i)
      max_[i] += __builtin_logf(sum_[i]);
  }

  /// [count, padded(D)], until the next run.
  float *output() const { return rows_; }
  /// [count]: the natural logarithm of the sum of exponentials of the scores.
  const float *logSumExp() const { return max_; }

private:
  /// scores = e^(scores - max), with max and sum brought up to date; rescale_ = e^(old max - max).
  void softmax(int64_t keys, int64_t lanes) {
    float *__restrict max = max_, *__restrict sum = sum_, *__restrict rescale = rescale_;
    alignas(64) float old[kTile], part[kTile] = {};
    QRT_ROW_LOOP
    for (int64_t i = 0; i < lanes; ++i)
      old[i] = max[i];
    for (int64_t j = 0; j < keys; ++j) {
      const float *__restrict row = scores_ + j * kTile;
      QRT_ROW_LOOP
      for (int64_t i = 0; i < lanes; ++i)
        max[i] = row[i] > max[i] ? row[i] : max[i];
    }
    for (int64_t j = 0; j < keys; ++j) {
      float *__restrict row = scores_ + j * kTile;
      QRT_ROW_LOOP
      for (int64_t i = 0; i < lanes; ++i) {
        float p = fastExp(row[i] - max[i]);
        row[i] = p;
        part[i] += p;
      }
    }
    QRT_ROW_LOOP
    for (int64_t i = 0; i < lanes; ++i) {
      rescale[i] = fastExp(old[i] - max[i]);
      sum[i] = sum[i] * rescale[i] + part[i];
    }
  }

  void rescaleOutput(int64_t lanes) {
    const float *__restrict rescale = rescale_;
    bool needed = false;
    QRT_ROW_LOOP
    for (int64_t i = 0; i < lanes; ++i)
      needed |= rescale[i] != 1.0f;
    if (!needed)
      return;
    for (int64_t d = 0; d < width_; ++d) {
      float *__restrict row = output_ + d * kTile;
      QRT_ROW_LOOP
      for (int64_t i = 0; i < lanes; ++i)
        row[i] *= rescale[i];
    }
  }

  int64_t width_;
  float *rows_, *queries_, *scores_, *output_, *max_, *sum_, *rescale_, *buffer_;
};

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_ATTENTIONTILE_H
