// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gated_delta_rule and gated_delta_rule_grad on the GPU against the recurrence in f64, and for long documents against
// the CPU's kernel in f32 on the same values.
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/cpu/GatedDeltaCase.h"

using namespace qrt;
using namespace qrt::cpu::test;
using namespace qrt::cpu::test::delta;
using namespace qrt::cuda::test;

namespace {

/// What is expected of a result.
struct Bounds {
  /// Of results in the storage type, and of the f32 ones.
  double stored, wide, inverse;
};

/// Arithmetic in f32; a bf16 result is rounded once.
Bounds plainBounds(DType dtype) { return {dtype == DType::F32 ? 1e-5 : 3.92e-3, 1e-5, 1e-5}; }
/// Tensor cores: operands are rounded to bf16, those of the inverse to tf32; the sums are f32.
constexpr Bounds kTensorCores = {5e-3, 5e-3, 5e-4};

/// Where the error lies, for the message of a failure: norms of the differences by chunk and head.
std::string errorsByChunk(const PackedRow &row, const HostTensor &got, const std::vector<double> &expected) {
  const TensorShape &shape = got.shape();
  int64_t heads = shape.dims[1], width = shape.elements() / std::max<int64_t>(shape.dims[0] * heads, 1);
  std::string text;
  int shown = 0;
  for (size_t d = 0; d < row.lengths.size(); ++d)
    for (int64_t t = 0; t < row.lengths[d]; t += kChunkTokens)
      for (int64_t head = 0; head < heads; ++head) {
        int64_t end = std::min(t + kChunkTokens, row.lengths[d]);
        double difference = 0, norm = 0;
        int64_t bad = 0;
        for (int64_t r = row.begins[d] + t; r < row.begins[d] + end; ++r)
          for (int64_t c = 0; c < width; ++c) {
            int64_t at = (r * heads + head) * width + c;
            double value = got.get(at), delta = value - expected[at];
            if (std::isfinite(value))
              difference += delta * delta;
            else
              ++bad;
            norm += expected[at] * expected[at];
          }
        if (shown < 24 && (bad || difference > 1e-4 * norm)) {
          ++shown;
          text += "\n  document " + std::to_string(d) + " tokens " + std::to_string(t) + ".." + std::to_string(end) +
                  " head " + std::to_string(head) + ": error " + std::to_string(std::sqrt(difference)) + " of " +
                  std::to_string(std::sqrt(norm)) + ", not finite " + std::to_string(bad);
        }
      }
  return text;
}

void expectResult(const PackedRow &row, const HostTensor &got, std::vector<double> expected, double bound,
                  const char *what) {
  int64_t width = got.elements() / row.tokens();
  std::fill(expected.begin() + row.used * width, expected.end(), 0.0);
  expectNear(got, expected, bound, what);
  if (!(relativeError(got, expected) <= bound))
    ADD_FAILURE() << what << " by chunk:" << errorsByChunk(row, got, expected);
  expectZeroTail(got, row, what);
}

/// The device's results of a case, and a second answer to compare them with.
class Runs {
public:
  explicit Runs(Case &c, bool keepInverse = true) : case_(c), keepInverse_(keepInverse) {}

  void forward(const std::vector<double> &out, const std::vector<double> &inverse, Bounds bounds) {
    std::vector<HostTensor> got = runOnDevice(case_.forward(keepInverse_));
    if (keepInverse_) {
      expectResult(case_.row, got[7], inverse, bounds.inverse, "inverse");
      case_.inverse = got[7];
    }
    expectResult(case_.row, got[6], out, bounds.stored, "out");
  }
  void backward(const Values &gradient, Bounds bounds) {
    std::vector<HostTensor> got = runOnDevice(case_.backward(keepInverse_));
    double dBetaBound = case_.dbeta.shape().dtype == DType::F32 ? bounds.wide : std::max(bounds.stored, 3.92e-3);
    expectResult(case_.row, got[10], gradient.v, bounds.stored, "dv");
    expectResult(case_.row, got[12], gradient.beta, dBetaBound, "dbeta");
    expectResult(case_.row, got[11], gradient.g, bounds.wide, "dg");
    expectResult(case_.row, got[8], gradient.q, bounds.stored, "dq");
    expectResult(case_.row, got[9], gradient.k, bounds.stored, "dk");
  }

