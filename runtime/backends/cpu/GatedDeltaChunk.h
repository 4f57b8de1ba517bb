// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One chunk of the gated delta rule (docs/model.md, GDN in chunks): what the forward kernel and the gradient share.
// With n tokens in the chunk, L = strictlower(beta_i k_i.k_j), A_r = (I + L)^-1 without gates, D_ij = e^(gamma_i -
// gamma_j) for j <= i:
//   X = beta (V - e^gamma (K S)); V' = (A_r . D) X; O = e^gamma (Q S) + ((Q K') . D) V'; S' = e^gamma_C S + (e^(gamma_C
//   - gamma) K)' V'
// which is the document's form: A_r . D = (I + A)^-1, since the gates of A are a similarity by a diagonal matrix.
// All [n,n] matrices have rows of kChunk floats and zeros above the diagonal.
#ifndef RUNTIME_BACKENDS_CPU_GATEDDELTACHUNK_H
#define RUNTIME_BACKENDS_CPU_GATEDDELTACHUNK_H

#include "runtime/backends/cpu/Tiles.h"

namespace qrt::cpu::QRT_ISA {

constexpr int64_t kChunk = kChunkTokens;

/// Widths and heads of a call.
struct DeltaShape {
  DeltaShape(const Tensor &q, const Tensor &v)
      : keyHeads(q.shape.dims[1]), valueHeads(v.shape.dims[1]), dk(q.shape.dims[2]), dv(v.shape.dims[2]),
        ratio(valueHeads / keyHeads), ldk(padded(dk)) {}
  int64_t keyHeads, valueHeads, dk, dv, ratio;
  /// Row length of a tile of keys or queries.
  int64_t ldk;
};

/// Keys and queries of a chunk and key head.
struct ChunkKeys {
  ChunkKeys(const DeltaShape &shape, Carver &carver)
      : keysAndQueries(carver.floats(2 * kChunk * shape.ldk)), keysT(carver.floats(shape.dk * kChunk)),
        kk(carver.floats(kChunk * kChunk)), qk(carver.floats(kChunk * kChunk)) {}

  /// Loads n rows. Queries are multiplied by `scale`.
  void load(const DeltaShape &shape, const HeadRows &q, const HeadRows &k, int64_t row, int64_t n, float scale) {
    keys = keysAndQueries;
    queries = keysAndQueries + n * shape.ldk;
    loadTile(k, row, n, 0, shape.dk, keys, shape.ldk);
    loadTile(q, row, n, 0, shape.dk, queries, shape.ldk, scale);
    transpose(n, shape.dk, keys, shape.ldk, keysT, kChunk);
  }

  /// kk_ij = k_i.k_j and qk_ij = q_i.k_j for j <= i, zeros above.
  void computeProducts(const DeltaShape &shape, int64_t n) {
    computeKeyProducts(shape, n);
    multiply(n, n, shape.dk, {queries, shape.ldk}, keysT, kChunk, 0.0f, qk, kChunk, Triangle::LowerC);
    clearUpper(qk, n);
  }
  void computeKeyProducts(const DeltaShape &shape, int64_t n) {
    multiply(n, n, shape.dk, {keys, shape.ldk}, keysT, kChunk, 0.0f, kk, kChunk, Triangle::LowerC);
    clearUpper(kk, n);
  }

  static void clearUpper(float *matrix, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < kChunk; ++j)
        matrix[i * kChunk + j] = 0.0f;
  }

  /// [2n, ldk]: the keys, and below them the queries, so that both can be multiplied by the state at once.
  float *keysAndQueries;
  float *keys = nullptr, *queries = nullptr;
  /// [dk, kChunk]
  float *keysT;
  float *kk, *qk;
};

/// Gates of a chunk and value head.
struct ChunkGates {
  explicit ChunkGates(Carver &carver)
      : beta(carver.floats(kChunk)), decay(carver.floats(kChunk)), toEnd(carver.floats(kChunk)),
        high_(carver.floats(kChunk)), low_(carver.floats(kChunk)), d(carver.floats(kChunk * kChunk)) {}

