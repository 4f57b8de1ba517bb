// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// global_norm, optimizer_step and adamw against the CPU's.
#include "tests/gpu/DeviceHarness.h"

#include <deque>

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

HostTensor scalar(DType dtype, double value) {
  HostTensor tensor(dtype, {});
  tensor.set(0, value);
  return tensor;
}

/// Types of one adamw call and what is drawn at random for it.
struct AdamWCase {
  DType gradient, weight, expAvg, expAvgSq;
  bool master;
  /// Elements of the members, one after another.
  std::vector<int64_t> members;
};

/// The distance of two bf16 values in units of the last place.
int64_t bf16Distance(double a, double b) {
  auto order = [](double x) {
    int64_t bits = static_cast<int64_t>(std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16);
    return bits & 0x8000 ? 0x8000 - bits : bits;
  };
  return std::abs(order(a) - order(b));
}

class AdamWOnGpu : public testing::Test {
protected:
  std::mt19937 random{testSeed()};

  /// The tensors of one parameter.
  struct Parameter {
    HostTensor gradient, weight, expAvg, expAvgSq, master;
  };
  Parameter parameter;
  HostTensor norm, counters, hyper, seed;

  KernelCall makeCall(Parameter &p, const AdamWCase &c, bool decay) {
    int64_t elements = 0;
    std::vector<ParamValue> params = {intParam(decay)};
    for (int64_t member : c.members) {
      params.push_back(intParam(static_cast<int64_t>(random() * uint64_t{0x100000001})));
      params.push_back(intParam(member));
      elements += member;
    }
    p.gradient = HostTensor(c.gradient, {elements}).randomize(random, 0.1);
    p.weight = HostTensor(c.weight, {elements}).randomize(random);
    p.expAvg = HostTensor(c.expAvg, {elements}).randomize(random, 0.1);
    p.expAvgSq = HostTensor(c.expAvgSq, {elements}).randomize(random, 0.05);
    for (int64_t i = 0; i < elements; ++i)
      p.expAvgSq.set(i, p.expAvgSq.get(i) * p.expAvgSq.get(i));
    if (c.master) {
      p.master = HostTensor(DType::F32, {elements}).randomize(random);
      p.weight.fill(p.master.values());
    }
    return {Kernel::AdamW,
            {&p.gradient, &norm, &counters, &hyper, &seed, &p.weight, &p.expAvg, &p.expAvgSq,
             c.master ? &p.master : nullptr},
            params};
  }
  void makeScalars(int64_t step) {
    norm = scalar(DType::F32, 1.5);
    counters = HostTensor(DType::I64, {2});
    counters.fill({static_cast<double>(step), 1});
    hyper = HostTensor(DType::F32, {8});
    hyper.fill({1e-2, 0.9, 0.99, 1e-8, 0.1, 1, 0, 0});
    seed = scalar(DType::I64, static_cast<double>(random()));
  }
  KernelCall make(const AdamWCase &c, int64_t step, bool decay) {
    makeScalars(step);
    return makeCall(parameter, c, decay);
  }

  /// f32 within rounding. bf16: rounded with the same random numbers, so equal but for the rare value whose last bits
  /// of f32 decide, and then a neighbour.
  static void expectSame(const HostTensor &got, const HostTensor &expected, const std::string &what) {
    if (got.shape().dtype == DType::F32)
      return expectNear(got, expected.values(), 1e-6, what);
    int64_t different = 0, first = -1, far = 0;
    for (int64_t i = 0; i < got.elements(); ++i) {
      int64_t distance = bf16Distance(got.get(i), expected.get(i));
      different += distance != 0;
      // Where a sum cancels, its last bits of f32 are many units of bf16.
      far += distance > 1 && std::abs(got.get(i) - expected.get(i)) > 1e-7;
      if (distance && first < 0)
        first = i;
    }
    EXPECT_EQ(far, 0) << what << ": not a neighbour";
    EXPECT_LE(different, 3 + got.elements() / 1000)
        << what << ": the first of " << got.elements() << " that differ is at " << first << ": "
        << (first < 0 ? 0 : got.get(first)) << " for " << (first < 0 ? 0 : expected.get(first));
  }

