// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of the gated delta rule (docs/model.md, Backward), a task for each document and key head. A first walk
// over the chunks rebuilds the states; a second one goes back with dS, the gradient of the state. In the notation of
// GatedDeltaChunk.h, R = V - e^gamma (K S), T = A_r . D:
//   dV' = P' dO + K^ dS'; dP = lower(dO V''); dX = T' dV'; dA = -strictlower(dX V''); dR = beta dX; dV = dR
//   Y = -e^gamma dR, the gradient of K S; dO~ = e^gamma dO, that of Q S
//   dQ = dO~ S' + (dP . D) K;  dK = Y S' + (dP . D)' Q + K^'s + (M + M') K, M = beta (dA . D)
//   dbeta_i = dX_i.R_i + sum_j (dA . D)_ij kk_ij
//   dS = e^gamma_C dS' + Q' dO~ + K' Y
// dA follows from X alone since V' = (I + A)^-1 X. What the value heads of a key head add to dQ and dK is summed before
// it meets K and Q.
#include "runtime/backends/cpu/GatedDeltaChunk.h"

namespace qrt::cpu::QRT_ISA {
namespace {

enum Arg { kDocs, kQ, kK, kV, kG, kBeta, kInverse, kDOut, kDQ, kDK, kDV, kDG, kDBeta };

/// What the first walk leaves for each chunk of each value head.
struct Saved {
  Saved(const DeltaShape &shape, int64_t chunks, Carver &carver)
      : stateSize(shape.dk * padded(shape.dv)), valueSize(shape.dv * kChunk), residualSize(kChunk * padded(shape.dv)),
        states_(carver.floats(chunks * shape.ratio * stateSize)),
        valuesT_(carver.floats(chunks * shape.ratio * valueSize)),
        residuals_(carver.floats(chunks * shape.ratio * residualSize)), ratio_(shape.ratio) {}

  /// S before the chunk, [dk, padded(dv)]; nothing for the first chunk.
  float *state(int64_t chunk, int64_t head) const { return states_ + (chunk * ratio_ + head) * stateSize; }
  /// V' transposed, [dv, kChunk].
  float *valuesT(int64_t chunk, int64_t head) const { return valuesT_ + (chunk * ratio_ + head) * valueSize; }
  /// R, [n, padded(dv)].
  float *residual(int64_t chunk, int64_t head) const { return residuals_ + (chunk * ratio_ + head) * residualSize; }

  int64_t stateSize, valueSize, residualSize;

private:
  float *states_, *valuesT_, *residuals_;
  int64_t ratio_;
};

struct Scratch {
  Scratch(const DeltaShape &shape, int64_t chunks, Carver &carver)
      : saved(shape, chunks, carver), keys(shape, carver), gates(carver), ldv(padded(shape.dv)),
        queriesT(carver.floats(shape.dk * kChunk)), inverse(carver.floats(kChunk * kChunk)),
        p(carver.floats(kChunk * kChunk)), dP(carver.floats(kChunk * kChunk)), dA(carver.floats(kChunk * kChunk)),
        sumQK(carver.floats(kChunk * kChunk)), sumKK(carver.floats(kChunk * kChunk)), x(carver.floats(kChunk * ldv)),
        values(carver.floats(kChunk * ldv)), dOut(carver.floats(kChunk * ldv)), dValues(carver.floats(kChunk * ldv)),
        dX(carver.floats(kChunk * ldv)), transposedRows(carver.floats(shape.dv * kChunk)),
        toEndKeys(carver.floats(kChunk * shape.ldk)), product(carver.floats(shape.dk * kChunk)),
        dQT(carver.floats(shape.dk * kChunk)), dKT(carver.floats(shape.dk * kChunk)),
        rows(carver.floats(kChunk * shape.ldk)), laneSums(carver.floats(kChunk)),
        dStates(carver.floats(shape.ratio * shape.dk * ldv)) {}
  Saved saved;
  ChunkKeys keys;
  ChunkGates gates;
  int64_t ldv;
  /// [dk, kChunk]
  float *queriesT;
  /// [n, kChunk]; A_r, then T.
  float *inverse, *p, *dP, *dA;
  /// Sums over the value heads of dP . D and of M.
  float *sumQK, *sumKK;
  /// [n, ldv]
  float *x, *values, *dOut, *dValues, *dX;
  /// [dv, kChunk]
  float *transposedRows;
  float *toEndKeys;
  /// [dk, kChunk]
  float *product, *dQT, *dKT;
  float *rows;
  float *laneSums;
  /// dS for each value head.
  float *dStates;
};

int64_t chunksOf(int64_t tokens) { return (tokens + kChunk - 1) / kChunk; }

int64_t scratchBytes(const Call &call) {
  Carver carver(nullptr);
  Scratch scratch({call.args[kQ], call.args[kV]}, chunksOf(call.bucket.longest), carver);
  return carver.bytes();
}

/// One document and key head.
class DocumentGradient {
public:
  DocumentGradient(const Call &call, const DeltaShape &shape, int64_t keyHead, int64_t begin, int64_t end, Scratch &s)
      : call_(call), shape_(shape), keyHead_(keyHead), begin_(begin), end_(end), chunks_(chunksOf(end - begin)),
        scale_(static_cast<float>(call.params[0].f)), s_(s) {}

