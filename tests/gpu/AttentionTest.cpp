// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attention and attention_grad on a GPU against the CPU's answer in f32 from the same inputs.
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/PackedRows.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

struct Heads {
  int64_t queries, keys, width;
};

/// In f32, without gaps.
HostTensor widened(const HostTensor &from) {
  HostTensor to(DType::F32, {from.shape().dims, from.shape().dims + from.shape().rank});
  to.fill(from.values());
  return to;
}

struct Outputs {
  HostTensor y, lse, o, dq, dk, dv, dgate;
};

/// Inputs and outputs of both kernels.
struct Case {
  /// `kept`: the gradient is given lse and o. Rows of heads have gaps of 8 elements; gates lie between other heads as
  /// large, as in a merged projection.
  Case(PackedRow packed, Heads heads, DType dtype, bool gated, unsigned seed, bool kept = true)
      : row(std::move(packed)), heads(heads), dtype(dtype), gated(gated), kept(kept),
        scale(1 / std::sqrt(double(heads.width))) {
    std::mt19937 random(seed);
    std::vector<int64_t> query = {heads.queries, heads.width}, key = {heads.keys, heads.width};
    docs = row.table();
    // Wide enough that single keys dominate some rows of the softmax.
    q = packedInput(row, dtype, query, random, 2, 0, 8);
    k = packedInput(row, dtype, key, random, 1.5, 0, 8);
    v = packedInput(row, dtype, key, random, 1, 0, 8);
    gate = packedInput(row, dtype, query, random, 2, 0, heads.width);
    dy = packedInput(row, dtype, query, random, 1, 0, 8);
    out.y = out.o = out.dq = out.dgate = packedOutput(row, dtype, query, 8);
    out.dk = out.dv = packedOutput(row, dtype, key, 8);
    out.lse = packedOutput(row, DType::F32, {heads.queries}, 2);
  }

  KernelCall forward() {
    return {Kernel::Attention,
            {&docs, &q, &k, &v, gated ? &gate : nullptr, &out.y, kept ? &out.lse : nullptr,
             kept && gated ? &out.o : nullptr},
            {floatParam(scale)},
            {},
            row.bucket};
  }
  KernelCall backward() {
    return {Kernel::AttentionGrad,
            {&docs, &q, &k, &v, gated ? &gate : nullptr, kept ? &out.lse : nullptr,
             kept ? (gated ? &out.o : &out.y) : nullptr, &dy, &out.dq, &out.dk, &out.dv, gated ? &out.dgate : nullptr},
            {floatParam(scale)},
            {},
            row.bucket};
  }
  void runOnGpu() {
    std::vector<HostTensor> got = runOnDevice(forward());
    out.y = got[5];
    if (kept)
      out.lse = got[6];
    if (kept && gated)
      out.o = got[7];
    got = runOnDevice(backward());
    out.dq = got[8], out.dk = got[9], out.dv = got[10];
    if (gated)
      out.dgate = got[11];
  }
  /// The CPU's answer in f32.
  Outputs expected() {
    Case wide = *this;
    wide.dtype = DType::F32;
    for (HostTensor *tensor : {&wide.q, &wide.k, &wide.v, &wide.gate, &wide.dy, &wide.out.y, &wide.out.o, &wide.out.dq,
                               &wide.out.dk, &wide.out.dv, &wide.out.dgate})
      *tensor = widened(*tensor);
    wide.forward().run();
    wide.backward().run();
    return wide.out;
  }

  void expectAgreement() {
    SCOPED_TRACE(testing::Message() << heads.queries << "/" << heads.keys << " heads of " << heads.width
                                    << (gated ? ", gated" : "") << (kept ? "" : ", rebuilt") << ", " << row.tokens()
                                    << " tokens, documents " << testing::PrintToString(row.lengths));
    runOnGpu();
    Outputs wanted = expected();
    // In bf16 y, o, dv and dgate carry one rounding of their own (1.7e-3) and one of P or dO; dq and dk also those of
    // dO, o (in delta) and dS, where dP and delta cancel: sums over a head, so that the shorter they are the less the
    // roundings of their terms average out.
    double once = dtype == DType::F32 ? 1e-5 : 4e-3,
           several =
               dtype == DType::F32 ? 1e-5 : 8e-3 * std::sqrt(std::max(1.0, 16.0 / static_cast<double>(heads.width)));
    expectNear(out.y, wanted.y.values(), once, "y");
    if (kept)
      expectNear(out.lse, wanted.lse.values(), 1e-5, "lse");
    if (kept && gated)
      expectNear(out.o, wanted.o.values(), once, "o");
    expectNear(out.dq, wanted.dq.values(), several, "dq");
    expectNear(out.dk, wanted.dk.values(), several, "dk");
    expectNear(out.dv, wanted.dv.values(), several, "dv");
    if (gated)
      expectNear(out.dgate, wanted.dgate.values(), several, "dgate");
    for (HostTensor *tensor : {&out.y, &out.dq, &out.dk, &out.dv})
      expectZeroTail(*tensor, row, "y or a gradient");
    if (kept)
      expectZeroTail(out.lse, row, "lse");
    if (kept && gated)
      expectZeroTail(out.o, row, "o");
    if (gated)
      expectZeroTail(out.dgate, row, "dgate");
  }