  void expectAgreement(const AdamWCase &c, int64_t step, bool decay) {
    KernelCall call = make(c, step, decay);
    std::vector<HostTensor> got = runOnDevice(call);
    expectUpdated(call, got);
  }
  /// Runs the call on the CPU; `got`: its arguments after the GPU's update.
  static void expectUpdated(const KernelCall &call, const std::vector<HostTensor> &got) {
    call.run();
    expectSame(got[5], *call.args[5], "weight");
    expectSame(got[6], *call.args[6], "exp_avg");
    expectSame(got[7], *call.args[7], "exp_avg_sq");
    if (call.args[8])
      expectSame(got[8], *call.args[8], "master");
  }
};

constexpr DType F = DType::F32, B = DType::BF16;

} // namespace

TEST(GlobalNormOnGpu, AgreesWithTheCpu) {
  std::mt19937 random(testSeed());
  std::vector<HostTensor> gradients;
  // Chunks of 65,536 and their edges, gaps, a scalar, both types.
  for (DType dtype : {F, B}) {
    for (int64_t elements : {1, 7, 8, 255, 65535, 65536, 65537, 200003})
      gradients.push_back(HostTensor(dtype, {elements}).randomize(random, 3));
    gradients.push_back(HostTensor(dtype, {300, 70}, 9).randomize(random));
    gradients.push_back(HostTensor(dtype, {3, 66000}, 8).randomize(random));
    gradients.push_back(HostTensor(dtype, {40, 3, 2}).randomize(random, 1e3));
    gradients.push_back(HostTensor(dtype, {5, 1, 4}).randomize(random));
  }
  gradients.push_back(scalar(F, 1e4));
  auto check = [&](size_t count) {
    HostTensor norm(F, {});
    KernelCall call{Kernel::GlobalNorm, {&norm}};
    for (size_t i = 0; i < count; ++i)
      call.args.push_back(&gradients[i % gradients.size()]);
    HostTensor got = runOnDevice(call)[0];
    call.run();
    EXPECT_NEAR(got.get(0), norm.get(0), 3e-7 * norm.get(0)) << count << " gradients";
  };
  for (size_t count : {size_t{1}, size_t{4}, gradients.size(), size_t{120}, size_t{121}, size_t{300}})
    check(count);
}

// Their squares leave f32, their norm does not.
TEST(GlobalNormOnGpu, LargeGradients) {
  std::mt19937 random(testSeed());
  HostTensor a = HostTensor(F, {70001}).randomize(random, 1e30), b = HostTensor(B, {900}).randomize(random, 1e25);
  HostTensor c = HostTensor(F, {3000}).randomize(random), norm(F, {});
  a.set(69999, 2e37);
  // One thread alone leaves f32.
  c.set(1234, 1e36);
  KernelCall call{Kernel::GlobalNorm, {&norm, &a, &b, &c}};
  HostTensor got = runOnDevice(call)[0];
  call.run();
  EXPECT_NEAR(got.get(0), norm.get(0), 3e-7 * norm.get(0));
}

TEST(GlobalNormOnGpu, IsNotFiniteWhereAGradientIsNot) {
  std::mt19937 random(testSeed());
  for (double bad : {HUGE_VAL, -HUGE_VAL, static_cast<double>(NAN)}) {
    HostTensor a = HostTensor(F, {2000}).randomize(random), b = HostTensor(B, {9}).randomize(random), norm(F, {});
    (bad > 0 ? a : b).set(5, bad);
    EXPECT_FALSE(std::isfinite(runOnDevice({Kernel::GlobalNorm, {&norm, &a, &b}})[0].get(0)));
  }
}

TEST(OptimizerStepOnGpu, CountsStepsAndSkippedSteps) {
  HostTensor counters(DType::I64, {2});
  for (double value : {1.0, static_cast<double>(NAN), 0.0, HUGE_VAL, -HUGE_VAL, 3e38}) {
    counters.fill({4, 1});
    HostTensor norm = scalar(F, value);
    std::vector<double> expected = std::isfinite(value) ? std::vector<double>{5, 1} : std::vector<double>{4, 2};
    EXPECT_EQ(runOnDevice({Kernel::OptimizerStep, {&norm, &counters}})[1].values(), expected) << value;
  }
}

