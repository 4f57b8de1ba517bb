// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attention and attention_grad against softmax written out in f64.
#include "tests/unit/cpu/PackedRows.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

struct Heads {
  int64_t queries, keys, width;
};

/// The softmax of every query, and all that follows from it, in f64. Tensors by flat index: [T, heads, width].
struct Reference {
  std::vector<double> o, y, lse, dq, dk, dv, dgate;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// `gate` and `dy` may be empty: no gate, no gradients. `kept` is o as the gradient is given it, rounded to its
/// storage; empty: exact.
Reference reference(const PackedRow &row, Heads h, double scale, const std::vector<double> &q,
                    const std::vector<double> &k, const std::vector<double> &v, const std::vector<double> &gate,
                    const std::vector<double> &dy, const std::vector<double> &kept = {}) {
  int64_t t = row.tokens(), d = h.width, ratio = h.queries / h.keys;
  Reference r;
  r.o.assign(t * h.queries * d, 0);
  r.lse.assign(t * h.queries, 0);
  r.dq = r.dgate = r.o;
  r.dk.assign(t * h.keys * d, 0);
  r.dv = r.dk;
  for (size_t doc = 0; doc < row.lengths.size(); ++doc)
    for (int64_t i = row.begins[doc]; i < row.begins[doc] + row.lengths[doc]; ++i)
      for (int64_t head = 0; head < h.queries; ++head) {
        const double *qi = &q[(i * h.queries + head) * d];
        double *oi = &r.o[(i * h.queries + head) * d];
        auto key = [&](int64_t j) { return (j * h.keys + head / ratio) * d; };
        std::vector<double> p;
        double largest = -HUGE_VAL, sum = 0;
        for (int64_t j = row.begins[doc]; j <= i; ++j) {
          double s = 0;
          for (int64_t c = 0; c < d; ++c)
            s += qi[c] * k[key(j) + c];
          p.push_back(scale * s);
          largest = std::max(largest, scale * s);
        }
        for (double &s : p)
          sum += s = std::exp(s - largest);
        r.lse[i * h.queries + head] = largest + std::log(sum);
        for (size_t n = 0; n < p.size(); ++n) {
          p[n] /= sum;
          for (int64_t c = 0; c < d; ++c)
            oi[c] += p[n] * v[key(row.begins[doc] + n) + c];
        }
        if (dy.empty())
          continue;
        std::vector<double> dO(d);
        double delta = 0;
        for (int64_t c = 0; c < d; ++c) {
          int64_t at = (i * h.queries + head) * d + c;
          double s = gate.empty() ? 1 : sigmoid(gate[at]), o = kept.empty() ? oi[c] : kept[at];
          dO[c] = dy[at] * s;
          if (!gate.empty())
            r.dgate[at] = dy[at] * o * s * (1 - s);
          delta += dO[c] * o;
        }
        for (size_t n = 0; n < p.size(); ++n) {
          int64_t at = key(row.begins[doc] + n);
          double dP = 0;
          for (int64_t c = 0; c < d; ++c)
            dP += dO[c] * v[at + c];
          double dS = scale * p[n] * (dP - delta);
          for (int64_t c = 0; c < d; ++c) {
            r.dv[at + c] += p[n] * dO[c];
            r.dk[at + c] += dS * qi[c];
            r.dq[(i * h.queries + head) * d + c] += dS * k[at + c];
          }
        }
      }
  r.y = r.o;
  if (!gate.empty())
    for (int64_t i = 0; i < row.used * h.queries * d; ++i)
      r.y[i] *= sigmoid(gate[i]);
  return r;
}

/// Inputs and outputs of both kernels.
struct Case {
  Case(PackedRow packed, Heads heads, DType dtype, bool gated, unsigned seed)
      : row(std::move(packed)), heads(heads), dtype(dtype), gated(gated), scale(1 / std::sqrt(double(heads.width))) {
    std::mt19937 random(seed);
    std::vector<int64_t> query = {heads.queries, heads.width}, key = {heads.keys, heads.width};
    docs = row.table();
    // Wide enough that single keys dominate some rows of the softmax.
    q = packedInput(row, dtype, query, random, 2);
    k = packedInput(row, dtype, key, random, 1.5);
    v = packedInput(row, dtype, key, random);
    gate = packedInput(row, dtype, query, random, 2);
    dy = packedInput(row, dtype, query, random);
    y = o = dq = dgate = packedOutput(row, dtype, query);
    dk = dv = packedOutput(row, dtype, key);
    lse = packedOutput(row, DType::F32, {heads.queries}, 2);
  }