  PackedRow row;
  Heads heads;
  DType dtype;
  bool gated, kept;
  double scale;
  HostTensor docs, q, k, v, gate, dy;
  Outputs out;
};

class AttentionOnGpu : public testing::TestWithParam<DType> {
protected:
  void check(PackedRow row, Heads heads, bool gated = true, bool kept = true) {
    Case(std::move(row), heads, GetParam(), gated, seed++, kept).expectAgreement();
  }
  unsigned seed = testSeed();
};

} // namespace

TEST_P(AttentionOnGpu, HeadRatiosAndWidths) {
  for (Heads heads : {Heads{2, 2, 16},
                      {4, 2, 32},
                      {3, 1, 48},
                      {1, 1, 4},
                      {1, 1, 64},
                      {4, 2, 64},
                      {3, 1, 64},
                      {2, 2, 128},
                      {6, 2, 128},
                      {4, 1, 256},
                      {5, 1, 256}})
    for (bool gated : {false, true})
      check(awkwardRow(), heads, gated);
}

TEST_P(AttentionOnGpu, RealHeads) {
  for (Heads heads : {Heads{8, 2, 256}, {16, 4, 256}, {24, 4, 256}})
    check(PackedRow({65, 0, 1, 130, 64}, 5), heads);
}

TEST_P(AttentionOnGpu, Lengths) {
  for (std::vector<int64_t> lengths : std::vector<std::vector<int64_t>>{
           {128, 0, 128}, {64}, {128}, {256}, {1000}, {79, 80, 81, 159, 160, 161}, {70, 71, 130}})
    for (int64_t width : {64, 128, 256})
      check(PackedRow(lengths, lengths.size() % 2), {2, 1, width});
  check(PackedRow({4099}), {2, 1, 256});
}

// More tiles than multiprocessors, several times over.
TEST_P(AttentionOnGpu, ManyTiles) {
  check(PackedRow({700, 0, 330, 1100, 64}, 40), {24, 4, 64});
  check(PackedRow({500, 0, 700, 90}, 3), {24, 4, 256});
  check(PackedRow({500, 300}), {30, 6, 128}, false);
}

TEST_P(AttentionOnGpu, RandomLengths) {
  std::mt19937 random(seed);
  for (int i = 0; i < 6; ++i) {
    std::vector<int64_t> lengths;
    for (int64_t left = 900, documents = 1 + random() % 8; documents > 0; --documents) {
      lengths.push_back(random() % (left / documents + 1));
      left -= lengths.back();
    }
    check(PackedRow(lengths, random() % 130), {4, 2, int64_t{64} << i % 3}, i % 2);
  }
}

TEST_P(AttentionOnGpu, RebuildsWhatWasNotKept) {
  for (bool gated : {false, true})
    for (int64_t width : {32, 256})
      check(shortRow(), {4, 2, width}, gated, false);
}

TEST_P(AttentionOnGpu, NoDocuments) {
  check(PackedRow({0, 0}, 9), {2, 1, 16});
  check(PackedRow({}, 70), {2, 1, 256});
}

TEST_P(AttentionOnGpu, DocumentsDoNotMeet) {
  for (int64_t width : {32, 64, 128, 256}) {
    Case packed(awkwardRow(), {4, 2, width}, GetParam(), true, seed++);
    expectDocumentsDoNotMeet(
        packed, [&](PackedRow row) { return Case(std::move(row), packed.heads, GetParam(), true, 0); },
        [](Case &c) { c.runOnGpu(); }, [](Case &c) { return std::vector{&c.q, &c.k, &c.v, &c.gate, &c.dy}; },
        [](Case &c) {
          return NamedTensors{{"y", &c.out.y},   {"lse", &c.out.lse}, {"o", &c.out.o},        {"dq", &c.out.dq},
                              {"dk", &c.out.dk}, {"dv", &c.out.dv},   {"dgate", &c.out.dgate}};
        });
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AttentionOnGpu, testing::Values(DType::F32, DType::BF16));