  void againstRecurrence(Bounds bounds) {
    Reference r = case_.expected();
    forward(r.out, r.inverse, bounds);
    backward(r.gradient, bounds);
  }
  /// Against the CPU's kernel in f32.
  void againstCpu(Bounds bounds) {
    Case wide(case_.row, case_.heads, DType::F32, Decay::Mild, 0);
    for (auto [from, to] : {std::pair{&case_.q, &wide.q},
                            {&case_.k, &wide.k},
                            {&case_.v, &wide.v},
                            {&case_.g, &wide.g},
                            {&case_.beta, &wide.beta},
                            {&case_.dout, &wide.dout}})
      to->fill(from->values());
    wide.forward().run();
    wide.backward().run();
    forward(wide.out.values(), wide.inverse.values(), bounds);
    backward({wide.dq.values(), wide.dk.values(), wide.dv.values(), wide.dg.values(), wide.dbeta.values()}, bounds);
  }

private:
  Case &case_;
  bool keepInverse_;
};

std::string print(const Heads &heads) {
  return std::to_string(heads.keys) + " key and " + std::to_string(heads.values) + " value heads of " +
         std::to_string(heads.dk) + " and " + std::to_string(heads.dv);
}

class GatedDeltaRuleOnGpu : public testing::TestWithParam<DType> {
protected:
  Bounds bounds = plainBounds(GetParam());
};

} // namespace

TEST_P(GatedDeltaRuleOnGpu, MatchesTheRecurrence) {
  unsigned seed = 1;
  for (Heads heads :
       {Heads{2, 2, 16, 16}, {1, 2, 32, 16}, {1, 3, 16, 80}, {2, 8, 5, 7}, {1, 1, 1, 1}, {1, 2, 64, 256}}) {
    SCOPED_TRACE(print(heads));
    Case c(awkwardRow(), heads, GetParam(), Decay::Mild, seed++, GetParam());
    Runs(c).againstRecurrence(bounds);
  }
}

TEST_P(GatedDeltaRuleOnGpu, Decays) {
  for (Decay decay : {Decay::None, Decay::Strong, Decay::Mixed}) {
    SCOPED_TRACE(static_cast<int>(decay));
    Case c(shortRow(), {2, 4, 16, 16}, GetParam(), decay, 11);
    Runs(c).againstRecurrence(bounds);
  }
}

TEST_P(GatedDeltaRuleOnGpu, WideKeys) {
  Case c(shortRow(), {1, 2, 256, 64}, GetParam(), Decay::Mild, 12);
  Runs(c).againstRecurrence(bounds);
}

TEST_P(GatedDeltaRuleOnGpu, MakesTheInverseItself) {
  Case c(shortRow(), {1, 3, 16, 32}, GetParam(), Decay::Mild, 13);
  Runs(c, /*keepInverse=*/false).againstRecurrence(bounds);
}

TEST_P(GatedDeltaRuleOnGpu, NoDocuments) {
  Case c(PackedRow({0, 0}, 9), {1, 2, 16, 16}, GetParam(), Decay::Mild, 16);
  Runs(c).againstRecurrence(bounds);
}

// docs/failures.md 8.
TEST_P(GatedDeltaRuleOnGpu, SixteenHeadsOf64) {
  Case c(PackedRow({1024}), {16, 16, 64, 64}, GetParam(), Decay::Mild, 17);
  Runs(c).againstCpu(bounds);
}

INSTANTIATE_TEST_SUITE_P(Storage, GatedDeltaRuleOnGpu, testing::Values(DType::F32, DType::BF16),
                         [](auto &info) { return std::string(dtypeName(info.param)); });

// f32 at the widths of the real models.
TEST(GatedDeltaRuleOnGpuWide, PlainF32) {
  Case c(shortRow(), {1, 3, 128, 128}, DType::F32, Decay::Mild, 20);
  Runs(c).againstRecurrence(plainBounds(DType::F32));
}

// bf16 heads of 128 go through the tensor cores.
TEST(GatedDeltaRuleOnGpuWide, HeadRatios) {
  unsigned seed = 30;
  for (Heads heads : {Heads{1, 1, 128, 128}, {1, 2, 128, 128}, {2, 6, 128, 128}, {1, 4, 128, 128}}) {
    SCOPED_TRACE(print(heads));
    Case c(shortRow(), heads, DType::BF16, Decay::Mild, seed++, DType::BF16, 8);
    Runs(c).againstRecurrence(kTensorCores);
  }
}

