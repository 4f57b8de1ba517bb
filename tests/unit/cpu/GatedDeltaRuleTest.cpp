// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gated_delta_rule and gated_delta_rule_grad (chunks) against the recurrence in f64, token after token.
#include "tests/unit/cpu/PackedRows.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

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
Reference reference(const PackedRow &row, Heads h, double scale, const Values &in, const std::vector<double> &dout) {
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
  Case(PackedRow packed, Heads heads, DType dtype, Decay decay, unsigned seed, DType betaType = DType::F32)
      : row(std::move(packed)), heads(heads), dtype(dtype), scale(1 / std::sqrt(double(heads.dk))) {
    std::mt19937 random(seed);
    docs = row.table();
    q = packedInput(row, dtype, {heads.keys, heads.dk}, random);
    k = packedInput(row, dtype, {heads.keys, heads.dk}, random);
    for (HostTensor *tensor : {&q, &k})
      normalize(*tensor);
    v = packedInput(row, dtype, {heads.values, heads.dv}, random);
    dout = packedInput(row, dtype, {heads.values, heads.dv}, random);
    g = packedInput(row, DType::F32, {heads.values}, random);
    beta = packedInput(row, betaType, {heads.values}, random, 1.5);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int64_t i = 0; i < row.used * heads.values; ++i) {
      double mild = -0.2 * std::exp(g.get(i));
      bool strong = decay == Decay::Strong || (decay == Decay::Mixed && uniform(random) < 0.2);
      g.set(i, decay == Decay::None ? 0 : strong ? -50 : mild);
      beta.set(i, 1 / (1 + std::exp(-beta.get(i))));
    }
    out = dv = packedOutput(row, dtype, {heads.values, heads.dv});
    inverse = packedOutput(row, DType::F32, {heads.values, kChunkTokens});
    dq = dk = packedOutput(row, dtype, {heads.keys, heads.dk});
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

class GatedDeltaRule : public testing::TestWithParam<DType> {};

} // namespace

TEST_P(GatedDeltaRule, MatchesRecurrence) {
  unsigned seed = 1;
  for (Heads heads : {Heads{2, 2, 16, 16}, {1, 2, 32, 16}, {1, 3, 16, 32}, {2, 8, 5, 7}, {1, 1, 1, 1}}) {
    SCOPED_TRACE(testing::Message() << heads.keys << " key and " << heads.values << " value heads of " << heads.dk
                                    << " and " << heads.dv);
    Case c(awkwardRow(), heads, GetParam(), Decay::Mild, seed++, GetParam());
    c.forward().runDeterministic();
    Reference r = c.expected();
    c.expectForward(r);
    c.backward().runDeterministic();
    c.expectGradients(r);
  }
}

TEST_P(GatedDeltaRule, Decays) {
  for (Decay decay : {Decay::None, Decay::Strong, Decay::Mixed}) {
    SCOPED_TRACE(static_cast<int>(decay));
    Case c(shortRow(), {2, 4, 16, 16}, GetParam(), decay, 11);
    c.forward().run();
    Reference r = c.expected();
    c.expectForward(r);
    c.backward().run();
    c.expectGradients(r);
  }
}

TEST_P(GatedDeltaRule, WideHeads) {
  Case c(shortRow(), {1, 2, 128, 128}, GetParam(), Decay::Mild, 12);
  c.forward().runDeterministic();
  Reference r = c.expected();
  c.expectForward(r);
  c.backward().runDeterministic();
  c.expectGradients(r);
}

TEST_P(GatedDeltaRule, RebuildsTheInverse) {
  Case c(shortRow(), {1, 3, 16, 32}, GetParam(), Decay::Mild, 13);
  c.forward().run();
  HostTensor out = c.out;
  c.forward(false).run();
  EXPECT_TRUE(c.out.bytes() == out.bytes());
  c.backward().run();
  HostTensor dq = c.dq, dk = c.dk, dv = c.dv, dg = c.dg, dbeta = c.dbeta;
  c.backward(false).runDeterministic();
  EXPECT_TRUE(c.dq.bytes() == dq.bytes() && c.dk.bytes() == dk.bytes() && c.dv.bytes() == dv.bytes() &&
              c.dg.bytes() == dg.bytes() && c.dbeta.bytes() == dbeta.bytes());
}

