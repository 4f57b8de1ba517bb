// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small products against plain loops, as compiled for the least processor; the kernels' own tests run them as compiled
// for the others.
#include "runtime/backends/cpu/SmallGemm.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace qrt::cpu::plain;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// rows x cols values in rows of `ld`; NaN between the rows.
std::vector<float> randomMatrix(int64_t rows, int64_t cols, int64_t ld, std::mt19937 &random) {
  std::vector<float> matrix(rows * ld, kNaN);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      matrix[i * ld + j] = normal(random);
  return matrix;
}

bool isZero(Triangle triangle, Triangle lower, Triangle upper, int64_t row, int64_t col) {
  return (triangle == lower && col > row) || (triangle == upper && col < row);
}

void check(int64_t m, int64_t n, int64_t k, bool transposeA, float keep, Triangle triangle, std::mt19937 &random) {
  SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", A transposed " << transposeA << ", keep "
                                  << keep << ", triangle " << static_cast<int>(triangle));
  int64_t lda = (transposeA ? m : k) + 3, ldb = padded(n) + 16, ldc = padded(n) + 32;
  std::vector<float> a = transposeA ? randomMatrix(k, m, lda, random) : randomMatrix(m, k, lda, random);
  std::vector<float> b = randomMatrix(k, padded(n), ldb, random);
  std::vector<float> c = keep == 0 ? std::vector<float>(m * ldc, kNaN) : randomMatrix(m, padded(n), ldc, random);
  auto left = [&](int64_t i, int64_t p) -> float & { return transposeA ? a[p * lda + i] : a[i * lda + p]; };
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t i = 0; i < m; ++i)
      if (isZero(triangle, Triangle::LowerA, Triangle::UpperA, i, p))
        left(i, p) = 0;
    for (int64_t j = 0; j < padded(n); ++j)
      if (triangle == Triangle::UpperB && p > j)
        b[p * ldb + j] = 0;
  }
  std::vector<float> before = c;
  multiply(m, n, k, {a.data(), lda, transposeA}, b.data(), ldb, keep, c.data(), ldc, triangle);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < ldc; ++j) {
      if (j >= padded(n)) {
        EXPECT_TRUE(std::isnan(c[i * ldc + j])) << "wrote past the columns";
        continue;
      }
      if (isZero(triangle, Triangle::LowerC, Triangle::UpperC, i, j))
        continue;
      double expected = keep == 0 ? 0 : keep * before[i * ldc + j];
      for (int64_t p = 0; p < k; ++p)
        expected += static_cast<double>(left(i, p)) * b[p * ldb + j];
      EXPECT_NEAR(c[i * ldc + j], expected, 1e-5 * (1 + std::sqrt(static_cast<double>(k)))) << i << ", " << j;
    }
}

} // namespace

TEST(SmallGemm, Shapes) {
  std::mt19937 random(1);
  for (int64_t m : {1, 2, 3, 7, 8, 13, 64})
    for (int64_t n : {1, 16, 33, 64})
      for (int64_t k : {0, 1, 5, 64})
        for (bool transposeA : {false, true})
          for (float keep : {0.0f, 1.0f, 0.5f})
            check(m, n, k, transposeA, keep, Triangle::None, random);
}

TEST(SmallGemm, Triangles) {
  std::mt19937 random(2);
  for (Triangle triangle : {Triangle::LowerA, Triangle::UpperA, Triangle::UpperB, Triangle::LowerC, Triangle::UpperC})
    for (int64_t size : {1, 2, 15, 16, 17, 47, 64})
      for (bool transposeA : {false, true})
        check(size, size, size, transposeA, 1.0f, triangle, random);
}

TEST(SmallGemm, Transpose) {
  std::mt19937 random(3);
  for (int64_t rows : {1, 3, 4, 17, 64})
    for (int64_t cols : {1, 5, 16, 31}) {
      std::vector<float> from = randomMatrix(rows, cols, cols + 1, random), to(cols * (padded(rows) + 1), kNaN);
      transpose(rows, cols, from.data(), cols + 1, to.data(), padded(rows) + 1);
      for (int64_t j = 0; j < cols; ++j) {
        for (int64_t i = 0; i < padded(rows); ++i)
          EXPECT_EQ(to[j * (padded(rows) + 1) + i], i < rows ? from[i * (cols + 1) + j] : 0.0f);
        EXPECT_TRUE(std::isnan(to[j * (padded(rows) + 1) + padded(rows)]));
      }
    }
}
