// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call of the gated delta rule and its gradient on random values, and the recurrence in f64, token after token.
#ifndef TESTS_UNIT_CPU_GATEDDELTACASE_H
#define TESTS_UNIT_CPU_GATEDDELTACASE_H

#include "tests/unit/cpu/PackedRows.h"

#include <optional>

namespace qrt::cpu::test::delta {

struct Heads {
  int64_t keys, values, dk, dv;
};

/// Tensors by flat index: q, k [T, keys, dk]; v, out [T, values, dv]; g, beta [T, values].
struct Values {
  std::vector<double> q, k, v, g, beta;
};

struct Reference {
  std::vector<double> out, inverse;
  Values gradient;
};

/// docs/model.md, Gated DeltaNet 6 and Backward, recurrent form. `dout` may be empty: no gradients.
inline Reference reference(const PackedRow &row, Heads h, double scale, const Values &in,
                           const std::vector<double> &dout) {
  int64_t dk = h.dk, dv = h.dv, ratio = h.values / h.keys;
  Reference r;
  r.out.assign(row.tokens() * h.values * dv, 0);
  r.inverse.assign(row.tokens() * h.values * kChunkTokens, 0);
  r.gradient.q.assign(row.tokens() * h.keys * dk, 0);
  r.gradient.k = r.gradient.q;
  r.gradient.v = r.out;
  r.gradient.g.assign(row.tokens() * h.values, 0);
  r.gradient.beta = r.gradient.g;
  for (size_t doc = 0; doc < row.lengths.size(); ++doc)
    for (int64_t head = 0; head < h.values; ++head) {
      int64_t begin = row.begins[doc], length = row.lengths[doc];
      auto keyAt = [&](int64_t t) { return ((begin + t) * h.keys + head / ratio) * dk; };
      auto valueAt = [&](int64_t t) { return ((begin + t) * h.values + head) * dv; };
      auto gateAt = [&](int64_t t) { return (begin + t) * h.values + head; };
      // States after the decay of each token, and what each token adds.
      std::vector<std::vector<double>> decayed(length), added(length);
      std::vector<double> s(dk * dv, 0);
      for (int64_t t = 0; t < length; ++t) {
        const double *q = &in.q[keyAt(t)], *k = &in.k[keyAt(t)], *v = &in.v[valueAt(t)];
        for (double &x : s)
          x *= std::exp(in.g[gateAt(t)]);
        decayed[t] = s;
        added[t].resize(dv);
        for (int64_t c = 0; c < dv; ++c) {
          double read = 0;
          for (int64_t i = 0; i < dk; ++i)
            read += s[i * dv + c] * k[i];
          added[t][c] = in.beta[gateAt(t)] * (v[c] - read);
        }
        for (int64_t i = 0; i < dk; ++i)
          for (int64_t c = 0; c < dv; ++c) {
            s[i * dv + c] += k[i] * added[t][c];
            r.out[valueAt(t) + c] += s[i * dv + c] * q[i] * scale;
          }
        // Row t of (I + L)^-1 of its chunk: e_t - sum_j L_tj row_j.
        int64_t chunk = t / kChunkTokens * kChunkTokens;
        double *inverse = &r.inverse[gateAt(t) * kChunkTokens];
        inverse[t - chunk] = 1;
        for (int64_t j = chunk; j < t; ++j) {
          double kk = 0;
          for (int64_t i = 0; i < dk; ++i)
            kk += k[i] * in.k[keyAt(j) + i];
          for (int64_t i = 0; i < kChunkTokens; ++i)
            inverse[i] -= in.beta[gateAt(t)] * kk * r.inverse[gateAt(j) * kChunkTokens + i];
        }
      }
      if (dout.empty())
        continue;
      std::vector<double> ds(dk * dv, 0);
      for (int64_t t = length; t-- > 0;) {
        const double *q = &in.q[keyAt(t)], *k = &in.k[keyAt(t)], *v = &in.v[valueAt(t)], *dO = &dout[valueAt(t)];
        double *dq = &r.gradient.q[keyAt(t)], *dK = &r.gradient.k[keyAt(t)];
        double beta = in.beta[gateAt(t)], dBeta = 0, dG = 0;
        std::vector<double> dAdded(dv, 0), read(dv, 0);
        for (int64_t i = 0; i < dk; ++i)
          for (int64_t c = 0; c < dv; ++c) {
            ds[i * dv + c] += scale * q[i] * dO[c];
            dq[i] += scale * (decayed[t][i * dv + c] + k[i] * added[t][c]) * dO[c];
            dAdded[c] += ds[i * dv + c] * k[i];
            read[c] += decayed[t][i * dv + c] * k[i];
          }
        for (int64_t c = 0; c < dv; ++c) {
          dBeta += dAdded[c] * (v[c] - read[c]);
          r.gradient.v[valueAt(t) + c] = beta * dAdded[c];
        }
        for (int64_t i = 0; i < dk; ++i)
          for (int64_t c = 0; c < dv; ++c) {
            double dw = beta * dAdded[c];
            dK[i] += ds[i * dv + c] * added[t][c] - decayed[t][i * dv + c] * dw;
            double dDecayed = ds[i * dv + c] - k[i] * dw;
            dG += dDecayed * decayed[t][i * dv + c];
            ds[i * dv + c] = std::exp(in.g[gateAt(t)]) * dDecayed;
          }
        r.gradient.g[gateAt(t)] = dG;
        r.gradient.beta[gateAt(t)] = dBeta;
      }
    }
  return r;
}

enum class Decay { Mild, None, Strong, Mixed };

struct Case {
  /// `gap`: elements between the heads of every tensor of storage `dtype`; by default odd ones, another for outputs.
  Case(PackedRow packed, Heads heads, DType dtype, Decay decay, unsigned seed, DType betaType = DType::F32,
       std::optional<int64_t> gap = std::nullopt)
      : row(std::move(packed)), heads(heads), dtype(dtype), scale(1 / std::sqrt(double(heads.dk))) {
    std::mt19937 random(seed);
    auto input = [&](int64_t count, int64_t width) {
      return packedInput(row, dtype, {count, width}, random, 1, 0, gap.value_or(7));
    };
    auto output = [&](int64_t count, int64_t width) {
      return packedOutput(row, dtype, {count, width}, gap.value_or(5));
    };
    docs = row.table();
    q = input(heads.keys, heads.dk);
    k = input(heads.keys, heads.dk);
    for (HostTensor *tensor : {&q, &k})
      normalize(*tensor);
    v = input(heads.values, heads.dv);
    dout = input(heads.values, heads.dv);
    g = packedInput(row, DType::F32, {heads.values}, random);
    beta = packedInput(row, betaType, {heads.values}, random, 1.5);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int64_t i = 0; i < row.used * heads.values; ++i) {
      double mild = -0.2 * std::exp(g.get(i));
      bool strong = decay == Decay::Strong || (decay == Decay::Mixed && uniform(random) < 0.2);
      g.set(i, decay == Decay::None ? 0 : strong ? -50 : mild);
      beta.set(i, 1 / (1 + std::exp(-beta.get(i))));
    }
    out = dv = output(heads.values, heads.dv);
    inverse = packedOutput(row, DType::F32, {heads.values, kChunkTokens});
    dq = dk = output(heads.keys, heads.dk);
    dg = packedOutput(row, DType::F32, {heads.values}, 3);
    dbeta = packedOutput(row, betaType, {heads.values}, 1);
  }