  void run() {
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
      enter(chunk);
      if (!call_.args[kInverse])
        s_.keys.computeKeyProducts(shape_, n_);
      for (int64_t h = 0; h < shape_.ratio; ++h)
        rebuild(chunk, h);
    }
    for (int64_t chunk = chunks_; chunk-- > 0;) {
      enter(chunk);
      s_.keys.computeProducts(shape_, n_);
      transpose(n_, shape_.dk, s_.keys.queries, shape_.ldk, s_.queriesT, kChunk);
      clear(s_.sumQK, kChunk * kChunk);
      clear(s_.sumKK, kChunk * kChunk);
      clear(s_.dQT, shape_.dk * kChunk);
      clear(s_.dKT, shape_.dk * kChunk);
      for (int64_t h = 0; h < shape_.ratio; ++h)
        stepBack(chunk, h);
      storeKeyGradients();
    }
  }

private:
  static void clear(float *x, int64_t count) { __builtin_memset(x, 0, count * sizeof(float)); }

  void enter(int64_t chunk) {
    row_ = begin_ + chunk * kChunk;
    n_ = end_ - row_ < kChunk ? end_ - row_ : kChunk;
    s_.keys.load(shape_, {call_.args[kQ], keyHead_}, {call_.args[kK], keyHead_}, row_, n_, scale_);
  }

  /// Gates and T of a value head.
  void loadGates(int64_t head) {
    s_.gates.load({call_.args[kG], head}, {call_.args[kBeta], head}, row_, n_);
    if (call_.args[kInverse]) {
      loadTile({call_.args[kInverse], head}, row_, n_, 0, kChunk, s_.inverse, kChunk);
    } else {
      invertChunk(s_.keys.kk, s_.gates.beta, n_, s_.inverse);
    }
    multiplyElements(s_.inverse, s_.gates.d, n_);
  }

  /// e^(gamma_C - gamma) K.
  void scaleKeysToEnd() {
    for (int64_t i = 0; i < n_; ++i)
      QRT_ROW_LOOP
    for (int64_t d = 0; d < shape_.dk; ++d)
      s_.toEndKeys[i * shape_.ldk + d] = s_.gates.toEnd[i] * s_.keys.keys[i * shape_.ldk + d];
  }

