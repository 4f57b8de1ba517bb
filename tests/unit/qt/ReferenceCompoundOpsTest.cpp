// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compounds against what they are formed of, written with the ops of the model.
#include "tests/unit/qt/ReferenceHarness.h"

using namespace qt::reference;

namespace {

/// Evaluates a module whose @f returns a compound's results, then the same by model ops: as many, in order.
void expectHalvesAgree(const std::string &text, std::vector<Datum<double>> arguments, double tolerance = 1e-12) {
  std::vector<Datum<double>> results = evaluateText(text, std::move(arguments));
  ASSERT_FALSE(results.empty());
  size_t half = results.size() / 2;
  for (size_t i = 0; i < half; ++i)
    EXPECT_TRUE(agree(tensorOf(results[i]), tensorOf(results[half + i]), tolerance)) << "result " << i;
}

TEST(ReferenceCompoundOps, AddRmsNorm) {
  Random random(1);
  expectHalvesAgree(R"(
func.func @f(%x: tensor<?x8xf32>, %d: tensor<?x8xf32>, %w: tensor<8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>) {
  %sum, %y, %r = qt.add_rms_norm %x, %d, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>)
      -> tensor<?x8xf32>, tensor<?x8xf32> rstd tensor<?xf32>
  %sum1 = qt.add %x, %d : tensor<?x8xf32>, tensor<?x8xf32>
  %y1, %r1 = qt.rms_norm %sum1, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32> rstd tensor<?xf32>
  return %sum, %y, %r, %sum1, %y1, %r1 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>
})",
                    {randomNormal({5, 8}, random), randomNormal({5, 8}, random), randomNormal({8}, random)});
}

} // namespace
