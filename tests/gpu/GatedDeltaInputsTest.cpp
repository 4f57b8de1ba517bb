// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gated_delta_inputs and its gradient against the CPU's in f32, from the same inputs.
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/PackedRows.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

struct Heads {
  int64_t keys, values, dk, dv, taps;
  int64_t channels() const { return 2 * keys * dk + values * dv; }
};

/// Arguments of both calls, in f32 or as stored.
struct Arguments {
  HostTensor docs, qkv, b, a, weight, aLog, bias, q, k, v, g, beta;
  HostTensor dq, dk, dv, dg, dbeta, dqkv, db, da, dweight, daLog, dbias;
  BucketShape bucket;

  KernelCall forward() {
    return {Kernel::GatedDeltaInputs,
            {&docs, &qkv, &b, &a, &weight, &aLog, &bias, &q, &k, &v, &g, &beta},
            {floatParam(1e-6)},
            {},
            bucket};
  }
  KernelCall backward(std::vector<int> accumulate) {
    return {Kernel::GatedDeltaInputsGrad,
            {&docs, &qkv, &b, &a, &weight, &aLog, &bias, &dq, &dk, &dv, &dg, &dbeta, &dqkv, &db, &da, &dweight, &daLog,
             &dbias},
            {floatParam(1e-6)},
            std::move(accumulate),
            bucket};
  }
};

/// Types of the arguments that may have another than the activations'.
struct Types {
  DType md, aLog, bias, dbeta, dweight;
};

/// Gaps between rows are multiples of `unit` elements.
Arguments makeArguments(const PackedRow &row, const Heads &h, const Types &types, int64_t unit, std::mt19937 &random) {
  DType md = types.md, f32 = DType::F32;
  Arguments x;
  x.bucket = row.bucket;
  x.docs = row.table();
  x.qkv = packedInput(row, md, {h.channels()}, random, 2, 0, 7 * unit);
  x.a = packedInput(row, md, {h.values}, random, 2);
  x.b = packedInput(row, md, {h.values}, random, 2);
  x.weight = HostTensor(md, {h.channels(), 1, h.taps}).randomize(random, 0.5);
  x.aLog = HostTensor(types.aLog, {h.values}).randomize(random, 1);
  x.bias = HostTensor(types.bias, {h.values}).randomize(random, 1);
  x.q = x.k = packedOutput(row, md, {h.keys, h.dk}, 5 * unit);
  x.v = packedOutput(row, md, {h.values, h.dv}, 3 * unit);
  x.g = packedOutput(row, f32, {h.values}, 2);
  x.beta = packedOutput(row, md, {h.values}, 4);
  x.dq = packedInput(row, md, {h.keys, h.dk}, random, 1, 0, unit);
  x.dk = packedInput(row, md, {h.keys, h.dk}, random, 1, 0, 2 * unit);
  x.dv = packedInput(row, md, {h.values, h.dv}, random, 1, 0, 9 * unit);
  // Mostly of one sign: a sum over tokens that cancels has no digits to compare.
  x.dg = packedInput(row, f32, {h.values}, random, 1, 2);
  x.dbeta = packedInput(row, types.dbeta, {h.values}, random);
  x.dqkv = packedOutput(row, md, {h.channels()}, 7 * unit);
  x.da = x.db = packedOutput(row, md, {h.values});
  x.dweight = HostTensor(types.dweight, {h.channels(), 1, h.taps});
  x.daLog = HostTensor(types.aLog, {h.values});
  x.dbias = HostTensor(types.bias, {h.values});
  for (HostTensor *sum : {&x.dweight, &x.daLog, &x.dbias})
    sum->randomize(random, 30);
  return x;
}

/// The same values in f32.
Arguments inF32(const Arguments &from) {
  Arguments to = from;
  for (HostTensor Arguments::*member :
       {&Arguments::qkv,  &Arguments::b,  &Arguments::a,       &Arguments::weight, &Arguments::aLog,
        &Arguments::bias, &Arguments::q,  &Arguments::k,       &Arguments::v,      &Arguments::beta,
        &Arguments::dq,   &Arguments::dk, &Arguments::dv,      &Arguments::dbeta,  &Arguments::dqkv,
        &Arguments::db,   &Arguments::da, &Arguments::dweight, &Arguments::daLog,  &Arguments::dbias}) {
    const TensorShape &shape = (from.*member).shape();
    to.*member = HostTensor(DType::F32, std::vector<int64_t>(shape.dims, shape.dims + shape.rank));
    (to.*member).fill((from.*member).values());
  }
  return to;
}

