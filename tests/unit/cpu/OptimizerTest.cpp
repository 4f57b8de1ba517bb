// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// global_norm, optimizer_step and adamw.
#include "tests/unit/cpu/KernelHarness.h"

#include <limits>

using namespace qrt;
using namespace qrt::cpu::test;

namespace {

using Values = std::vector<double>;

HostTensor scalar(DType dtype, double value) {
  HostTensor tensor(dtype, {});
  tensor.set(0, value);
  return tensor;
}

HostTensor hyperparameters(double rate, double decay, double clip, double eps = 1e-8) {
  HostTensor hyper(DType::F32, {8});
  hyper.fill({rate, 0.9, 0.999, eps, decay, clip, 0, 0});
  return hyper;
}

HostTensor counters(double steps, double skipped = 0) {
  HostTensor result(DType::I64, {2});
  result.fill({steps, skipped});
  return result;
}

/// The weight, moments and master of one parameter with an optimizer step on them.
struct Parameter {
  HostTensor weight, expAvg, expAvgSq;
  HostTensor master = {};

  void step(HostTensor &gradient, double norm, double step, HostTensor hyper, bool decay,
            std::vector<ParamValue> members, int64_t seed = 11, bool deterministic = true) {
    HostTensor normArg = scalar(DType::F32, norm), countersArg = counters(step);
    HostTensor seedArg = scalar(DType::I64, static_cast<double>(seed));
    std::vector<ParamValue> params = {intParam(decay)};
    params.insert(params.end(), members.begin(), members.end());
    KernelCall call{Kernel::AdamW,
                    {&gradient, &normArg, &countersArg, &hyper, &seedArg, &weight, &expAvg, &expAvgSq,
                     master.bytes().empty() ? nullptr : &master},
                    params};
    deterministic ? call.runDeterministic() : call.run();
  }
};

/// AdamW as in the paper, in double, with the f32 constants that the kernel is given.
struct ReferenceAdamW {
  Values weight, m, v;

  explicit ReferenceAdamW(Values weight) : weight(weight), m(weight.size(), 0), v(weight.size(), 0) {}

  void step(const Values &gradient, double norm, double t, double rate, double decay, double clip) {
    double beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f;
    double scale = std::min(1.0, static_cast<double>(static_cast<float>(clip)) / norm);
    for (size_t i = 0; i < weight.size(); ++i) {
      double g = gradient[i] * scale;
      m[i] = beta1 * m[i] + (1 - beta1) * g;
      v[i] = beta2 * v[i] + (1 - beta2) * g * g;
      double mHat = m[i] / (1 - std::pow(beta1, t)), vHat = v[i] / (1 - std::pow(beta2, t));
      weight[i] = weight[i] * (1 - rate * decay) - rate * mHat / (std::sqrt(vHat) + eps);
    }
  }
};

HostTensor zeros(DType dtype, std::vector<int64_t> dims, int64_t gap = 0) {
  HostTensor tensor(dtype, std::move(dims), gap);
  tensor.fill(Values(tensor.elements(), 0));
  return tensor;
}

} // namespace

TEST(GlobalNorm, IsTheNormOfAllGradients) {
  std::mt19937 random(1);
  HostTensor a = HostTensor(DType::F32, {3, 5000}).randomize(random),
             b = HostTensor(DType::BF16, {7}).randomize(random);
  HostTensor c = HostTensor(DType::F32, {300, 70}, 9).randomize(random, 1e-12), d(DType::F32, {}),
             e(DType::BF16, {40, 3, 2});
  HostTensor norm(DType::F32, {});
  d.set(0, 1e15); // its square is beyond what a sum in f32 would keep of the others
  e.randomize(random, 1e14);
  double squares = 0;
  for (HostTensor *tensor : {&a, &b, &c, &d, &e})
    for (double value : tensor->values())
      squares += value * value;
  KernelCall{Kernel::GlobalNorm, {&norm, &a, &b, &c, &d, &e}}.runDeterministic();
  EXPECT_NEAR(norm.get(0), std::sqrt(squares), 1e-7 * std::sqrt(squares));
  KernelCall{Kernel::GlobalNorm, {&norm, &c}}.runDeterministic();
  squares = 0;
  for (double value : c.values())
    squares += value * value;
  EXPECT_NEAR(norm.get(0), std::sqrt(squares), 1e-7 * std::sqrt(squares));
}

TEST(GlobalNorm, IsNotFiniteWhereAGradientIsNot) {
  std::mt19937 random(2);
  for (double bad : {HUGE_VAL, -HUGE_VAL, static_cast<double>(NAN)}) {
    HostTensor a = HostTensor(DType::F32, {2000}).randomize(random), b = HostTensor(DType::BF16, {9}).randomize(random);
    HostTensor norm(DType::F32, {});
    (bad > 0 ? a : b).set(5, bad);
    KernelCall{Kernel::GlobalNorm, {&norm, &a, &b}}.runDeterministic();
    EXPECT_FALSE(std::isfinite(norm.get(0)));
  }
}