  /// R and V' of the chunk, and the next state.
  void rebuild(int64_t chunk, int64_t h) {
    int64_t head = keyHead_ * shape_.ratio + h, dv = shape_.dv, ldv = s_.ldv;
    bool first = chunk == 0;
    loadGates(head);
    float *r = s_.saved.residual(chunk, h);
    loadTile({call_.args[kV], head}, row_, n_, 0, dv, r, ldv);
    float *x = s_.x;
    if (!first)
      multiply(n_, dv, shape_.dk, {s_.keys.keys, shape_.ldk}, s_.saved.state(chunk, h), ldv, 0.0f, x, ldv);
    for (int64_t i = 0; i < n_; ++i) {
      float beta = s_.gates.beta[i], decay = s_.gates.decay[i];
      float *__restrict rRow = r + i * ldv, *__restrict xRow = x + i * ldv;
      if (!first)
        QRT_ROW_LOOP
      for (int64_t j = 0; j < ldv; ++j)
        rRow[j] -= decay * xRow[j];
      QRT_ROW_LOOP
      for (int64_t j = 0; j < ldv; ++j)
        xRow[j] = beta * rRow[j];
    }
    multiply(n_, dv, n_, {s_.inverse, kChunk}, x, ldv, 0.0f, s_.values, ldv, Triangle::LowerA);
    transpose(n_, dv, s_.values, ldv, s_.saved.valuesT(chunk, h), kChunk);
    if (chunk + 1 == chunks_)
      return;
    scaleKeysToEnd();
    float *next = s_.saved.state(chunk + 1, h);
    if (!first) {
      const float *__restrict state = s_.saved.state(chunk, h);
      for (int64_t i = 0; i < s_.saved.stateSize; ++i)
        next[i] = s_.gates.total * state[i];
    }
    multiply(shape_.dk, dv, n_, {s_.toEndKeys, shape_.ldk, true}, s_.values, ldv, first ? 0.0f : 1.0f, next, ldv);
  }

  /// sums [dk, kChunk] += weight_t product; returns in laneSums the sums over dk of weight_t product . with.
  void addAndDot(const float *with, const float *weight, float *sums) {
    int64_t lanes = padded(n_);
    float *__restrict dots = s_.laneSums;
    QRT_ROW_LOOP
    for (int64_t i = 0; i < lanes; ++i)
      dots[i] = 0.0f;
    for (int64_t d = 0; d < shape_.dk; ++d) {
      const float *__restrict product = s_.product + d * kChunk, *__restrict other = with + d * kChunk;
      const float *__restrict w = weight;
      float *__restrict sum = sums + d * kChunk;
      QRT_ROW_LOOP
      for (int64_t i = 0; i < lanes; ++i) {
        float value = w[i] * product[i];
        sum[i] += value;
        dots[i] += value * other[i];
      }
    }
  }

