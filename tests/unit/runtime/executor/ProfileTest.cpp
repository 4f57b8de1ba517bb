// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/base/Json.h"
#include "runtime/executor/Calibrate.h"
#include "runtime/executor/ProfileReport.h"
#include "runtime/program/InstructionCost.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

#include <gmock/gmock.h>

namespace qrt {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A product of [8, 16] by [4, 16] transposed, SwiGLU of its result twice, the second time as a recomputation, and a
/// fill; two documents of 6 and 2 tokens in a bucket of 10.
struct Measured {
  Entry entry;
  ExecutionTimes times;
  ProfiledRow row{8, 5, 6 * 6 + 2 * 2};
  MachineRates machine = *defaultMachineRates("cpu");

  Measured() {
    entry.bucket = {10, 3, 8, 8};
    entry.arguments.fill(-1);
    entry.results.fill(-1);
    auto slice = [&](int64_t rows, int64_t cols) {
      entry.slices.push_back({Space::Transient, 0, 0, denseShape(DType::F32, std::array{rows, cols})});
    };
    slice(8, 16), slice(4, 16), slice(8, 4);
    entry.instructions.push_back({Gemm{0, 1, 2, false, true, false}, "layers.0.mlp.up_proj"});
    Launch swiglu{Kernel::Swiglu, {2, 2, 2}, {ArgEffect::Read, ArgEffect::Read, ArgEffect::Write}, {}};
    entry.instructions.push_back({swiglu, "layers.0.mlp"});
    entry.instructions.push_back({swiglu, "layers.0.mlp", true});
    entry.instructions.push_back({Fill{2}, "layers.0"});
    times.run = 100;
    times.gemms = 40;
    times.instructions = {50, 20, 10, 5};
    times.works = {1, 2, 2, 1};
    times.copyRate = 1e6;
    times.gemmRate = 1e6;
    machine.machine = "a known machine";
    machine.launchSeconds = 0;
    machine.copyRate = 1e6;
    machine.f32 = {0.5e6, {0.5, 1, 1}};
    machine.kernels.fill(0.5);
  }
  ProfileInput input(std::optional<double> peak = std::nullopt) const { return {entry, times, row, machine, peak}; }
};

TEST(Profile, AddsUpClasses) {
  Measured measured;
  Profile profile = makeProfile(measured.input());
  ASSERT_EQ(profile.rows.size(), 4u);
  // Those that take longest first; what is computed again is a class of its own.
  EXPECT_EQ(profile.rows[0].name, "gemm 8x4x16 a b^T");
  EXPECT_EQ(profile.rows[1].name, "swiglu");
  EXPECT_EQ(profile.rows[2].name, "swiglu, recomputed");
  EXPECT_EQ(profile.rows[3].name, "fill");
  EXPECT_EQ(profile.rows[1].calls, 1);
  EXPECT_EQ(profile.rows[1].works, 2);
  EXPECT_EQ(profile.rows[1].milliseconds, 20);
  EXPECT_EQ(profile.sum.calls, 4);
  EXPECT_EQ(profile.sum.works, 6);
  EXPECT_EQ(profile.sum.milliseconds, 85);
  EXPECT_EQ(profile.idle, 15);
  EXPECT_EQ(profile.products, 40);
}

TEST(Profile, ComparesWithTheMeasuredFloorAndTheKnownMachine) {
  Measured measured;
  Profile profile = makeProfile(measured.input());
  // 2 * 8 * 4 * 16 operations at 1e6 a second; (128 + 64 + 32) * 4 bytes take less.
  EXPECT_DOUBLE_EQ(profile.rows[0].floor, 1.024);
  // At 0.5e6 a second, of which products of this form reach half.
  EXPECT_DOUBLE_EQ(profile.rows[0].predicted, 1.024 / 0.5 / 0.5);
  // 3 * 32 * 4 bytes.
  EXPECT_DOUBLE_EQ(profile.rows[1].floor, 0.384);
  EXPECT_DOUBLE_EQ(profile.rows[1].predicted, 0.768);
  EXPECT_DOUBLE_EQ(profile.sum.predicted, 4.096 + 0.768 + 0.768 + 0.128);

  measured.times.copyRate = 0;
  EXPECT_EQ(makeProfile(measured.input()).sum.floor, 0);
}

TEST(Profile, CountsTheModelsArithmeticOnce) {
  Measured measured;
  double product = 2 * 8 * 4 * 16, swiglu = 6 * 32;
  Profile profile = makeProfile(measured.input(1e5));
  EXPECT_EQ(profile.modelFlops, product + swiglu);
  EXPECT_EQ(profile.recomputedFlops, swiglu);
  // A run takes a tenth of a second.
  ASSERT_TRUE(profile.utilisation);
  EXPECT_DOUBLE_EQ(*profile.utilisation, (product + swiglu) / 0.1 / 1e5);
  EXPECT_DOUBLE_EQ(profile.trained, 50);
  EXPECT_DOUBLE_EQ(profile.real, 80);
  EXPECT_DOUBLE_EQ(profile.slots, 100);
}

TEST(Profile, AttentionDoesWhatTheDocumentsAsk) {
  Measured measured;
  TensorShape heads = denseShape(DType::F32, std::array<int64_t, 3>{10, 2, 4});
  TensorShape docs = denseShape(DType::I32, std::array<int64_t, 1>{40});
  measured.entry.slices = {{Space::Io, 0, 0, docs}, {Space::Transient, 0, 0, heads}};
  Launch attention{
      Kernel::Attention, {0, 1, 1, 1, -1, 1, -1, -1}, std::vector<ArgEffect>(8, ArgEffect::Read), {{.f = 1}}};
  measured.entry.instructions = {{attention, ""}};
  measured.times.instructions = {1};
  measured.times.works = {1};
  // 2 H D times the sum of the squared lengths, 40.
  EXPECT_DOUBLE_EQ(makeProfile(measured.input()).modelFlops, 2 * 8 * 40);
}

TEST(ProfileReport, SaysWhatIsUnknown) {
  Measured measured;
  ProfileInput input = measured.input();
  std::string table = profileTable(input, makeProfile(input), "NVIDIA B300");
  EXPECT_THAT(table, HasSubstr("MFU unknown: no peak is known of NVIDIA B300 in f32\n"));
  EXPECT_THAT(table, Not(HasSubstr("clock")));
  EXPECT_THAT(table, HasSubstr("a run is 2.500 times that"));
  EXPECT_THAT(table, HasSubstr("predicted 5.760 by the rates of a known machine"));

  measured.times.telemetry = {1398.4, 690.2};
  measured.times.copyRate = 0;
  table = profileTable(input, makeProfile(measured.input(1e5)), "NVIDIA H200");
  EXPECT_THAT(table,
              HasSubstr("MFU 12.2 %: the model's alone, of the 0.0 TFLOP/s that NVIDIA H200 is made for in f32\n"));
  EXPECT_THAT(table, HasSubstr("clock of its multiprocessors 1398 MHz, power 690 W\n"));
  EXPECT_THAT(table, HasSubstr("copy - TB/s"));
}

TEST(ProfileReport, JsonHasTheSameNumbers) {
  Measured measured;
  ProfileInput input = measured.input();
  StatusOr<Json> parsed = parseJson(profileJson(input, makeProfile(input), "cpu"), "profile.json");
  ASSERT_OK(parsed);
  Json &json = *parsed;
  EXPECT_EQ(json["classes"].size(), 4u);
  EXPECT_EQ(json["classes"][0]["class"], "gemm 8x4x16 a b^T");
  EXPECT_EQ(json["classes"][0]["milliseconds"], 50);
  EXPECT_EQ(json["classes"][0]["floor_milliseconds"], 1.024);
  EXPECT_EQ(json["run_milliseconds"], 100);
  EXPECT_EQ(json["run_over_products"], 2.5);
  EXPECT_EQ(json["tokens_per_second"]["slots"], 100);
  EXPECT_EQ(json["predicted_by"], "a known machine");
  EXPECT_TRUE(json["model_flops_utilisation"].is_null());
  EXPECT_TRUE(json["peak_flops_per_second"].is_null());
  EXPECT_TRUE(json["power_watts"].is_null());
}

TEST(ProfileReport, ListsInstructions) {
  Measured measured;
  std::string table = instructionTable(measured.input());
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);
  EXPECT_THAT(table, HasSubstr("    0   50.0000    4.0960"));
  EXPECT_THAT(table, HasSubstr("swiglu, recomputed"));
  EXPECT_THAT(table, HasSubstr("layers.0.mlp.up_proj\n"));
}

