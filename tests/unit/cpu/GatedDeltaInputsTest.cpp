// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gated_delta_inputs and its gradient against the formulas in f64.
#include "tests/unit/cpu/PackedRows.h"

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

struct Heads {
  int64_t keys, values, dk, dv, taps;
  int64_t channels() const { return 2 * keys * dk + values * dv; }
};

constexpr double kEps = 1e-6;

/// Inputs, or their gradients: qkv [T, C], b and a [T, W], weight [C, taps], aLog and bias [W].
struct Values {
  std::vector<double> qkv, b, a, weight, aLog, bias;
};

/// Outputs, or their gradients, by flat index. `qkv` is q, k and v beside each other, [T, C].
struct Outputs {
  std::vector<double> qkv, g, beta;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log1p(std::exp(x)); }

/// The convolution of token t of a document that begins at `begin`.
double convolve(const Heads &h, const Values &in, int64_t begin, int64_t t, int64_t channel) {
  double sum = 0;
  for (int64_t j = 0; j < h.taps; ++j) {
    int64_t from = t - h.taps + 1 + j;
    if (from >= begin)
      sum += in.weight[channel * h.taps + j] * in.qkv[from * h.channels() + channel];
  }
  return sum;
}

/// Calls body(first channel, width, normalized) for every head.
template <typename Body> void forHeads(const Heads &h, Body &&body) {
  for (int64_t head = 0; head < 2 * h.keys; ++head)
    body(head * h.dk, h.dk, true);
  for (int64_t head = 0; head < h.values; ++head)
    body(2 * h.keys * h.dk + head * h.dv, h.dv, false);
}

Outputs forward(const PackedRow &row, const Heads &h, const Values &in) {
  Outputs out;
  out.qkv.assign(row.tokens() * h.channels(), 0);
  out.g.assign(row.tokens() * h.values, 0);
  out.beta = out.g;
  for (size_t doc = 0; doc < row.lengths.size(); ++doc)
    for (int64_t t = row.begins[doc]; t < row.begins[doc] + row.lengths[doc]; ++t) {
      forHeads(h, [&](int64_t channel, int64_t width, bool normalized) {
        double squares = kEps;
        double *y = &out.qkv[t * h.channels() + channel];
        for (int64_t c = 0; c < width; ++c) {
          double u = convolve(h, in, row.begins[doc], t, channel + c);
          y[c] = u * sigmoid(u);
          squares += y[c] * y[c];
        }
        for (int64_t c = 0; normalized && c < width; ++c)
          y[c] /= std::sqrt(squares);
      });
      for (int64_t w = 0; w < h.values; ++w) {
        out.beta[t * h.values + w] = sigmoid(in.b[t * h.values + w]);
        out.g[t * h.values + w] = -std::exp(in.aLog[w]) * softplus(in.a[t * h.values + w] + in.bias[w]);
      }
    }
  return out;
}

Values backward(const PackedRow &row, const Heads &h, const Values &in, const Outputs &gradient) {
  Values d;
  d.qkv.assign(in.qkv.size(), 0);
  d.b.assign(in.b.size(), 0);
  d.a = d.b;
  d.weight.assign(in.weight.size(), 0);
  d.aLog.assign(h.values, 0);
  d.bias = d.aLog;
  for (size_t doc = 0; doc < row.lengths.size(); ++doc)
    for (int64_t t = row.begins[doc]; t < row.begins[doc] + row.lengths[doc]; ++t) {
      forHeads(h, [&](int64_t channel, int64_t width, bool normalized) {
        const double *dy = &gradient.qkv[t * h.channels() + channel];
        std::vector<double> u(width);
        double squares = kEps, product = 0;
        for (int64_t c = 0; c < width; ++c) {
          u[c] = convolve(h, in, row.begins[doc], t, channel + c);
          squares += std::pow(u[c] * sigmoid(u[c]), 2);
          product += u[c] * sigmoid(u[c]) * dy[c];
        }
        for (int64_t c = 0; c < width; ++c) {
          double s = sigmoid(u[c]);
          double dc = normalized ? (dy[c] - u[c] * s * product / squares) / std::sqrt(squares) : dy[c];
          double du = dc * s * (1 + u[c] * (1 - s));
          for (int64_t j = 0; j < h.taps; ++j) {
            int64_t from = t - h.taps + 1 + j;
            if (from < row.begins[doc])
              continue;
            d.qkv[from * h.channels() + channel + c] += in.weight[(channel + c) * h.taps + j] * du;
            d.weight[(channel + c) * h.taps + j] += in.qkv[from * h.channels() + channel + c] * du;
          }
        }
      });
      for (int64_t w = 0; w < h.values; ++w) {
        int64_t at = t * h.values + w;
        double beta = sigmoid(in.b[at]), z = in.a[at] + in.bias[w], rate = std::exp(in.aLog[w]);
        d.b[at] = gradient.beta[at] * beta * (1 - beta);
        d.a[at] = -gradient.g[at] * rate * sigmoid(z);
        d.bias[w] += d.a[at];
        d.aLog[w] -= gradient.g[at] * rate * softplus(z);
      }
    }
  return d;
}