  /// The gradients of a chunk and value head; dS of the head becomes that before the chunk.
  void stepBack(int64_t chunk, int64_t h) {
    int64_t head = keyHead_ * shape_.ratio + h, dk = shape_.dk, dv = shape_.dv, ldk = shape_.ldk, ldv = s_.ldv;
    bool first = chunk == 0, last = chunk + 1 == chunks_;
    ChunkGates &gates = s_.gates;
    loadGates(head);
    for (int64_t i = 0; i < n_ * kChunk; ++i)
      s_.p[i] = s_.keys.qk[i] * gates.d[i];
    loadTile({call_.args[kDOut], head}, row_, n_, 0, dv, s_.dOut, ldv);
    float *dState = s_.dStates + h * s_.saved.stateSize;
    const float *state = s_.saved.state(chunk, h), *valuesT = s_.saved.valuesT(chunk, h);
    alignas(64) float ones[kChunk];
    for (float &one : ones)
      one = 1.0f;
    /// Parts of dg: what a token's reads of the state S add for every token up to it, and its writes for every token
    /// after it.
    double reads[kChunk] = {}, writes[kChunk] = {}, through = 0.0;

    // dV', then through T to dX.
    multiply(n_, dv, n_, {s_.p, kChunk, true}, s_.dOut, ldv, 0.0f, s_.dValues, ldv, Triangle::UpperA);
    if (!last) {
      scaleKeysToEnd();
      multiply(n_, dv, dk, {s_.toEndKeys, ldk}, dState, ldv, 1.0f, s_.dValues, ldv);
    }
    multiply(n_, dv, n_, {s_.inverse, kChunk, true}, s_.dValues, ldv, 0.0f, s_.dX, ldv, Triangle::UpperA);
    // dP and -dA, the terms above (and, of dA, on) the diagonal meet zeros of D or are left out below.
    multiply(n_, n_, dv, {s_.dOut, ldv}, valuesT, kChunk, 0.0f, s_.dP, kChunk, Triangle::LowerC);
    multiply(n_, n_, dv, {s_.dX, ldv}, valuesT, kChunk, 0.0f, s_.dA, kChunk, Triangle::LowerC);
    scoreGradients();

    // dR = dV; dbeta's other part; Y, in place of dX; dO~, in place of dO.
    const float *residual = s_.saved.residual(chunk, h);
    for (int64_t i = 0; i < n_; ++i) {
      float *__restrict dX = s_.dX + i * ldv, *__restrict dOut = s_.dOut + i * ldv;
      dBeta_[i] += dotRows(dX, residual + i * ldv, ldv);
      float beta = gates.beta[i], decay = gates.decay[i];
      QRT_ROW_LOOP
      for (int64_t j = 0; j < ldv; ++j) {
        dX[j] *= beta;
        dOut[j] *= decay;
      }
    }
    storeTile(s_.dX, ldv, n_, dv, {call_.args[kDV], head}, row_, 0);

    if (!last) {
      // K^'s gradient V' dS'', transposed.
      multiply(dk, n_, dv, {dState, ldv}, valuesT, kChunk, 0.0f, s_.product, kChunk);
      addAndDot(s_.keys.keysT, gates.toEnd, s_.dKT);
      for (int64_t i = 0; i < n_; ++i)
        writes[i] = s_.laneSums[i];
      if (!first) {
        for (int64_t d = 0; d < dk; ++d)
          through += dotRows(dState + d * ldv, state + d * ldv, ldv);
        through *= gates.total;
      }
    }
    if (!first) {
      transpose(n_, dv, s_.dOut, ldv, s_.transposedRows, kChunk);
      multiply(dk, n_, dv, {state, ldv}, s_.transposedRows, kChunk, 0.0f, s_.product, kChunk);
      addAndDot(s_.queriesT, ones, s_.dQT);
      for (int64_t i = 0; i < n_; ++i)
        reads[i] += s_.laneSums[i];
      for (int64_t i = 0; i < n_; ++i) {
        float factor = -gates.decay[i];
        float *__restrict y = s_.dX + i * ldv;
        QRT_ROW_LOOP
        for (int64_t j = 0; j < ldv; ++j)
          y[j] *= factor;
      }
      transpose(n_, dv, s_.dX, ldv, s_.transposedRows, kChunk);
      multiply(dk, n_, dv, {state, ldv}, s_.transposedRows, kChunk, 0.0f, s_.product, kChunk);
      addAndDot(s_.keys.keysT, ones, s_.dKT);
      for (int64_t i = 0; i < n_; ++i)
        reads[i] += s_.laneSums[i];
      multiply(dk, dv, n_, {s_.keys.queries, ldk, true}, s_.dOut, ldv, last ? 0.0f : gates.total, dState, ldv);
      multiply(dk, dv, n_, {s_.keys.keys, ldk, true}, s_.dX, ldv, 1.0f, dState, ldv);
    }
    storeGateGradients(head, reads, writes, through);
  }

  /// From dP and -dA: the sums for dQ and dK, dbeta's part, and dg's part inside the chunk.
  void scoreGradients() {
    // E = dP . P + dA . A is the gradient of gamma_i - gamma_j for each pair, and g_t is in the pairs j < t <= i alone:
    // summing just those leaves no differences of large numbers, which the row and column sums of E would have. `below`
    // holds the sums of E over the rows from t on.
    alignas(64) double below[kChunk] = {};
    for (int64_t i = n_; i-- > 0;) {
      const float *__restrict dP = s_.dP + i * kChunk, *__restrict dA = s_.dA + i * kChunk;
      const float *__restrict d = s_.gates.d + i * kChunk, *__restrict qk = s_.keys.qk + i * kChunk;
      const float *__restrict kk = s_.keys.kk + i * kChunk;
      float *__restrict sumQK = s_.sumQK + i * kChunk, *__restrict sumKK = s_.sumKK + i * kChunk;
      alignas(64) float overBeta[kChunk];
      float beta = s_.gates.beta[i];
      QRT_ROW_LOOP
      for (int64_t j = 0; j < kChunk; ++j) {
        float scores = j <= i ? dP[j] * d[j] : 0.0f;
        float keys = j < i ? -dA[j] * d[j] : 0.0f;
        sumQK[j] += scores;
        sumKK[j] += beta * keys;
        overBeta[j] = keys * kk[j];
        below[j] += static_cast<double>(scores * qk[j] + beta * overBeta[j]);
      }
      dBeta_[i] = sumRow(overBeta, kChunk);
      double pairs = 0.0;
      {
#pragma clang fp reassociate(on)
        QRT_ROW_LOOP
        for (int64_t j = 0; j < kChunk; ++j)
          pairs += j < i ? below[j] : 0.0;
      }
      dG_[i] = pairs;
    }
  }