// One document and one key head: columns of the values are shared among the threads.
TEST_P(GatedDeltaRule, OneDocumentOnManyThreads) {
  Case c(PackedRow({200}), {1, 2, 16, 80}, GetParam(), Decay::Mild, 14);
  c.forward().runDeterministic();
  c.expectForward(c.expected());
  HostTensor out = c.out, inverse = c.inverse;
  c.forward().run(8);
  EXPECT_TRUE(c.out.bytes() == out.bytes() && c.inverse.bytes() == inverse.bytes());
}

TEST_P(GatedDeltaRule, DocumentsDoNotMeet) {
  Case packed(awkwardRow(), {2, 4, 16, 16}, GetParam(), Decay::Mild, 15);
  packed.forward().run();
  packed.backward().run();
  for (size_t d = 0; d < packed.row.lengths.size(); ++d) {
    int64_t length = packed.row.lengths[d], begin = packed.row.begins[d];
    if (length == 0)
      continue;
    Case alone(PackedRow({length}, 1), packed.heads, GetParam(), Decay::Mild, 0);
    for (auto [from, to] : {std::pair{&packed.q, &alone.q},
                            {&packed.k, &alone.k},
                            {&packed.v, &alone.v},
                            {&packed.g, &alone.g},
                            {&packed.beta, &alone.beta},
                            {&packed.dout, &alone.dout}})
      *to = sliceRows(*from, begin, length, length + 1);
    alone.forward().run();
    alone.backward().run();
    expectSameRows(packed.out, begin, alone.out, length, "out");
    expectSameRows(packed.inverse, begin, alone.inverse, length, "inverse");
    expectSameRows(packed.dq, begin, alone.dq, length, "dq");
    expectSameRows(packed.dk, begin, alone.dk, length, "dk");
    expectSameRows(packed.dv, begin, alone.dv, length, "dv");
    expectSameRows(packed.dg, begin, alone.dg, length, "dg");
    expectSameRows(packed.dbeta, begin, alone.dbeta, length, "dbeta");
  }
}

TEST_P(GatedDeltaRule, NoDocuments) {
  Case c(PackedRow({0, 0}, 9), {1, 2, 16, 16}, GetParam(), Decay::Mild, 16);
  c.forward().runDeterministic();
  c.backward().runDeterministic();
  for (HostTensor *tensor : {&c.out, &c.inverse, &c.dq, &c.dk, &c.dv, &c.dg, &c.dbeta})
    expectZeroTail(*tensor, c.row, "an output");
}

INSTANTIATE_TEST_SUITE_P(Storage, GatedDeltaRule, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });

// The f64 formulas above, by central differences.
TEST(GatedDeltaRuleReference, GradientsAreDerivatives) {
  Case c(PackedRow({1, 5, 0, 3}, 1), {1, 2, 3, 2}, DType::F32, Decay::Mild, 17);
  Values in = c.inputs();
  // The tail is NaN and stays out of the sums.
  std::vector<double> dout = c.dout.values();
  Reference r = reference(c.row, c.heads, c.scale, in, dout);
  for (auto [member, name] :
       {std::pair{&Values::q, "q"}, {&Values::k, "k"}, {&Values::v, "v"}, {&Values::g, "g"}, {&Values::beta, "beta"}}) {
    std::vector<double> numeric = numericGradient(in.*member, [&](const std::vector<double> &x) {
      Values changed = in;
      changed.*member = x;
      std::vector<double> out = reference(c.row, c.heads, c.scale, changed, {}).out;
      double sum = 0;
      for (int64_t i = 0; i < c.row.used * c.heads.values * c.heads.dv; ++i)
        sum += out[i] * dout[i];
      return sum;
    });
    for (size_t i = 0; i < numeric.size(); ++i)
      EXPECT_NEAR(numeric[i], (r.gradient.*member)[i], 1e-8) << name << " " << i;
  }
}