struct Case {
  Case(PackedRow packed, Heads heads, DType dtype, unsigned seed) : row(std::move(packed)), heads(heads), dtype(dtype) {
    std::mt19937 random(seed);
    docs = row.table();
    qkv = packedInput(row, dtype, {heads.channels()}, random, 2);
    a = packedInput(row, dtype, {heads.values}, random, 2);
    b = packedInput(row, dtype, {heads.values}, random, 2);
    weight = HostTensor(dtype, {heads.channels(), 1, heads.taps}).randomize(random, 0.5);
    aLog = HostTensor(DType::F32, {heads.values}).randomize(random, 1);
    bias = HostTensor(dtype, {heads.values}).randomize(random, 1);
    q = k = packedOutput(row, dtype, {heads.keys, heads.dk});
    v = packedOutput(row, dtype, {heads.values, heads.dv});
    g = packedOutput(row, DType::F32, {heads.values}, 2);
    beta = packedOutput(row, dtype, {heads.values}, 4);
    dq = packedInput(row, dtype, {heads.keys, heads.dk}, random);
    dk = packedInput(row, dtype, {heads.keys, heads.dk}, random);
    dv = packedInput(row, dtype, {heads.values, heads.dv}, random);
    // Mostly of one sign: a sum over tokens that cancels has no digits to compare.
    dg = packedInput(row, DType::F32, {heads.values}, random, 1, 2);
    dbeta = packedInput(row, dtype, {heads.values}, random);
    dqkv = packedOutput(row, dtype, {heads.channels()});
    da = db = packedOutput(row, dtype, {heads.values});
    dweight = HostTensor(DType::F32, {heads.channels(), 1, heads.taps});
    daLog = dbias = HostTensor(DType::F32, {heads.values});
  }

  KernelCall forwardCall() {
    return {Kernel::GatedDeltaInputs,
            {&docs, &qkv, &b, &a, &weight, &aLog, &bias, &q, &k, &v, &g, &beta},
            {floatParam(kEps)},
            {},
            row.bucket};
  }
  KernelCall backwardCall(std::vector<int> accumulate = {}) {
    return {Kernel::GatedDeltaInputsGrad,
            {&docs, &qkv, &b, &a, &weight, &aLog, &bias, &dq, &dk, &dv, &dg, &dbeta, &dqkv, &db, &da, &dweight, &daLog,
             &dbias},
            {floatParam(kEps)},
            std::move(accumulate),
            row.bucket};
  }
  Values inputs() const {
    return {qkv.values(), b.values(), a.values(), weight.values(), aLog.values(), bias.values()};
  }
  /// [T, C] from q, k and v.
  std::vector<double> join(const HostTensor &q, const HostTensor &k, const HostTensor &v) const {
    std::vector<double> joined;
    for (int64_t t = 0; t < row.tokens(); ++t)
      for (const HostTensor *part : {&q, &k, &v}) {
        int64_t width = part->elements() / row.tokens();
        for (int64_t i = 0; i < width; ++i)
          joined.push_back(part->get(t * width + i));
      }
    return joined;
  }
  Outputs outputGradients() const { return {join(dq, dk, dv), dg.values(), dbeta.values()}; }

  void expectForward() {
    Outputs expected = forward(row, heads, inputs());
    HostTensor joined(DType::F32, {row.tokens(), heads.channels()});
    joined.fill(join(q, k, v));
    expectWithin(joined, expected.qkv, tolerance(dtype), "q, k, v");
    expectWithin(g, expected.g, tolerance(DType::F32), "g");
    expectWithin(beta, expected.beta, tolerance(dtype), "beta");
    for (HostTensor *tensor : {&q, &k, &v, &g, &beta})
      expectZeroTail(*tensor, row, "an output");
  }
  void expectBackward() {
    Values expected = backward(row, heads, inputs(), outputGradients());
    expectWithin(dqkv, expected.qkv, tolerance(dtype), "dqkv");
    expectWithin(db, expected.b, tolerance(dtype), "db");
    expectWithin(da, expected.a, tolerance(dtype), "da");
    expectWithin(dweight, expected.weight, tolerance(dweight.shape().dtype), "dconv_weight");
    expectWithin(daLog, expected.aLog, tolerance(DType::F32), "da_log");
    expectWithin(dbias, expected.bias, tolerance(dbias.shape().dtype), "ddt_bias");
    for (HostTensor *tensor : {&dqkv, &db, &da})
      expectZeroTail(*tensor, row, "a gradient");
  }

  PackedRow row;
  Heads heads;
  DType dtype;
  HostTensor docs, qkv, b, a, weight, aLog, bias, q, k, v, g, beta;
  HostTensor dq, dk, dv, dg, dbeta, dqkv, db, da, dweight, daLog, dbias;
};

class GatedDeltaInputs : public testing::TestWithParam<DType> {};

} // namespace