  void normalize(HostTensor &tensor) const {
    for (int64_t r = 0; r < row.used * heads.keys; ++r) {
      double squares = 1e-6;
      for (int64_t i = 0; i < heads.dk; ++i)
        squares += tensor.get(r * heads.dk + i) * tensor.get(r * heads.dk + i);
      for (int64_t i = 0; i < heads.dk; ++i)
        tensor.set(r * heads.dk + i, tensor.get(r * heads.dk + i) / std::sqrt(squares));
    }
  }

  KernelCall forward(bool keepInverse = true) {
    return {Kernel::GatedDeltaRule,
            {&docs, &q, &k, &v, &g, &beta, &out, keepInverse ? &inverse : nullptr},
            {floatParam(scale)},
            {},
            row.bucket};
  }
  KernelCall backward(bool keptInverse = true) {
    return {Kernel::GatedDeltaRuleGrad,
            {&docs, &q, &k, &v, &g, &beta, keptInverse ? &inverse : nullptr, &dout, &dq, &dk, &dv, &dg, &dbeta},
            {floatParam(scale)},
            {},
            row.bucket};
  }
  Values inputs() const { return {q.values(), k.values(), v.values(), g.values(), beta.values()}; }
  Reference expected() const { return reference(row, heads, scale, inputs(), dout.values()); }

  void expectForward(const Reference &r) {
    expectWithin(out, r.out, tolerance(dtype), "out");
    expectWithin(inverse, r.inverse, tolerance(DType::F32), "inverse");
    expectZeroTail(out, row, "out");
    expectZeroTail(inverse, row, "inverse");
  }
  void expectGradients(const Reference &r) {
    expectWithin(dq, r.gradient.q, tolerance(dtype), "dq");
    expectWithin(dk, r.gradient.k, tolerance(dtype), "dk");
    expectWithin(dv, r.gradient.v, tolerance(dtype), "dv");
    expectWithin(dg, r.gradient.g, tolerance(DType::F32), "dg");
    expectWithin(dbeta, r.gradient.beta, tolerance(dbeta.shape().dtype), "dbeta");
    for (HostTensor *tensor : {&dq, &dk, &dv, &dg, &dbeta})
      expectZeroTail(*tensor, row, "a gradient");
  }

  PackedRow row;
  Heads heads;
  DType dtype;
  double scale;
  HostTensor docs, q, k, v, g, beta, out, inverse, dout, dq, dk, dv, dg, dbeta;
};

} // namespace qrt::cpu::test::delta

#endif // TESTS_UNIT_CPU_GATEDDELTACASE_H