// docs/failures.md 4 and 5.
TEST(GatedDeltaRuleOnGpuWide, ReportedLengths) {
  unsigned seed = 35;
  for (std::vector<int64_t> lengths :
       std::vector<std::vector<int64_t>>{{64}, {128}, {256}, {1000}, {128, 0, 128}, {128, 128, 0, 0, 0}}) {
    SCOPED_TRACE(testing::PrintToString(lengths));
    Case c(PackedRow(lengths), {1, 3, 128, 128}, DType::BF16, Decay::Mild, seed++, DType::BF16, 8);
    Runs(c).againstRecurrence(kTensorCores);
  }
}

TEST(GatedDeltaRuleOnGpuWide, AwkwardLengths) {
  Case c(awkwardRow(), {1, 3, 128, 128}, DType::BF16, Decay::Mild, 40, DType::F32, 0);
  Runs(c).againstRecurrence(kTensorCores);
}

TEST(GatedDeltaRuleOnGpuWide, Decays) {
  for (Decay decay : {Decay::None, Decay::Strong, Decay::Mixed}) {
    SCOPED_TRACE(static_cast<int>(decay));
    Case c(shortRow(), {1, 2, 128, 128}, DType::BF16, decay, 50, DType::BF16, 8);
    Runs(c).againstRecurrence(kTensorCores);
  }
}

TEST(GatedDeltaRuleOnGpuWide, MakesTheInverseItself) {
  Case c(shortRow(), {1, 3, 128, 128}, DType::BF16, Decay::Mild, 60, DType::BF16, 8);
  Runs(c, /*keepInverse=*/false).againstRecurrence(kTensorCores);
}

TEST(GatedDeltaRuleOnGpuWide, NoDocuments) {
  Case c(PackedRow({0, 0}, 9), {1, 2, 128, 128}, DType::BF16, Decay::Mild, 70, DType::BF16, 8);
  Runs(c).againstRecurrence(kTensorCores);
}

TEST(GatedDeltaRuleOnGpuWide, LongDocument) {
  Case c(PackedRow({2049}, 3), {1, 3, 128, 128}, DType::BF16, Decay::Mild, 80, DType::BF16, 0);
  Runs(c).againstCpu(kTensorCores);
}

// With room for two documents at most a block of the scans has half of dv.
TEST(GatedDeltaRuleOnGpuWide, OneDocument) {
  PackedRow row({300}, 3);
  row.bucket.documents = 1;
  Case c(row, {1, 3, 128, 128}, DType::BF16, Decay::Mild, 85, DType::BF16, 0);
  Runs(c).againstRecurrence(kTensorCores);
}

TEST(GatedDeltaRuleOnGpuWide, AllHeads) {
  Case c(PackedRow({128, 0, 200}, 1), {16, 48, 128, 128}, DType::BF16, Decay::Mild, 90, DType::BF16, 0);
  Runs(c).againstCpu(kTensorCores);
}

// More chunks and key heads than multiprocessors: blocks take several.
TEST(GatedDeltaRuleOnGpuWide, ManyChunks) {
  Case c(PackedRow({700, 1, 450}, 9), {16, 16, 128, 128}, DType::BF16, Decay::Mixed, 95, DType::F32, 8);
  Runs(c).againstCpu(kTensorCores);
}

// More documents than are worked on at once: blocks of the scans take one behind the other, whole chunks and not.
TEST(GatedDeltaRuleOnGpuWide, ManyDocuments) {
  std::vector<int64_t> lengths;
  for (int i = 0; i < 40; ++i)
    lengths.insert(lengths.end(), {i % 5 == 0 ? 129 : 1, 64, 0});
  Case c(PackedRow(lengths, 5), {8, 24, 128, 128}, DType::BF16, Decay::Mild, 96, DType::BF16, 8);
  Runs(c).againstCpu(kTensorCores);
}

TEST(GatedDeltaRuleOnGpuWide, RandomLengths) {
  std::mt19937 random(testSeed());
  std::vector<int64_t> lengths;
  for (int i = 0; i < 6; ++i)
    lengths.push_back(std::uniform_int_distribution<int64_t>(0, i % 2 ? 300 : 70)(random));
  Case c(PackedRow(lengths, 17), {2, 4, 128, 128}, DType::BF16, Decay::Mild, testSeed(), DType::BF16, 8);
  Runs(c).againstCpu(kTensorCores);
}
