// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the norms' kernels share: the storage that they are tried in, and random tensors.
#ifndef TESTS_UNIT_CPU_NORMCASE_H
#define TESTS_UNIT_CPU_NORMCASE_H

#include "tests/unit/cpu/KernelHarness.h"

namespace qrt::cpu::test {

/// Storage of activations, and of weights and their gradients.
struct NormTypes {
  DType md, weight;
};

class NormTest : public testing::TestWithParam<NormTypes> {
protected:
  explicit NormTest(uint32_t seed = 5) : random(seed) {}

  DType md = GetParam().md, wt = GetParam().weight;
  std::mt19937 random;
  HostTensor make(DType dtype, std::vector<int64_t> dims, int64_t gap = 0, double scale = 1, double mean = 0) {
    return HostTensor(dtype, std::move(dims), gap).randomize(random, scale, mean);
  }
};

inline auto allNormTypes() {
  return testing::Values(NormTypes{DType::F32, DType::F32}, NormTypes{DType::BF16, DType::BF16},
                         NormTypes{DType::BF16, DType::F32});
}
inline std::string nameOfTypes(const testing::TestParamInfo<NormTypes> &info) {
  return std::string(dtypeName(info.param.md)) + "_" + std::string(dtypeName(info.param.weight));
}

/// 1 / sqrt(mean(x^2) + eps) of each row of `cols` values.
inline std::vector<double> rstdOfRows(const std::vector<double> &x, size_t cols, double eps) {
  std::vector<double> rstd;
  for (size_t row = 0; row < x.size() / cols; ++row) {
    double squares = 0;
    for (size_t i = 0; i < cols; ++i)
      squares += x[row * cols + i] * x[row * cols + i];
    rstd.push_back(1 / std::sqrt(squares / static_cast<double>(cols) + eps));
  }
  return rstd;
}

/// a += b.
inline void addTo(std::vector<double> &a, const std::vector<double> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    a[i] += b[i];
}

} // namespace qrt::cpu::test

#endif // TESTS_UNIT_CPU_NORMCASE_H
