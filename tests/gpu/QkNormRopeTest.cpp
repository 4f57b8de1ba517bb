// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qk_norm_rope and its gradient against the CPU's in the same storage.
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/NormCase.h"
#include "tests/unit/cpu/PackedRows.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cuda::test;

namespace {

constexpr double kEps = 1e-6, kTheta = 1e7;

/// Query heads, key heads, width, rotary dimensions.
using Heads = std::array<int64_t, 4>;

class QkNormRopeOnGpu : public NormTest {
protected:
  QkNormRopeOnGpu() : NormTest(testSeed()) {}
  /// Sums in another order, and sines and cosines of large angles; sums of the tokens of a weight's gradient.
  static constexpr double kBound = 5e-6, kWeightBound = 1e-5;

  HostTensor weight(int64_t width) { return HostTensor(wt, {width}).randomize(random, 0.3); }

  /// Rows of documents and the heads to run on them.
  std::vector<std::pair<PackedRow, Heads>> cases() {
    std::vector<std::pair<PackedRow, Heads>> result;
    // Heads of the models on few tokens; positions far into a document in one of them.
    result.emplace_back(PackedRow({9, 0, 14, 1}, 3), Heads{24, 4, 256, 64});
    result.emplace_back(PackedRow({0, 33}, 2), Heads{8, 2, 256, 64});
    result.emplace_back(PackedRow({1, 20, 0}, 1), Heads{16, 4, 256, 64});
    result.emplace_back(PackedRow({4099}, 0), Heads{1, 1, 32, 8});
    // Every boundary; widths whose pairs are vectors apart, and not.
    for (Heads heads : {Heads{1, 1, 64, 64}, Heads{3, 1, 32, 8}, Heads{4, 2, 16, 4}, Heads{2, 1, 128, 32},
                        Heads{5, 5, 20, 6}, Heads{1, 1, 2, 2}, Heads{2, 2, 96, 24}, Heads{1, 1, 200, 128}})
      result.emplace_back(awkwardRow(), heads);
    result.emplace_back(PackedRow({128, 0, 128}), Heads{2, 1, 64, 16});
    result.emplace_back(PackedRow({0, 0}, 64), Heads{2, 1, 64, 16});
    std::vector<int64_t> lengths;
    for (int i = 0; i < 8; ++i)
      lengths.push_back(static_cast<int64_t>(random() % 3 ? random() % 50 : 0));
    result.emplace_back(PackedRow(lengths, static_cast<int64_t>(1 + random() % 9)), Heads{6, 2, 64, 32});
    // Several tokens a warp, of one document and of two, some beginning in the midst of a token.
    lengths.clear();
    for (int64_t tokens = 0; tokens < 9000; tokens += lengths.back())
      lengths.push_back(static_cast<int64_t>(random() % 4 ? random() % 20 : 0));
    result.emplace_back(PackedRow(lengths, 30), Heads{2, 1, 16, 16});
    return result;
  }
  static std::string name(std::string what, const PackedRow &row, const Heads &heads) {
    return fmt::format("{} of {} tokens, {}/{} heads of {}, {} rotate", what, row.tokens(), heads[0], heads[1],
                       heads[2], heads[3]);
  }
  /// As column slices of a wider matrix.
  static int64_t gap(int64_t width) { return width % 8 == 0 ? width : 3; }
};

} // namespace

TEST_P(QkNormRopeOnGpu, Forward) {
  for (const auto &[row, heads] : cases()) {
    auto [H, G, width, rotary] = heads;
    HostTensor docs = row.table(), qw = weight(width), kw = weight(width);
    HostTensor qIn = packedInput(row, md, {H, width}, random, 1, 0, gap(width));
    HostTensor kIn = packedInput(row, md, {G, width}, random, 1, 0, 0);
    HostTensor q = packedOutput(row, md, {H, width}, 0), k = packedOutput(row, md, {G, width}, gap(width));
    HostTensor qr = packedOutput(row, DType::F32, {H}), kr = packedOutput(row, DType::F32, {G}, 0);
    std::vector<ParamValue> params = {floatParam(kEps), floatParam(kTheta), intParam(rotary)};
    KernelCall call{Kernel::QkNormRope, {&docs, &qIn, &kIn, &qw, &kw, &q, &k, &qr, &kr}, params, {}, row.bucket};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[5], q.values(), sameStorageBound(q, kBound), name("q", row, heads));
    expectNear(got[6], k.values(), sameStorageBound(k, kBound), name("k", row, heads));
    expectNear(got[7], qr.values(), 1e-6, name("q_rstd", row, heads));
    expectNear(got[8], kr.values(), 1e-6, name("k_rstd", row, heads));
    expectZeroTail(got[5], row, "q");
    expectZeroTail(got[6], row, "k");
    KernelCall bare{
        Kernel::QkNormRope, {&docs, &qIn, &kIn, &qw, &kw, &q, &k, nullptr, nullptr}, params, {}, row.bucket};
    expectNear(runOnDevice(bare)[5], q.values(), sameStorageBound(q, kBound), name("q alone", row, heads));
  }
}

TEST_P(QkNormRopeOnGpu, Gradient) {
  bool saved = false;
  for (const auto &[row, heads] : cases()) {
    auto [H, G, width, rotary] = heads;
    HostTensor docs = row.table(), qw = weight(width), kw = weight(width);
    HostTensor qIn = packedInput(row, md, {H, width}, random, 1, 0, gap(width));
    HostTensor kIn = packedInput(row, md, {G, width}, random, 1, 0, 0);
    HostTensor dq = packedInput(row, md, {H, width}, random, 1, 0, 0);
    HostTensor dk = packedInput(row, md, {G, width}, random, 1, 0, gap(width));
    HostTensor q = packedOutput(row, md, {H, width}, 0), k = packedOutput(row, md, {G, width}, 0);
    HostTensor qr = packedOutput(row, DType::F32, {H}), kr = packedOutput(row, DType::F32, {G}, 0);
    std::vector<ParamValue> params = {floatParam(kEps), floatParam(kTheta), intParam(rotary)};
    KernelCall{Kernel::QkNormRope, {&docs, &qIn, &kIn, &qw, &kw, &q, &k, &qr, &kr}, params, {}, row.bucket}.run();
    HostTensor dqIn = packedOutput(row, md, {H, width}, gap(width)), dkIn = packedOutput(row, md, {G, width}, 0);
    // q's is written and k's added to; their types may differ.
    HostTensor dqw(wt, {width}), dkw = HostTensor(DType::F32, {width}).randomize(random, 5);
    saved = !saved;
    KernelCall call{
        Kernel::QkNormRopeGrad,
        {&docs, &qIn, &kIn, &qw, &kw, saved ? &qr : nullptr, saved ? &kr : nullptr, &dq, &dk, &dqIn, &dkIn, &dqw, &dkw},
        params,
        {12},
        row.bucket};
    std::vector<HostTensor> got = runOnDevice(call);
    call.run();
    expectNear(got[9], dqIn.values(), sameStorageBound(dqIn, kBound), name("dq_in", row, heads));
    expectNear(got[10], dkIn.values(), sameStorageBound(dkIn, kBound), name("dk_in", row, heads));
    expectNear(got[11], dqw.values(), sameStorageBound(dqw, kWeightBound), name("dq_weight", row, heads));
    expectNear(got[12], dkw.values(), 1e-5, name("dk_weight", row, heads));
    expectZeroTail(got[9], row, "dq_in");
    expectZeroTail(got[10], row, "dk_in");
  }
}

INSTANTIATE_TEST_SUITE_P(Storage, QkNormRopeOnGpu, allNormTypes(), nameOfTypes);
