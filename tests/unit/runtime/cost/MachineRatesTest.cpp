// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cost/MachineRates.h"

#include "runtime/base/Json.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qrt {
namespace {

using testing::HasSubstr;

MachineRates rounds() {
  MachineRates rates = *defaultMachineRates("cpu");
  rates.machine = "a machine of round numbers";
  rates.copyRate = 1000;
  rates.launchSeconds = 0.25;
  rates.f32 = {100, {1, 0.5, 0.25}};
  rates.bf16 = {200, {1, 1, 1}};
  rates.kernels.fill(0.5);
  return rates;
}

TEST(MachineRates, TheLongerOfArithmeticAndMemoryIsTheFloor) {
  MachineRates rates = rounds();
  EXPECT_DOUBLE_EQ(floorSeconds(rates, DType::F32, {400, 1000}), 4);
  EXPECT_DOUBLE_EQ(floorSeconds(rates, DType::BF16, {400, 1000}), 2);
  EXPECT_DOUBLE_EQ(floorSeconds(rates, DType::BF16, {400, 8000}), 8);
}

TEST(MachineRates, PredictsTheFixedTimeAndTheFloorByItsFraction) {
  MachineRates rates = rounds();
  EXPECT_DOUBLE_EQ(predictedSeconds(rates, Kernel::Swiglu, DType::F32, {400, 1000}), 0.25 + 4 / 0.5);
  rates.kernels[static_cast<size_t>(Kernel::Swiglu)] = 0.8;
  EXPECT_DOUBLE_EQ(predictedSeconds(rates, Kernel::Swiglu, DType::F32, {400, 1000}), 0.25 + 4 / 0.8);
  EXPECT_DOUBLE_EQ(predictedProductSeconds(rates, ProductForm::ABt, DType::F32, {400, 0}), 0.25 + 4);
  EXPECT_DOUBLE_EQ(predictedProductSeconds(rates, ProductForm::AB, DType::F32, {400, 0}), 0.25 + 8);
  EXPECT_DOUBLE_EQ(predictedProductSeconds(rates, ProductForm::AtB, DType::F32, {400, 0}), 0.25 + 16);
  EXPECT_DOUBLE_EQ(predictedCopySeconds(rates, {0, 500}), 0.75);
}

TEST(MachineRates, FormsAreNamedByWhatIsTransposed) {
  EXPECT_EQ(productForm(false, true), ProductForm::ABt);
  EXPECT_EQ(productForm(false, false), ProductForm::AB);
  EXPECT_EQ(productForm(true, false), ProductForm::AtB);
}

/// Products of the H200's step, measured: 33.725 ms for eight of 8192 x 34816 x 5120, a b^T.
TEST(MachineRates, TheDefaultsOfAnH200FitWhatWasMeasuredThere) {
  MachineRates rates = *defaultMachineRates("sm_90a");
  Cost product{2.0 * 8192 * 34816 * 5120, 2.0 * (8192.0 * 5120 + 34816.0 * 5120 + 8192.0 * 34816)};
  EXPECT_NEAR(8e3 * predictedProductSeconds(rates, ProductForm::ABt, DType::BF16, product), 33.725, 0.03 * 33.725);
  // Sixteen of x + delta and its norm: 4 matrices of 8192 x 5120.
  Cost norm{0, 4.0 * 2 * 8192 * 5120};
  EXPECT_NEAR(16e3 * predictedSeconds(rates, Kernel::AddRmsNorm, DType::BF16, norm), 1.411, 0.05 * 1.411);
}

TEST(MachineRates, ComeBackFromTheirText) {
  MachineRates rates = rounds();
  rates.kernels[static_cast<size_t>(Kernel::AdamW)] = 0.875;
  StatusOr<MachineRates> read = parseMachineRates(printMachineRates(rates), "machine.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->target, "cpu");
  EXPECT_EQ(read->machine, rates.machine);
  EXPECT_EQ(read->copyRate, rates.copyRate);
  EXPECT_EQ(read->launchSeconds, rates.launchSeconds);
  EXPECT_EQ(read->f32.rate, rates.f32.rate);
  EXPECT_EQ(read->f32.fractions, rates.f32.fractions);
  EXPECT_EQ(read->bf16.fractions, rates.bf16.fractions);
  EXPECT_EQ(read->kernels, rates.kernels);
}

std::string errorOf(const std::function<void(Json &)> &change) {
  Json json = *parseJson(printMachineRates(rounds()), "machine.json");
  change(json);
  StatusOr<MachineRates> read = parseMachineRates(json.dump(), "machine.json");
  return read.ok() ? "" : read.status().message();
}

TEST(MachineRates, AFileThatDoesNotNameAKernelLeavesItAsItWas) {
  Json json = *parseJson(printMachineRates(rounds()), "machine.json");
  json["kernels"].erase("swiglu");
  StatusOr<MachineRates> read = parseMachineRates(json.dump(), "machine.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  size_t swiglu = static_cast<size_t>(Kernel::Swiglu);
  EXPECT_EQ(read->kernels[swiglu], defaultMachineRates("cpu")->kernels[swiglu]);
}

TEST(MachineRates, RefuseWhatIsNoSuchFile) {
  EXPECT_EQ(errorOf([](Json &) {}), "");
  EXPECT_EQ(errorOf([](Json &json) { json["copy"] = 1; }), "machine.json: copy: unknown");
  EXPECT_EQ(errorOf([](Json &json) { json["kernels"]["swigloo"] = 1; }), "machine.json: kernels.swigloo: unknown");
  EXPECT_EQ(errorOf([](Json &json) { json["f32_products"]["bt_a"] = 1; }), "machine.json: f32_products.bt_a: unknown");
  EXPECT_EQ(errorOf([](Json &json) { json.erase("launch_seconds"); }), "machine.json: launch_seconds: missing");
  EXPECT_EQ(errorOf([](Json &json) { json["f32_products"].erase("a_b"); }), "machine.json: f32_products.a_b: missing");
  EXPECT_EQ(errorOf([](Json &json) { json["copy_bytes_per_second"] = 0; }),
            "machine.json: copy_bytes_per_second: expected 1 to 1e+18, got 0");
  EXPECT_EQ(errorOf([](Json &json) { json["kernels"]["swiglu"] = -1; }),
            "machine.json: kernels.swiglu: expected 1e-12 to 100, got -1");
  // With less, predictions would not be finite.
  EXPECT_EQ(errorOf([](Json &json) { json["kernels"]["swiglu"] = 5e-324; }),
            "machine.json: kernels.swiglu: expected 1e-12 to 100, got 5e-324");
  EXPECT_NE(errorOf([](Json &json) { json["f32_products"]["flops_per_second"] = 5e-324; }), "");
  EXPECT_NE(errorOf([](Json &json) { json["launch_seconds"] = 5e-324; }), "");
  EXPECT_THAT(errorOf([](Json &json) { json["kernels"]["swiglu"] = "fast"; }), HasSubstr("expected a number"));
  EXPECT_EQ(errorOf([](Json &json) { json["target"] = "sm_80"; }),
            "machine.json: target: no machine is known for the target 'sm_80'");
  EXPECT_FALSE(parseMachineRates("{", "machine.json").ok());
  // What a terminal would obey is not printed.
  EXPECT_EQ(errorOf([](Json &json) { json["machine"] = "an\x1b[2J\nH200"; }),
            "machine.json: machine: expected a short line of text, got 'an\\x1b[2J\\x0aH200'");
  EXPECT_EQ(errorOf([](Json &json) { json["kernels"]["\x1b[2J"] = 1; }), "machine.json: kernels.'\\x1b[2J': unknown");
  EXPECT_EQ(errorOf([](Json &json) { json["target"] = "\x1b[2J"; }),
            "machine.json: target: no machine is known for the target '\\x1b[2J'");
  EXPECT_FALSE(readMachineRates("/nonexistent/machine.json").ok());
}

} // namespace
} // namespace qrt