TEST(Calibrate, PredictsWhatWasMeasured) {
  Measured measured;
  measured.times.instructions = {50, 30, 20, 5};
  StatusOr<MachineRates> rates =
      calibratedRates(measured.entry, measured.times, measured.row, measured.machine, "this machine");
  ASSERT_OK(rates);
  EXPECT_EQ(rates->machine, "this machine");
  EXPECT_EQ(rates->copyRate, 1e6);
  EXPECT_EQ(rates->f32.rate, 1e6);
  EXPECT_EQ(rates->bf16.rate, measured.machine.bf16.rate);
  EXPECT_DOUBLE_EQ(rates->launchSeconds, 5e-3);
  // 1.024 ms of the 45 beyond the fixed time; 2 * 0.384 of 25 + 15.
  EXPECT_DOUBLE_EQ(rates->f32.fractions[static_cast<size_t>(ProductForm::ABt)], 1.024 / 45);
  EXPECT_DOUBLE_EQ(rates->kernels[static_cast<size_t>(Kernel::Swiglu)], 0.768 / 40);
  // The entry has none of these.
  EXPECT_EQ(rates->kernels[static_cast<size_t>(Kernel::Attention)], 0.5);
  EXPECT_EQ(rates->f32.fractions[static_cast<size_t>(ProductForm::AB)], 1);

  ProfileInput input{measured.entry, measured.times, measured.row, *rates, std::nullopt};
  Profile profile = makeProfile(input);
  EXPECT_NEAR(profile.rows[0].predicted, 50, 1e-9);
  EXPECT_NEAR(profile.rows[1].predicted + profile.rows[2].predicted, 50, 1e-9);
}

