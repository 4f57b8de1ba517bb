// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cost/Cost.h"

#include <array>
#include <gtest/gtest.h>

namespace qrt {
namespace {

TensorShape matrix(DType dtype, int64_t rows, int64_t cols) { return denseShape(dtype, std::array{rows, cols}); }

TEST(Cost, CountsAnArgumentOnceAndAnUpdatedOneTwice) {
  std::optional<TensorShape> shapes[] = {matrix(DType::BF16, 4, 8), matrix(DType::BF16, 4, 8)};
  ArgEffect effects[] = {ArgEffect::InOut, ArgEffect::Read};
  Cost cost = launchCost(Kernel::Add, shapes, effects, {}, {});
  EXPECT_EQ(cost.bytes, 3 * 4 * 8 * 2);
  EXPECT_EQ(cost.flops, 32);
}

TEST(Cost, LeavesOutWhatIsAbsent) {
  std::optional<TensorShape> x = matrix(DType::F32, 4, 8), weight = denseShape(DType::F32, std::array{int64_t{8}});
  std::optional<TensorShape> shapes[] = {x, weight, x, std::nullopt};
  ArgEffect effects[] = {ArgEffect::Read, ArgEffect::Read, ArgEffect::Write, ArgEffect::Write};
  ParamValue eps[] = {{.f = 1e-6}};
  EXPECT_EQ(launchCost(Kernel::RmsNorm, shapes, effects, eps, {}).bytes, (32 + 8 + 32) * 4);
}

/// 6 tokens pick at most 6 of 100 rows of 16.
TEST(Cost, OfAnEmbeddingCountsTheRowsThatTokensName) {
  std::optional<TensorShape> docs = denseShape(DType::I32, std::array{int64_t{10}}),
                             ids = denseShape(DType::I32, std::array{int64_t{6}}),
                             weight = matrix(DType::BF16, 100, 16), out = matrix(DType::BF16, 6, 16);
  std::optional<TensorShape> forward[] = {docs, ids, weight, out};
  ArgEffect effects[] = {ArgEffect::Read, ArgEffect::Read, ArgEffect::Read, ArgEffect::Write};
  EXPECT_DOUBLE_EQ(launchCost(Kernel::Embedding, forward, effects, {}, {}).bytes, 40 + 24 + 192 + 192);

  // A gradient of its own has zeros in all other rows; one that is added to keeps them.
  std::optional<TensorShape> backward[] = {docs, ids, ids, out, weight};
  ArgEffect written[] = {ArgEffect::Read, ArgEffect::Read, ArgEffect::Read, ArgEffect::Read, ArgEffect::Write};
  EXPECT_DOUBLE_EQ(launchCost(Kernel::EmbeddingGrad, backward, written, {}, {}).bytes, 40 + 24 + 24 + 192 + 3200);
  written[4] = ArgEffect::InOut;
  EXPECT_DOUBLE_EQ(launchCost(Kernel::EmbeddingGrad, backward, written, {}, {}).bytes, 40 + 24 + 24 + 192 + 2 * 192);
}

/// [3, 5] x [5, 7], with the first operand stored as it is and transposed.
TEST(Cost, OfProducts) {
  TensorShape b = matrix(DType::BF16, 5, 7), c = matrix(DType::F32, 3, 7);
  Cost cost = productCost(matrix(DType::BF16, 3, 5), b, c, false, false);
  EXPECT_EQ(cost.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(cost.bytes, 15 * 2 + 35 * 2 + 21 * 4);
  cost = productCost(matrix(DType::BF16, 5, 3), b, c, true, true);
  EXPECT_EQ(cost.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(cost.bytes, 15 * 2 + 35 * 2 + 2 * 21 * 4);
}

TEST(Cost, OfCopiesAndFills) {
  EXPECT_EQ(copyCost(matrix(DType::F32, 2, 3)).bytes, 48);
  EXPECT_EQ(fillCost(matrix(DType::F32, 2, 3)).bytes, 24);
}

} // namespace
} // namespace qrt