class GatedDeltaInputsOnGpu : public testing::Test {
protected:
  std::mt19937 random{testSeed()};

  static double bound(DType dtype) { return dtype == DType::F32 ? 3e-6 : 4e-3; }

  static void check(const HostTensor &got, const HostTensor &expected, const char *what) {
    expectNear(got, expected.values(), bound(got.shape().dtype), what);
  }

  void expectAgreement(const PackedRow &row, const Heads &heads, const Types &types, int64_t unit,
                       std::vector<int> accumulate = {}) {
    SCOPED_TRACE(testing::Message() << heads.keys << "/" << heads.values << " heads of " << heads.dk << "/" << heads.dv
                                    << ", " << heads.taps << " taps, " << dtypeName(types.md) << ", " << row.tokens()
                                    << " tokens in " << row.lengths.size() << " documents, the first of "
                                    << row.lengths[0]);
    Arguments stored = makeArguments(row, heads, types, unit, random), exact = inF32(stored);
    exact.forward().run();
    std::vector<HostTensor> got = runOnDevice(stored.forward());
    check(got[7], exact.q, "q");
    check(got[8], exact.k, "k");
    check(got[9], exact.v, "v");
    check(got[10], exact.g, "g");
    check(got[11], exact.beta, "beta");
    for (size_t i : {7, 8, 9, 10, 11})
      expectZeroTail(got[i], row, "an output");

    exact.backward(accumulate).run();
    got = runOnDevice(stored.backward(accumulate));
    check(got[12], exact.dqkv, "dqkv");
    check(got[13], exact.db, "db");
    check(got[14], exact.da, "da");
    check(got[15], exact.dweight, "dconv_weight");
    check(got[16], exact.daLog, "da_log");
    check(got[17], exact.dbias, "ddt_bias");
    for (size_t i : {12, 13, 14})
      expectZeroTail(got[i], row, "a gradient");
  }

  /// Documents of random lengths, some of none, and a tail, `tokens` in all.
  PackedRow randomRow(int64_t tokens) {
    std::vector<int64_t> lengths;
    int64_t tail = static_cast<int64_t>(random() % 9), left = tokens - tail;
    while (left > 0) {
      int64_t length = std::min<int64_t>(left, random() % 4 == 0 ? random() % 5 : random() % 300);
      lengths.push_back(length);
      left -= length;
    }
    return PackedRow(lengths, tail);
  }
};

/// The device functions that a call becomes.
std::vector<std::string> functionsOf(const KernelCall &call) {
  std::vector<cuda::Tensor> tensors;
  for (const HostTensor *arg : call.args)
    tensors.push_back({arg->shape(), (tensors.size() + 1) << 40});
  std::vector<ArgEffect> effects(tensors.size(), ArgEffect::Read);
  cuda::KernelPlan plan(0);
  Status status = planKernel(cuda::Call{call.kernel, tensors, effects, call.params, call.bucket, {}}, plan);
  EXPECT_TRUE(status.ok()) << status.message();
  std::vector<std::string> functions;
  for (const cuda::DeviceWork &work : plan.works())
    functions.push_back(std::get<cuda::DeviceLaunch>(work).function);
  return functions;
}

constexpr DType F = DType::F32, B = DType::BF16;
constexpr Types kTypes[] = {{F, F, F, F, F}, {B, F, B, B, B}, {B, B, F, F, F}};

} // namespace

TEST_F(GatedDeltaInputsOnGpu, AnyWidthsAndTaps) {
  for (const Types &types : kTypes)
    for (Heads heads : {Heads{2, 2, 16, 16, 4},
                        {1, 3, 32, 16, 4},
                        {2, 4, 5, 7, 3},
                        {1, 20, 1, 1, 1},
                        {1, 1, 16, 8, 70},
                        {1, 2, 64, 64, 4}})
      expectAgreement(awkwardRow(), heads, types, 1);
  expectAgreement(shortRow(), {1, 2, 128, 128, 4}, kTypes[0], 1);
}

