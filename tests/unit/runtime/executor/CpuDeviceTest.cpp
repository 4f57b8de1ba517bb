// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/CpuDevice.h"

#include "runtime/base/BFloat16.h"
#include "tests/unit/runtime/support/ProgramBuilder.h"
#include "tests/unit/runtime/support/StatusMatchers.h"

#include <cmath>
#include <cstring>
#include <numeric>

namespace qrt {
namespace {

using test::EntryBuilder;
using test::ProgramBuilder;

/// An eval entry whose instructions a test writes.
struct Bench {
  ProgramBuilder builder{10};
  EntryBuilder entry = builder.entry(EntryKind::Eval, {4, 1, 4, 4});
  int loss;

  Bench() {
    for (ArgumentRole role : {ArgumentRole::Ids, ArgumentRole::Labels, ArgumentRole::Segments})
      entry.argument(role);
    loss = entry.result(ResultRole::Loss);
  }
};

TEST(CpuDevice, CopiesAndClearsStridedTensors) {
  Bench bench;
  EntryBuilder &e = bench.entry;
  int matrix = e.transient(DType::F32, {6, 10}), middle = e.columns(matrix, 3, 4),
      dense = e.transient(DType::F32, {6, 4});
  int long1 = e.transient(DType::U8, {1000003}), long2 = e.transient(DType::U8, {1000003});
  e.copy(middle, dense);
  e.fill(middle);
  e.copy(dense, e.columns(matrix, 0, 4));
  e.copy(long1, long2);
  e.fill(long1);
  StatusOr<Program> program = bench.builder.build();
  // The last copy writes columns of the matrix that the fill cleared in part: allowed, they are two instructions.
  ASSERT_OK(program);
  for (int threads : {1, 3}) {
    std::unique_ptr<Device> device = cpu::createCpuDevice({.threads = threads});
    ASSERT_OK(device->reserve(program->spaceBytes(true)));
    std::vector<float> values(60);
    std::iota(values.begin(), values.end(), 1.0F);
    ASSERT_OK(device->write(Space::Transient, 0, std::as_bytes(std::span(values))));
    std::vector<uint8_t> many(1000003);
    for (size_t i = 0; i < many.size(); ++i)
      many[i] = static_cast<uint8_t>(i * 7);
    const Slice &first = program->entries()[0].slices[static_cast<size_t>(long1)];
    const Slice &second = program->entries()[0].slices[static_cast<size_t>(long2)];
    ASSERT_OK(device->write(Space::Transient, first.offset, std::as_bytes(std::span(many))));
    StatusOr<std::unique_ptr<Executable>> executable =
        device->prepare(*program, program->entries()[0], Choosing::Carefully);
    ASSERT_OK(executable);
    ASSERT_OK((*executable)->run());
    std::vector<float> after(60);
    ASSERT_OK(device->read(Space::Transient, 0, std::as_writable_bytes(std::span(after))));
    for (size_t i = 0; i < 60; ++i) {
      size_t column = i % 10;
      float expected = column < 4 ? values[i] + 3 : column < 7 ? 0 : values[i];
      EXPECT_EQ(after[i], expected) << i;
    }
    std::vector<uint8_t> copied(many.size()), cleared(many.size());
    ASSERT_OK(device->read(Space::Transient, second.offset, std::as_writable_bytes(std::span(copied))));
    ASSERT_OK(device->read(Space::Transient, first.offset, std::as_writable_bytes(std::span(cleared))));
    EXPECT_EQ(copied, many);
    EXPECT_EQ(cleared, std::vector<uint8_t>(many.size()));
  }
}

TEST(CpuDevice, MultipliesMatrices) {
  Bench bench;
  EntryBuilder &e = bench.entry;
  int a = e.transient(DType::F32, {2, 3}), b = e.transient(DType::F32, {4, 3}), c = e.transient(DType::F32, {2, 4});
  e.gemm(a, b, c, false, true);
  e.gemm(a, b, c, false, true, true);
  StatusOr<Program> program = bench.builder.build();
  ASSERT_OK(program);
  std::unique_ptr<Device> device = cpu::createCpuDevice();
  ASSERT_OK(device->reserve(program->spaceBytes(true)));
  const Entry &entry = program->entries()[0];
  std::vector<float> left{1, 2, 3, 4, 5, 6}, right{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}, product(8);
  auto offset = [&](int slice) { return entry.slices[static_cast<size_t>(slice)].offset; };
  ASSERT_OK(device->write(Space::Transient, offset(a), std::as_bytes(std::span(left))));
  ASSERT_OK(device->write(Space::Transient, offset(b), std::as_bytes(std::span(right))));
  StatusOr<std::unique_ptr<Executable>> executable = device->prepare(*program, entry, Choosing::Carefully);
  ASSERT_OK(executable);
  ASSERT_OK((*executable)->run());
  ASSERT_OK(device->read(Space::Transient, offset(c), std::as_writable_bytes(std::span(product))));
  EXPECT_EQ(product, (std::vector<float>{2, 4, 6, 12, 8, 10, 12, 30}));
}

/// From the file to the interpreter: y = silu(x) * c / 2 in bf16, c repeated along rows; and x c.
TEST(CpuDevice, RunsExpressions) {
  Bench bench;
  EntryBuilder &e = bench.entry;
  int x = e.transient(DType::F32, {2, 3}), c = e.transient(DType::F32, {2, 1});
  int y = e.transient(DType::BF16, {2, 3}), z = e.transient(DType::F32, {2, 3});
  e.launch(Kernel::Pointwise, {y, z, -1, -1, x, c});
  fb::LaunchT &launch = *e.entry().instructions.back()->work.AsLaunch();
  launch.expression = std::make_unique<fb::ExpressionT>();
  auto step = [&](fb::ExpressionOp op, uint16_t a, uint16_t b, double constant) {
    auto &it = *launch.expression->steps.emplace_back(std::make_unique<fb::ExpressionStepT>());
    it.op = op, it.a = a, it.b = b, it.constant = constant;
  };
  step(fb::ExpressionOp_Silu, 0, 0, 0);
  step(fb::ExpressionOp_Mul, 2, 1, 0);
  step(fb::ExpressionOp_Scale, 3, 0, 0.5);
  step(fb::ExpressionOp_Mul, 0, 1, 0);
  launch.expression->results = {4, 5};
  StatusOr<Program> program = bench.builder.build();
  ASSERT_OK(program);
  std::unique_ptr<Device> device = cpu::createCpuDevice({.threads = 2, .poison = false});
  ASSERT_OK(device->reserve(program->spaceBytes(true)));
  const Entry &entry = program->entries()[0];
  auto offset = [&](int slice) { return entry.slices[static_cast<size_t>(slice)].offset; };
  std::vector<float> values{-1, 0, 1, 2, 3, 4}, factors{3, -5}, products(6);
  std::vector<uint16_t> gated(6);
  ASSERT_OK(device->write(Space::Transient, offset(x), std::as_bytes(std::span(values))));
  ASSERT_OK(device->write(Space::Transient, offset(c), std::as_bytes(std::span(factors))));
  StatusOr<std::unique_ptr<Executable>> executable = device->prepare(*program, entry, Choosing::Carefully);
  ASSERT_OK(executable);
  ASSERT_OK((*executable)->run());
  ASSERT_OK(device->read(Space::Transient, offset(y), std::as_writable_bytes(std::span(gated))));
  ASSERT_OK(device->read(Space::Transient, offset(z), std::as_writable_bytes(std::span(products))));
  for (size_t i = 0; i < 6; ++i) {
    float factor = factors[i / 3], silu = values[i] / (1 + std::exp(-values[i]));
    EXPECT_EQ(products[i], values[i] * factor) << i;
    EXPECT_NEAR(f32FromBF16(gated[i]), silu * factor / 2, std::abs(silu * factor) / 256) << i;
  }
}

TEST(CpuDevice, PoisonsWhatNobodyWrote) {
  Bench bench;
  int never = bench.entry.transient(DType::F32, {});
  bench.entry.copy(never, bench.loss);
  StatusOr<Program> program = bench.builder.build();
  ASSERT_OK(program);
  std::unique_ptr<Device> device = cpu::createCpuDevice({.threads = 1, .poison = true});
  ASSERT_OK(device->reserve(program->spaceBytes(true)));
  for (std::byte byte : device->io())
    ASSERT_EQ(byte, std::byte{0xFF});
  const Entry &entry = program->entries()[0];
  StatusOr<std::unique_ptr<Executable>> executable = device->prepare(*program, entry, Choosing::Carefully);
  ASSERT_OK(executable);
  float value = 5;
  ASSERT_OK(device->write(Space::Transient, 0, std::as_bytes(std::span(&value, 1))));
  ASSERT_OK((*executable)->run());
  std::memcpy(&value, device->io().data() + entry.result(ResultRole::Loss)->offset, sizeof(value));
  EXPECT_TRUE(std::isnan(value));
}

TEST(CpuDevice, RefusesWhatDoesNotFit) {
  Bench bench;
  bench.entry.fill(bench.entry.transient(DType::F32, {1000}));
  StatusOr<Program> program = bench.builder.build("big.qprog");
  ASSERT_OK(program);
  std::unique_ptr<Device> device = cpu::createCpuDevice();
  SpaceBytes bytes = program->spaceBytes(true);
  bytes[static_cast<int>(Space::Transient)] = 100;
  ASSERT_OK(device->reserve(bytes));
  EXPECT_ERROR(device->prepare(*program, program->entries()[0], Choosing::Carefully), StatusCode::ResourceExhausted,
               "big.qprog: entry eval 4x1x4x4 needs 4032 bytes of transient, but 100 are reserved");
  EXPECT_TRUE(device->runsTarget("cpu"));
  EXPECT_FALSE(device->runsTarget("sm_90a"));
  EXPECT_NE(device->description().find("cpu, "), std::string::npos);
}

} // namespace
} // namespace qrt