  KernelCall forward(bool residuals = true) {
    return {
        Kernel::Attention,
        {&docs, &q, &k, &v, gated ? &gate : nullptr, &y, residuals ? &lse : nullptr, residuals && gated ? &o : nullptr},
        {floatParam(scale)},
        {},
        row.bucket};
  }
  KernelCall backward(bool keptLse = true, bool keptO = true) {
    return {Kernel::AttentionGrad,
            {&docs, &q, &k, &v, gated ? &gate : nullptr, keptLse ? &lse : nullptr, keptO ? (gated ? &o : &y) : nullptr,
             &dy, &dq, &dk, &dv, gated ? &dgate : nullptr},
            {floatParam(scale)},
            {},
            row.bucket};
  }
  /// `keptO`: the gradient was given o.
  Reference expected(bool keptO = true) const {
    return reference(row, heads, scale, q.values(), k.values(), v.values(),
                     gated ? gate.values() : std::vector<double>(), dy.values(),
                     keptO ? (gated ? o : y).values() : std::vector<double>());
  }
  void expectGradients(const Reference &r, double bound) {
    expectWithin(dq, r.dq, bound, "dq");
    expectWithin(dk, r.dk, bound, "dk");
    expectWithin(dv, r.dv, bound, "dv");
    if (gated)
      expectWithin(dgate, r.dgate, bound, "dgate");
    for (HostTensor *tensor : {&dq, &dk, &dv})
      expectZeroTail(*tensor, row, "a gradient");
    if (gated)
      expectZeroTail(dgate, row, "dgate");
  }

  PackedRow row;
  Heads heads;
  DType dtype;
  bool gated;
  double scale;
  HostTensor docs, q, k, v, gate, dy, y, lse, o, dq, dk, dv, dgate;
};

class Attention : public testing::TestWithParam<DType> {
protected:
  double bound() const { return tolerance(GetParam()); }
};

} // namespace

TEST_P(Attention, MatchesSoftmax) {
  unsigned seed = 1;
  for (Heads heads : {Heads{2, 2, 16}, {4, 2, 32}, {3, 1, 64}, {4, 1, 5}, {1, 1, 1}})
    for (bool gated : {false, true}) {
      SCOPED_TRACE(testing::Message() << heads.queries << "/" << heads.keys << " heads of " << heads.width
                                      << (gated ? ", gated" : ""));
      Case c(awkwardRow(), heads, GetParam(), gated, seed++);
      c.forward().runDeterministic();
      Reference r = c.expected();
      expectWithin(c.y, r.y, bound(), "y");
      EXPECT_LT(relativeError(c.lse, r.lse), 1e-6);
      expectZeroTail(c.y, c.row, "y");
      expectZeroTail(c.lse, c.row, "lse");
      if (gated) {
        expectWithin(c.o, r.o, bound(), "o");
        expectZeroTail(c.o, c.row, "o");
      }
      c.backward().runDeterministic();
      c.expectGradients(r, bound());
    }
}

TEST_P(Attention, WideHeads) {
  for (Heads heads : {Heads{2, 1, 128}, {2, 1, 256}}) {
    SCOPED_TRACE(heads.width);
    Case c(shortRow(), heads, GetParam(), true, 3);
    c.forward().runDeterministic();
    Reference r = c.expected();
    expectWithin(c.y, r.y, bound(), "y");
    c.backward().runDeterministic();
    c.expectGradients(r, bound());
  }
}