  void storeGateGradients(int64_t head, const double *reads, const double *writes, double through) {
    double later = through;
    for (int64_t i = n_; i-- > 0;)
      dG_[i] += later += reads[i];
    double earlier = 0.0;
    HeadRows dg(call_.args[kDG], head), dBeta(call_.args[kDBeta], head);
    for (int64_t i = 0; i < n_; ++i) {
      dg.set(row_ + i, static_cast<float>(dG_[i] + earlier));
      earlier += writes[i];
      dBeta.set(row_ + i, dBeta_[i]);
    }
  }

  /// dQ and dK of the chunk from the sums over the value heads.
  void storeKeyGradients() {
    int64_t dk = shape_.dk, ldk = shape_.ldk;
    transpose(dk, n_, s_.dQT, kChunk, s_.rows, ldk);
    multiply(n_, dk, n_, {s_.sumQK, kChunk}, s_.keys.keys, ldk, 1.0f, s_.rows, ldk, Triangle::LowerA);
    storeTile(s_.rows, ldk, n_, dk, {call_.args[kDQ], keyHead_}, row_, 0, scale_);
    transpose(dk, n_, s_.dKT, kChunk, s_.rows, ldk);
    multiply(n_, dk, n_, {s_.sumQK, kChunk, true}, s_.keys.queries, ldk, 1.0f, s_.rows, ldk, Triangle::UpperA);
    multiply(n_, dk, n_, {s_.sumKK, kChunk}, s_.keys.keys, ldk, 1.0f, s_.rows, ldk, Triangle::LowerA);
    multiply(n_, dk, n_, {s_.sumKK, kChunk, true}, s_.keys.keys, ldk, 1.0f, s_.rows, ldk, Triangle::UpperA);
    storeTile(s_.rows, ldk, n_, dk, {call_.args[kDK], keyHead_}, row_, 0);
  }

  const Call &call_;
  const DeltaShape &shape_;
  int64_t keyHead_, begin_, end_, chunks_;
  float scale_;
  Scratch &s_;
  int64_t row_ = 0, n_ = 0;
  float dBeta_[kChunk] = {};
  double dG_[kChunk] = {};
};

void run(const Call &call) {
  Segments docs = call.segments(kDocs);
  DeltaShape shape(call.args[kQ], call.args[kV]);
  // Tiles come with the most keys first, so the last tiles of the documents come with the longest document first.
  int64_t tasks = docs.tiles() * shape.keyHeads;
  call.threads.forEach(tasks + tailBlocks(docs), [&](int64_t index, int thread) {
    if (index >= tasks) {
      for (int arg : {kDQ, kDK, kDV, kDG, kDBeta})
        zeroTailBlock(docs, index - tasks, call.args[arg]);
      return;
    }
    int64_t tile = docs.tileStart(index / shape.keyHeads), document = docs.document(tile);
    if (tile + kTileTokens < docs.end(document))
      return;
    Carver carver(call.threadScratch<std::byte>(thread));
    Scratch scratch(shape, chunksOf(call.bucket.longest), carver);
    DocumentGradient(call, shape, index % shape.keyHeads, docs.begin(document), docs.end(document), scratch).run();
  });
}

} // namespace

const KernelImpl kGatedDeltaRuleGrad = {run, scratchBytes};

} // namespace qrt::cpu::QRT_ISA