TEST_P(GatedDeltaInputs, MatchesFormulas) {
  unsigned seed = 1;
  for (Heads heads :
       {Heads{2, 2, 16, 16, 4}, {1, 3, 32, 16, 4}, {2, 4, 5, 7, 3}, {1, 20, 1, 1, 1}, {1, 1, 16, 8, 70}}) {
    SCOPED_TRACE(testing::Message() << heads.keys << "/" << heads.values << " heads of " << heads.dk << "/" << heads.dv
                                    << ", " << heads.taps << " taps");
    Case c(awkwardRow(), heads, GetParam(), seed++);
    c.forwardCall().runDeterministic();
    c.expectForward();
    c.backwardCall().runDeterministic();
    c.expectBackward();
  }
}

TEST_P(GatedDeltaInputs, WideHeads) {
  Case c(shortRow(), {1, 2, 128, 128, 4}, GetParam(), 7);
  c.forwardCall().runDeterministic();
  c.expectForward();
  c.backwardCall().runDeterministic();
  c.expectBackward();
}

TEST_P(GatedDeltaInputs, AddsToWeightGradients) {
  Case c(shortRow(), {1, 2, 16, 16, 4}, GetParam(), 8);
  c.dweight = HostTensor(GetParam(), {c.heads.channels(), 1, 4});
  c.backwardCall().run();
  c.expectBackward();
  // Indices of dconv_weight, da_log and ddt_bias in the catalog.
  std::vector<int> sums = {15, 16, 17};
  std::vector<double> once = c.dweight.values(), onceLog = c.daLog.values(), onceBias = c.dbias.values();
  for (HostTensor *tensor : {&c.dweight, &c.daLog, &c.dbias})
    tensor->fill(std::vector<double>(tensor->elements(), 1.0));
  c.backwardCall(sums).runDeterministic();
  for (auto *values : {&once, &onceLog, &onceBias})
    for (double &x : *values)
      x += 1;
  EXPECT_CLOSE(c.dweight, once);
  EXPECT_CLOSE(c.daLog, onceLog);
  EXPECT_CLOSE(c.dbias, onceBias);
}

TEST_P(GatedDeltaInputs, DocumentsDoNotMeet) {
  Case packed(awkwardRow(), {1, 2, 16, 16, 4}, GetParam(), 9);
  auto alone = [&](PackedRow row) {
    Case c(std::move(row), packed.heads, GetParam(), 0);
    c.weight = packed.weight, c.aLog = packed.aLog, c.bias = packed.bias;
    return c;
  };
  expectDocumentsDoNotMeet(
      packed, alone,
      [](Case &c) {
        c.forwardCall().run();
        c.backwardCall().run();
      },
      [](Case &c) { return std::vector{&c.qkv, &c.a, &c.b, &c.dq, &c.dk, &c.dv, &c.dg, &c.dbeta}; },
      [](Case &c) {
        return NamedTensors{{"q", &c.q},       {"k", &c.k},       {"v", &c.v},   {"g", &c.g},
                            {"beta", &c.beta}, {"dqkv", &c.dqkv}, {"da", &c.da}, {"db", &c.db}};
      });
}

TEST_P(GatedDeltaInputs, NoDocuments) {
  Case c(PackedRow({0, 0}, 9), {1, 2, 16, 16, 4}, GetParam(), 10);
  c.forwardCall().runDeterministic();
  c.backwardCall().runDeterministic();
  for (HostTensor *tensor : {&c.q, &c.k, &c.v, &c.g, &c.beta, &c.dqkv, &c.da, &c.db})
    expectZeroTail(*tensor, c.row, "an output");
  for (HostTensor *tensor : {&c.dweight, &c.daLog, &c.dbias})
    for (double x : tensor->values())
      EXPECT_EQ(x, 0);
}

INSTANTIATE_TEST_SUITE_P(Storage, GatedDeltaInputs, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });

// The f64 formulas above, by central differences.
TEST(GatedDeltaInputsReference, GradientsAreDerivatives) {
  Case c(PackedRow({1, 5, 0, 3}), {1, 2, 3, 2, 4}, DType::F32, 11);
  Values in = c.inputs();
  Outputs gradient = c.outputGradients();
  Values d = backward(c.row, c.heads, in, gradient);
  for (auto [member, name] : {std::pair{&Values::qkv, "qkv"},
                              {&Values::b, "b"},
                              {&Values::a, "a"},
                              {&Values::weight, "weight"},
                              {&Values::aLog, "a_log"},
                              {&Values::bias, "dt_bias"}}) {
    std::vector<double> numeric = numericGradient(in.*member, [&](const std::vector<double> &x) {
      Values changed = in;
      changed.*member = x;
      Outputs out = forward(c.row, c.heads, changed);
      double sum = 0;
      for (auto part : {&Outputs::qkv, &Outputs::g, &Outputs::beta})
        for (size_t i = 0; i < (out.*part).size(); ++i)
          sum += (out.*part)[i] * (gradient.*part)[i];
      return sum;
    });
    for (size_t i = 0; i < numeric.size(); ++i)
      EXPECT_NEAR(numeric[i], (d.*member)[i], 1e-7) << name << " " << i;
  }
}
