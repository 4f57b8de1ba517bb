// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/ColumnSums.h"

#include <cmath>

namespace qrt::cpu::QRT_ISA {

/// Blocks of a tensor that are summed on their own, before the sums are added in order: pieces of rows.
static constexpr int64_t kMostSums = 1024;

static double sumOfSquares(const float *x, int64_t n) {
#pragma clang fp reassociate(on)
  double total = 0;
  for (int64_t i = 0; i < n; ++i)
    total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}

static void runGlobalNorm(const Call &call) {
  double *sums = reinterpret_cast<double *>(call.scratch);
  double total = 0;
  for (const Tensor &gradient : call.args.subspan(1)) {
    Rows rows = Rows::ofElements(gradient);
    int64_t perRow = (rows.cols() + kBlock - 1) / kBlock, pieces = rows.count() * perRow;
    int64_t perSum = (pieces + kMostSums - 1) / kMostSums;
    perSum = perSum < 8 ? 8 : perSum;
    int64_t count = (pieces + perSum - 1) / perSum;
    call.threads.forEach(count, [&](int64_t task, int) {
      double sum = 0;
      for (int64_t piece = task * perSum; piece < pieces && piece < (task + 1) * perSum; ++piece) {
        Buffer buffer;
        int64_t row = piece / perRow, col = (piece - row * perRow) * kBlock;
        int64_t n = rows.cols() - col < kBlock ? rows.cols() - col : kBlock;
        sum += sumOfSquares(rows.read(row, col, n, buffer), n);
      }
      sums[task] = sum;
    });
    for (int64_t i = 0; i < count; ++i)
      total += sums[i];
  }
  *call.args[0].as<float>() = static_cast<float>(std::sqrt(total));
}
static int64_t globalNormScratch(const Call &call) {
  return shareOfScratch(call, kMostSums * static_cast<int64_t>(sizeof(double)));
}
const KernelImpl kGlobalNorm = {runGlobalNorm, globalNormScratch};

} // namespace qrt::cpu::QRT_ISA