TEST(Calibrate, OfWhatTakesTheFixedTimeAloneLearnsNothing) {
  Measured measured;
  measured.times.instructions = {50, 5.1, 5.1, 5};
  StatusOr<MachineRates> rates =
      calibratedRates(measured.entry, measured.times, measured.row, measured.machine, "this machine");
  ASSERT_OK(rates);
  EXPECT_EQ(rates->kernels[static_cast<size_t>(Kernel::Swiglu)], 0.5);
}

/// An instruction that another's work does has no time, and none of the fixed time.
TEST(Calibrate, TheFixedTimeIsThatOfWhatIsLaunched) {
  Measured measured;
  measured.times.instructions = {50, 50, 1e-3, 5};
  measured.times.works = {1, 1, 0, 1};
  StatusOr<MachineRates> rates =
      calibratedRates(measured.entry, measured.times, measured.row, measured.machine, "this machine");
  ASSERT_OK(rates);
  EXPECT_DOUBLE_EQ(rates->launchSeconds, 5e-3);
  EXPECT_NEAR(rates->kernels[static_cast<size_t>(Kernel::Swiglu)], 0.768 / 45, 1e-6);

  measured.times.works = {0, 0, 0, 0};
  rates = calibratedRates(measured.entry, measured.times, measured.row, measured.machine, "this machine");
  ASSERT_FALSE(rates.ok());
  EXPECT_THAT(rates.status().message(), HasSubstr("no instruction that takes time"));
}

TEST(Calibrate, NeedsMeasuredRates) {
  Measured measured;
  measured.times.gemmRate = 0;
  StatusOr<MachineRates> rates =
      calibratedRates(measured.entry, measured.times, measured.row, measured.machine, "this machine");
  ASSERT_FALSE(rates.ok());
  EXPECT_THAT(rates.status().message(), HasSubstr("no room for a copy"));
}

} // namespace
} // namespace qrt