TEST(OptimizerStep, CountsStepsAndSkippedSteps) {
  HostTensor count = counters(4, 1);
  for (double norm : {1.0, static_cast<double>(NAN), 0.0, HUGE_VAL}) {
    HostTensor normArg = scalar(DType::F32, norm);
    KernelCall{Kernel::OptimizerStep, {&normArg, &count}}.run();
  }
  EXPECT_EQ(count.values(), (Values{6, 3}));
}

// Ten steps against the paper's formula: clipping below and above the norm, with and without decay, rows with gaps.
TEST(AdamW, MatchesTheFormula) {
  std::mt19937 random(3);
  for (int64_t gap : {0, 3}) {
    for (bool decay : {false, true}) {
      for (double clip : {0.5, 1e30}) {
        std::vector<int64_t> dims = {9, 1100};
        Parameter p{HostTensor(DType::F32, dims, gap).randomize(random), zeros(DType::F32, dims),
                    zeros(DType::F32, dims)};
        ReferenceAdamW reference(p.weight.values());
        for (int t = 1; t <= 10; ++t) {
          HostTensor gradient = HostTensor(DType::F32, dims, gap).randomize(random, 0.1);
          double norm = t % 2 ? 0.25 : 4;
          p.step(gradient, norm, t, hyperparameters(0.01, 0.5, clip), decay, {intParam(1), intParam(9 * 1100)});
          reference.step(gradient.values(), norm, t, 0.01f, decay ? 0.5 : 0, clip);
        }
        EXPECT_CLOSE(p.weight, reference.weight);
        EXPECT_CLOSE(p.expAvg, reference.m);
        EXPECT_CLOSE(p.expAvgSq, reference.v);
      }
    }
  }
}

// Decay far below f32's resolution of one still shrinks the weight as it should.
TEST(AdamW, SmallDecayIsNotRoundedAway) {
  Parameter p{HostTensor(DType::F32, {1}), zeros(DType::F32, {1}), zeros(DType::F32, {1})};
  p.weight.set(0, 1);
  HostTensor gradient = zeros(DType::F32, {1});
  for (int t = 1; t <= 10; ++t)
    p.step(gradient, 0, t, hyperparameters(1e-5, 0.1, HUGE_VAL), true, {intParam(1), intParam(1)}, 11, false);
  // Ten times 1e-6, each rounded to a multiple of 2^-24.
  EXPECT_NEAR(1 - p.weight.get(0), 1e-5, 10 * std::ldexp(1, -25));
}

TEST(AdamW, WithMasterTheWeightIsTheMasterRounded) {
  std::mt19937 random(4);
  std::vector<int64_t> dims = {5, 333};
  Parameter p{HostTensor(DType::BF16, dims), zeros(DType::F32, dims), zeros(DType::F32, dims),
              HostTensor(DType::F32, dims).randomize(random)};
  p.weight.fill(p.master.values());
  ReferenceAdamW reference(p.master.values());
  for (int t = 1; t <= 5; ++t) {
    HostTensor gradient = HostTensor(DType::BF16, dims, 2).randomize(random, 0.1);
    p.step(gradient, 1, t, hyperparameters(1e-4, 0.1, 2), true, {intParam(1), intParam(5 * 333)});
    reference.step(gradient.values(), 1, t, 1e-4f, 0.1f, 2);
  }
  EXPECT_CLOSE(p.master, reference.weight);
  HostTensor rounded(DType::BF16, dims);
  rounded.fill(p.master.values());
  EXPECT_EQ(p.weight.values(), rounded.values());
}

TEST(AdamW, ANormThatIsNotFiniteChangesNothing) {
  std::mt19937 random(5);
  Parameter p{HostTensor(DType::BF16, {40}).randomize(random), HostTensor(DType::BF16, {40}).randomize(random),
              HostTensor(DType::F32, {40}).randomize(random)};
  Parameter before = p;
  HostTensor gradient = HostTensor(DType::F32, {40}).randomize(random);
  for (double norm : {HUGE_VAL, static_cast<double>(NAN)})
    p.step(gradient, norm, 3, hyperparameters(1, 1, 1), true, {intParam(1), intParam(40)});
  EXPECT_TRUE(p.weight.bytes() == before.weight.bytes() && p.expAvg.bytes() == before.expAvg.bytes() &&
              p.expAvgSq.bytes() == before.expAvgSq.bytes());
}