// Every combination of types that a program has, members with boundaries inside of a thread's vector.
TEST_F(AdamWOnGpu, AgreesWithTheCpu) {
  for (auto [g, w, m, v, master] : {std::tuple{B, B, B, B, false},
                                    {F, B, B, B, false},
                                    {F, B, F, F, false},
                                    {B, B, F, F, true},
                                    {F, B, F, F, true},
                                    {B, B, B, B, true},
                                    {F, F, F, F, false},
                                    {B, F, B, F, false}}) {
    for (std::vector<int64_t> members :
         std::vector<std::vector<int64_t>>{{1}, {8}, {4099}, {70000, 3, 13, 40000}, {8, 16, 4096}}) {
      SCOPED_TRACE(testing::Message() << "gradient " << dtypeName(g) << ", weight " << dtypeName(w) << ", moments "
                                      << dtypeName(m) << ", " << dtypeName(v) << (master ? ", master, " : ", ")
                                      << members.size() << " members, the first of " << members[0]);
      expectAgreement({g, w, m, v, master, members}, 1 + static_cast<int64_t>(random() % 1000), random() % 2);
    }
  }
}

// What one plan does for many parameters is what a plan for each does, bit for bit.
TEST_F(AdamWOnGpu, ManyParametersInOnePlan) {
  for (AdamWCase types : {AdamWCase{B, B, B, B, false, {}}, {B, B, F, F, true, {}}, {F, F, F, F, false, {}}}) {
    makeScalars(7);
    std::deque<Parameter> parameters;
    std::vector<KernelCall> calls;
    for (int i = 0; i < 75; ++i) {
      types.members = {1 + static_cast<int64_t>(random() % 3000)};
      if (i % 9 == 4)
        types.members = {16 * (1 + static_cast<int64_t>(random() % 2000)), 37, 800};
      calls.push_back(makeCall(parameters.emplace_back(), types, i % 3 != 0));
    }
    std::vector<std::vector<HostTensor>> together = runOnDevice(calls, cuda::planUpdates);
    for (size_t i = 0; i < calls.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "parameter " << i << " of " << calls[i].args[5]->elements() << " elements");
      std::vector<HostTensor> alone = runOnDevice(calls[i]);
      for (size_t arg : {5, 6, 7, 8})
        if (calls[i].args[arg])
          EXPECT_TRUE(together[i][arg].bytes() == alone[arg].bytes()) << "argument " << arg;
      expectUpdated(calls[i], together[i]);
    }
  }
}

TEST_F(AdamWOnGpu, ManyMembers) {
  std::vector<int64_t> members;
  for (int i = 0; i < 200; ++i)
    members.push_back(1 + static_cast<int64_t>(random() % 300));
  expectAgreement({B, B, B, B, false, members}, 1, true);
}

// More elements than the threads of one grid have at a time; the first and a late step.
TEST_F(AdamWOnGpu, LargeParameters) {
  for (int64_t step : {1, 1000000}) {
    expectAgreement({B, B, B, B, false, {600011, 400000}}, step, true);
    expectAgreement({F, B, F, F, true, {700001}}, step, false);
  }
}

TEST_F(AdamWOnGpu, ANormThatIsNotFiniteChangesNothing) {
  for (double value : {HUGE_VAL, static_cast<double>(NAN)}) {
    KernelCall call = make({F, B, B, F, false, {4099}}, 3, true);
    norm.set(0, value);
    std::vector<HostTensor> got = runOnDevice(call);
    for (size_t arg : {5, 6, 7})
      EXPECT_TRUE(got[arg].bytes() == call.args[arg]->bytes()) << "argument " << arg;
  }
}

TEST_F(AdamWOnGpu, KeepsInfinityAndNan) {
  KernelCall call = make({F, B, B, B, false, {64}}, 3, true);
  for (int64_t i = 0; i < 64; i += 5)
    parameter.expAvgSq.set(i, HUGE_VAL);
  parameter.gradient.set(3, NAN);
  parameter.weight.set(12, -HUGE_VAL);
  std::vector<HostTensor> got = runOnDevice(call);
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(std::isnan(got[5].get(i)), i == 3 || i == 12) << i; // -inf + decay * inf
    EXPECT_EQ(std::isnan(got[6].get(i)), i == 3) << i;
    EXPECT_EQ(std::isnan(got[7].get(i)), i == 3) << i;
    if (i % 5 == 0)
      EXPECT_EQ(got[7].get(i), HUGE_VAL) << i;
  }
}