  void load(const HeadRows &g, const HeadRows &betaRows, int64_t row, int64_t n) {
    // gamma in two floats: a strong decay early in the chunk must not cost the digits of the small differences after
    // it.
    double gamma = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      gamma += static_cast<double>(g.get(row + i));
      high_[i] = static_cast<float>(gamma);
      low_[i] = static_cast<float>(gamma - static_cast<double>(high_[i]));
      beta[i] = betaRows.get(row + i);
    }
    for (int64_t i = n; i < kChunk; ++i)
      high_[i] = low_[i] = beta[i] = 0.0f;
    float endHigh = high_[n - 1], endLow = low_[n - 1];
    for (int64_t i = 0; i < kChunk; ++i) {
      decay[i] = i < n ? fastExp(high_[i]) * (1.0f + low_[i]) : 0.0f;
      toEnd[i] = i < n ? fastExp((endHigh - high_[i]) + (endLow - low_[i])) : 0.0f;
    }
    total = decay[n - 1];
    const float *__restrict high = high_, *__restrict low = low_;
    for (int64_t i = 0; i < n; ++i) {
      float *__restrict out = d + i * kChunk;
      int64_t end = padded(i + 1);
      QRT_ROW_LOOP
      for (int64_t j = 0; j < end; ++j) {
        // Above the diagonal the difference may be large and positive: masked before the exponential.
        float difference = j <= i ? (high[i] - high[j]) + (low[i] - low[j]) : 0.0f;
        float e = fastExp(difference);
        out[j] = j <= i ? e : 0.0f;
      }
      for (int64_t j = end; j < kChunk; ++j)
        out[j] = 0.0f;
    }
  }

  /// [kChunk]: beta_i, e^gamma_i, e^(gamma_C - gamma_i); zeros past n.
  float *beta, *decay, *toEnd;
  /// e^gamma_C.
  float total = 0.0f;

private:
  float *high_, *low_;

public:
  /// D.
  float *d;
};

/// inverse = (I + strictlower(beta_i kk_ij))^-1, n rows of kChunk floats, zeros above the diagonal.
inline void invertChunk(const float *kk, const float *beta, int64_t n, float *inverse) {
  // Forward substitution: row i = e_i - beta_i sum_{j<i} kk_ij row_j; what earlier blocks of rows contribute is a
  // product.
  constexpr int64_t kRowsAtOnce = 8;
  for (int64_t i0 = 0; i0 < n; i0 += kRowsAtOnce) {
    int64_t rows = n - i0 < kRowsAtOnce ? n - i0 : kRowsAtOnce;
    float *block = inverse + i0 * kChunk;
    __builtin_memset(block, 0, rows * kChunk * sizeof(float));
    multiply(rows, i0, i0, {kk + i0 * kChunk, kChunk}, inverse, kChunk, 0.0f, block, kChunk);
    int64_t cols = padded(i0 + rows);
    for (int64_t i = 0; i < rows; ++i) {
      float *row = block + i * kChunk;
      for (int64_t j = 0; j < cols; j += kPad) {
        Lanes sum = loadLanes(row + j);
        for (int64_t p = 0; p < i; ++p)
          sum += kk[(i0 + i) * kChunk + i0 + p] * loadLanes(block + p * kChunk + j);
        storeLanes(row + j, -beta[i0 + i] * sum);
      }
      row[i0 + i] += 1.0f;
    }
  }
}

/// matrix .= d, element by element, n rows.
inline void multiplyElements(float *__restrict matrix, const float *__restrict d, int64_t n) {
  for (int64_t i = 0; i < n * kChunk; ++i)
    matrix[i] *= d[i];
}

} // namespace qrt::cpu::QRT_ISA

#endif // RUNTIME_BACKENDS_CPU_GATEDDELTACHUNK_H