// Stochastic rounding: each value is a neighbour of the exact one, and the mean is the exact value, far below one unit.
TEST(AdamW, RoundsStochasticallyWithoutBias) {
  std::mt19937 random(6);
  constexpr int64_t kElements = 200000;
  std::vector<int64_t> dims = {kElements};
  Parameter p{zeros(DType::BF16, dims), zeros(DType::BF16, dims), zeros(DType::BF16, dims)};
  p.weight.fill(Values(kElements, 1.0));
  HostTensor gradient = zeros(DType::F32, dims);
  gradient.fill(Values(kElements, 0.37));
  p.step(gradient, 0.1, 1, hyperparameters(1e-3, 0, HUGE_VAL), false, {intParam(1), intParam(kElements)});
  auto check = [&](const HostTensor &tensor, double exact, double unit) {
    double sum = 0;
    for (double value : tensor.values()) {
      ASSERT_LE(std::fabs(value - exact), unit);
      sum += value;
    }
    // Of a mean of n draws between two neighbours the standard deviation is at most unit / 2 / sqrt(n).
    EXPECT_NEAR(sum / kElements, exact, 4 * unit / 2 / std::sqrt(kElements));
  };
  check(p.weight, 1 - 1e-3, std::ldexp(1, -8));
  check(p.expAvg, 0.037, std::ldexp(1, -5 - 7));
  check(p.expAvgSq, 0.37 * 0.37 * 1e-3, std::ldexp(1, -13 - 7));
  // Rounding to nearest would have left the weight at one.
  double below = 0;
  for (double value : p.weight.values())
    below += value < 1;
  EXPECT_NEAR(below / kElements, 1e-3 * 256, 0.005);
}

// The random numbers belong to (seed, step, member, element): not to how members are packed.
TEST(AdamW, RandomNumbersBelongToTheElement) {
  std::mt19937 random(7);
  HostTensor start = HostTensor(DType::BF16, {3, 700}).randomize(random);
  HostTensor gradient = HostTensor(DType::F32, {3, 700}).randomize(random);
  auto run = [&](int64_t firstRow, int64_t rows, int64_t gap, std::vector<ParamValue> members, int64_t seed,
                 double step) {
    std::vector<int64_t> dims = {rows, 700};
    Parameter p{zeros(DType::BF16, dims, gap), zeros(DType::BF16, dims), zeros(DType::BF16, dims)};
    HostTensor g(DType::F32, dims);
    for (int64_t i = 0; i < rows * 700; ++i) {
      p.weight.set(i, start.get(firstRow * 700 + i));
      g.set(i, gradient.get(firstRow * 700 + i));
    }
    p.step(g, 1, step, hyperparameters(1e-3, 0, HUGE_VAL), false, members, seed);
    Values all = p.weight.values(), m = p.expAvg.values(), v = p.expAvgSq.values();
    all.insert(all.end(), m.begin(), m.end());
    all.insert(all.end(), v.begin(), v.end());
    return all;
  };
  auto part = [](const Values &all, int64_t rows, int64_t firstRow, int64_t count) {
    Values result;
    for (int64_t tensor = 0; tensor < 3; ++tensor)
      for (int64_t i = 0; i < count * 700; ++i)
        result.push_back(all[(tensor * rows + firstRow) * 700 + i]);
    return result;
  };
  Values pack = run(0, 3, 0, {intParam(21), intParam(700), intParam(22), intParam(1400)}, 5, 1);
  EXPECT_EQ(part(pack, 3, 0, 1), run(0, 1, 0, {intParam(21), intParam(700)}, 5, 1));
  EXPECT_EQ(part(pack, 3, 1, 2), run(1, 2, 0, {intParam(22), intParam(1400)}, 5, 1));
  EXPECT_EQ(pack, run(0, 3, 5, {intParam(21), intParam(700), intParam(22), intParam(1400)}, 5, 1)); // gaps
  EXPECT_NE(pack, run(0, 3, 0, {intParam(21), intParam(700), intParam(22), intParam(1400)}, 6, 1)); // seed
  EXPECT_NE(part(pack, 3, 0, 1), run(0, 1, 0, {intParam(23), intParam(700)}, 5, 1));                // member
  // The step: the same state and bias correction apart, other numbers are drawn.
  EXPECT_NE(pack, run(0, 3, 0, {intParam(21), intParam(700), intParam(22), intParam(1400)}, 5, 2));
}

TEST(AdamW, RoundingKeepsInfinity) {
  Parameter p{zeros(DType::BF16, {64}), zeros(DType::BF16, {64}), zeros(DType::BF16, {64})};
  HostTensor gradient = zeros(DType::F32, {64});
  p.expAvgSq.fill(Values(64, std::numeric_limits<double>::infinity()));
  p.step(gradient, 0, 1, hyperparameters(1e-3, 0, HUGE_VAL), false, {intParam(1), intParam(64)});
  for (double value : p.expAvgSq.values())
    EXPECT_EQ(value, HUGE_VAL);
}