TEST_P(Attention, RebuildsWhatWasNotKept) {
  for (bool gated : {false, true})
    for (auto [keptLse, keptO] : {std::pair{false, false}, {true, false}, {false, true}}) {
      SCOPED_TRACE(testing::Message() << "gated " << gated << ", lse kept " << keptLse << ", o kept " << keptO);
      Case c(shortRow(), {4, 2, 32}, GetParam(), gated, 5);
      c.forward().run();
      c.backward(keptLse, keptO).runDeterministic();
      // Where one is missing both are made again.
      c.expectGradients(c.expected(keptLse && keptO), bound());
    }
}

// One long document and one key head: work is shared tile by tile on several threads, and by documents on one.
TEST_P(Attention, OneDocumentOnManyThreads) {
  Case c(PackedRow({450}, 3), {2, 1, 16}, GetParam(), true, 6);
  c.forward().runDeterministic();
  c.backward().runDeterministic();
  c.expectGradients(c.expected(), bound());
  HostTensor dq = c.dq, dk = c.dk, dv = c.dv;
  c.backward().run(8);
  EXPECT_TRUE(c.dq.bytes() == dq.bytes() && c.dk.bytes() == dk.bytes() && c.dv.bytes() == dv.bytes());
}

TEST_P(Attention, DocumentsDoNotMeet) {
  Case packed(awkwardRow(), {4, 2, 16}, GetParam(), true, 7);
  expectDocumentsDoNotMeet(
      packed, [&](PackedRow row) { return Case(std::move(row), packed.heads, GetParam(), true, 0); },
      [](Case &c) {
        c.forward().run();
        c.backward().run();
      },
      [](Case &c) { return std::vector{&c.q, &c.k, &c.v, &c.gate, &c.dy}; },
      [](Case &c) {
        return NamedTensors{{"y", &c.y},   {"lse", &c.lse}, {"dq", &c.dq},
                            {"dk", &c.dk}, {"dv", &c.dv},   {"dgate", &c.dgate}};
      });
}

TEST_P(Attention, NoDocuments) {
  Case c(PackedRow({0, 0}, 9), {2, 1, 16}, GetParam(), true, 8);
  c.forward().runDeterministic();
  c.backward().runDeterministic();
  for (HostTensor *tensor : {&c.y, &c.lse, &c.o, &c.dq, &c.dk, &c.dv, &c.dgate})
    expectZeroTail(*tensor, c.row, "an output");
}

INSTANTIATE_TEST_SUITE_P(Storage, Attention, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });

// The f64 formulas above, by central differences.
TEST(AttentionReference, GradientsAreDerivatives) {
  Case c(PackedRow({1, 4, 3}, 0), {4, 2, 3}, DType::F32, true, 9);
  std::vector<double> q = c.q.values(), k = c.k.values(), v = c.v.values(), gate = c.gate.values(), dy = c.dy.values();
  Reference r = reference(c.row, c.heads, c.scale, q, k, v, gate, dy);
  auto value = [&](const std::vector<double> &q, const std::vector<double> &k, const std::vector<double> &v,
                   const std::vector<double> &gate) {
    return inner(reference(c.row, c.heads, c.scale, q, k, v, gate, {}).y, dy);
  };
  auto expectSame = [](const std::vector<double> &a, const std::vector<double> &b) {
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-7);
  };
  expectSame(r.dq, numericGradient(q, [&](auto &x) { return value(x, k, v, gate); }));
  expectSame(r.dk, numericGradient(k, [&](auto &x) { return value(q, x, v, gate); }));
  expectSame(r.dv, numericGradient(v, [&](auto &x) { return value(q, k, x, gate); }));
  expectSame(r.dgate, numericGradient(gate, [&](auto &x) { return value(q, k, v, x); }));
}
