// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gated_delta_rule and gated_delta_rule_grad (chunks) against the recurrence in f64, token after token.
#include "tests/unit/cpu/GatedDeltaCase.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cpu::test::delta;

namespace {

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
  expectDocumentsDoNotMeet(
      packed, [&](PackedRow row) { return Case(std::move(row), packed.heads, GetParam(), Decay::Mild, 0); },
      [](Case &c) {
        c.forward().run();
        c.backward().run();
      },
      [](Case &c) { return std::vector{&c.q, &c.k, &c.v, &c.g, &c.beta, &c.dout}; },
      [](Case &c) {
        return NamedTensors{{"out", &c.out}, {"inverse", &c.inverse}, {"dq", &c.dq},      {"dk", &c.dk},
                            {"dv", &c.dv},   {"dg", &c.dg},           {"dbeta", &c.dbeta}};
      });
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