TEST_F(GatedDeltaInputsOnGpu, WideHeads) {
  for (const Types &types : {kTypes[1], kTypes[2]})
    for (Heads heads : {Heads{1, 1, 128, 128, 4}, {1, 2, 128, 128, 4}, {2, 6, 128, 128, 4}}) {
      expectAgreement(awkwardRow(), heads, types, 8);
      expectAgreement(PackedRow({128, 0, 128}), heads, types, 8);
    }
  for (int64_t tokens : {64, 128, 256, 1000, 4099}) {
    expectAgreement(randomRow(tokens), {1, 1, 128, 128, 4}, kTypes[1], 8);
    expectAgreement(PackedRow({tokens}), {1, 1, 128, 128, 4}, kTypes[1], 8);
  }
}

// Rows that the copy engine cannot take.
TEST_F(GatedDeltaInputsOnGpu, WideHeadsOffSixteenBytes) {
  expectAgreement(shortRow(), {1, 2, 128, 128, 4}, kTypes[1], 4);
}

// The taps of a channel apart from those of the next.
TEST_F(GatedDeltaInputsOnGpu, WideHeadsWithGapsBetweenTaps) {
  Arguments stored = makeArguments(shortRow(), {1, 2, 128, 128, 4}, kTypes[1], 8, random);
  HostTensor weight(B, {512, 1, 4}, 4);
  weight.fill(stored.weight.values());
  stored.weight = weight;
  Arguments exact = inF32(stored);
  exact.forward().run();
  std::vector<HostTensor> got = runOnDevice(stored.forward());
  check(got[7], exact.q, "q");
  check(got[9], exact.v, "v");
  exact.backward({}).run();
  check(runOnDevice(stored.backward({}))[12], exact.dqkv, "dqkv");
}

// Documents shorter than the window, at every place of a warp's 64 tokens.
TEST_F(GatedDeltaInputsOnGpu, ShortDocuments) {
  for (int64_t length : {1, 2, 3, 4, 5}) {
    std::vector<int64_t> lengths(static_cast<size_t>(300 / length), length);
    expectAgreement(PackedRow(lengths, 3), {1, 1, 128, 128, 4}, kTypes[1], 8);
    expectAgreement(PackedRow(lengths, 3), {1, 1, 16, 8, 4}, kTypes[0], 1);
  }
}

// The heads of the models, 27B last.
TEST_F(GatedDeltaInputsOnGpu, WidthsOfModels) {
  for (int64_t values : {16, 32, 48})
    expectAgreement(randomRow(150), {16, values, 128, 128, 4}, kTypes[1], 8);
  // So many tokens that a warp's part is longer than what it looks up at once.
  expectAgreement(randomRow(2000), {16, 48, 128, 128, 4}, kTypes[1], 8);
}

TEST_F(GatedDeltaInputsOnGpu, TheModelsTakeTheWideFunctions) {
  Arguments x = makeArguments(PackedRow({64}), {16, 48, 128, 128, 4}, kTypes[1], 8, random);
  EXPECT_EQ(functionsOf(x.forward()), std::vector<std::string>{"gatedDeltaInputsWide"});
  EXPECT_EQ(functionsOf(x.backward({})), (std::vector<std::string>{"gatedDeltaInputsGradWide", "columnSums"}));
}

TEST_F(GatedDeltaInputsOnGpu, NoDocuments) {
  for (const Types &types : kTypes) {
    expectAgreement(PackedRow({0, 0}, 300), {1, 2, 16, 16, 4}, types, 1);
    if (types.md == B)
      expectAgreement(PackedRow({0, 0}, 300), {1, 2, 128, 128, 4}, types, 8);
  }
}

TEST_F(GatedDeltaInputsOnGpu, AddsToWeightGradients) {
  // Indices of dconv_weight, da_log and ddt_bias in the catalog.
  for (std::vector<int> sums : std::vector<std::vector<int>>{{15, 16, 17}, {15}, {16}, {17}}) {
    for (const Types &types : kTypes)
      expectAgreement(awkwardRow(), {1, 2, 16, 16, 4}, types, 1, sums);
    expectAgreement(awkwardRow(), {1, 2, 128, 128, 4}, kTypes[1], 8, sums);
  }
  // So many channels that their sums are taken four columns a lane.
  for (const Types &types : {kTypes[1], kTypes[2]})
    expectAgreement(shortRow(), {16, 32, 128, 128, 4}, types, 8, {15});
}
