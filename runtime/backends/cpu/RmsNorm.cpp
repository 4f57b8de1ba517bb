// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMSNorm, alone or after the residual add; the mathematics is in NormRow.h.
#include "runtime/backends/cpu/ColumnSums.h"
#include "runtime/backends/cpu/NormRow.h"

namespace qrt::cpu::QRT_ISA {

static void normalizeRow(const Rows &x, const Rows &weight, const Rows &y, int64_t row, float rstd) {
  forBlocks(x.cols(), [&](int64_t col, int64_t n) {
    Buffer xBuffer, weightBuffer, yBuffer;
    scalePiece(x.read(row, col, n, xBuffer), weight.read(0, col, n, weightBuffer), rstd, y.open(row, col, yBuffer), n);
    y.commit(row, col, n, yBuffer);
  });
}

static void runRmsNorm(const Call &call) {
  Rows x(call.args[0]), weight(call.args[1]), y(call.args[2]), rstd = Rows::ofScalars(call.args[3]);
  double eps = call.params[0].f;
  forRows(call.threads, x.count(), x.cols(), [&](int64_t row, int) {
    float r = rstdOfRow(x, row, eps);
    normalizeRow(x, weight, y, row, r);
    if (rstd)
      rstd.scalar(row) = r;
  });
}
const KernelImpl kRmsNorm = {runRmsNorm};

static void addPiece(const float *__restrict a, const float *__restrict b, float *__restrict sum, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    sum[i] = a[i] + b[i];
}

static void runAddRmsNorm(const Call &call) {
  Rows x(call.args[0]), delta(call.args[1]), weight(call.args[2]), sum(call.args[3]), y(call.args[4]);
  Rows rstd = Rows::ofScalars(call.args[5]);
  double eps = call.params[0].f;
  forRows(call.threads, x.count(), x.cols(), [&](int64_t row, int) {
    forBlocks(x.cols(), [&](int64_t col, int64_t n) {
      Buffer xBuffer, deltaBuffer, sumBuffer;
      addPiece(x.read(row, col, n, xBuffer), delta.read(row, col, n, deltaBuffer), sum.open(row, col, sumBuffer), n);
      sum.commit(row, col, n, sumBuffer);
    });
    // The sum as it was stored is what the norm, and its gradient, are of.
    float r = rstdOfRow(sum, row, eps);
    normalizeRow(sum, weight, y, row, r);
    if (rstd)
      rstd.scalar(row) = r;
  });
}
const KernelImpl kAddRmsNorm = {runAddRmsNorm};

/// Both gradients: `dsum` (may be absent) is added to dx.
static void normGradient(const Call &call, const Rows &x, const Rows &weight, const Rows &rstd, const Rows &dsum,
                         const Rows &dy, const Rows &dx, const Rows &dweight, bool accumulate) {
  double eps = call.params[0].f;
  int64_t cols = x.cols();
  sumColumns(call, x.count(), dweight, accumulate, [&](int64_t row, float *line) {
    Buffer xBuffer, weightBuffer, dyBuffer, dsumBuffer, dxBuffer;
    float r = rstd ? rstd.scalar(row) : rstdOfRow(x, row, eps);
    double projection = 0;
    forBlocks(cols, [&](int64_t col, int64_t n) {
      projection += project(x.read(row, col, n, xBuffer), weight.read(0, col, n, weightBuffer),
                            dy.read(row, col, n, dyBuffer), n);
    });
    float slope = slopeOf(projection, r, cols);
    forBlocks(cols, [&](int64_t col, int64_t n) {
      float *out = dx.open(row, col, dxBuffer);
      gradientPiece(x.read(row, col, n, xBuffer), weight.read(0, col, n, weightBuffer), dy.read(row, col, n, dyBuffer),
                    r, slope, line + col, out, n);
      if (dsum) {
        const float *residual = dsum.read(row, col, n, dsumBuffer);
        for (int64_t i = 0; i < n; ++i)
          out[i] += residual[i];
      }
      dx.commit(row, col, n, dxBuffer);
    });
  });
}

static void runRmsNormGrad(const Call &call) {
  normGradient(call, Rows(call.args[0]), Rows(call.args[1]), Rows::ofScalars(call.args[2]), Rows(Tensor()),
               Rows(call.args[3]), Rows(call.args[4]), Rows(call.args[5]), call.accumulates(5));
}
const KernelImpl kRmsNormGrad = {runRmsNormGrad, columnSumScratch};

static void runAddRmsNormGrad(const Call &call) {
  normGradient(call, Rows(call.args[0]), Rows(call.args[1]), Rows::ofScalars(call.args[2]), Rows(call.args[3]),
               Rows(call.args[4]), Rows(call.args[5]), Rows(call.args[6]), call.accumulates(6));
}
const KernelImpl kAddRmsNormGrad = {runAddRmsNormGrad, columnSumScratch};

} // namespace qrt::cpu::QRT_ISA
