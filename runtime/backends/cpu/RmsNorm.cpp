// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMSNorm with zero-centred weight, alone or after the residual add (docs/model.md, Forward). Gradients, with n = x
// rstd and g = dy (1 + weight): dx = rstd (g - n mean(g n)), dweight = sum over rows of dy n.
#include "runtime/backends/cpu/ColumnSums.h"
#include "runtime/backends/cpu/Rstd.h"

namespace qrt::cpu::QRT_ISA {

static void normalizeRow(const Rows &x, const Rows &weight, const Rows &y, int64_t row, float rstd) {
  forBlocks(x.cols(), [&](int64_t col, int64_t n) {
    Buffer xBuffer, weightBuffer, yBuffer;
    const float *values = x.read(row, col, n, xBuffer), *w = weight.read(0, col, n, weightBuffer);
    float *out = y.open(row, col, yBuffer);
    for (int64_t i = 0; i < n; ++i)
      out[i] = values[i] * rstd * (1.0f + w[i]);
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

static void runAddRmsNorm(const Call &call) {
  Rows x(call.args[0]), delta(call.args[1]), weight(call.args[2]), sum(call.args[3]), y(call.args[4]);
  Rows rstd = Rows::ofScalars(call.args[5]);
  double eps = call.params[0].f;
  forRows(call.threads, x.count(), x.cols(), [&](int64_t row, int) {
    forBlocks(x.cols(), [&](int64_t col, int64_t n) {
      Buffer xBuffer, deltaBuffer, sumBuffer;
      const float *a = x.read(row, col, n, xBuffer), *b = delta.read(row, col, n, deltaBuffer);
      float *out = sum.open(row, col, sumBuffer);
      for (int64_t i = 0; i < n; ++i)
        out[i] = a[i] + b[i];
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
  RowBlocks blocks(x.count());
  float *lines = reinterpret_cast<float *>(call.scratch);
  call.threads.forEach(blocks.count, [&](int64_t block, int) {
    float *line = lines + block * cols;
    __builtin_memset(line, 0, cols * sizeof(float));
    for (int64_t row = blocks.begin(block); row < blocks.end(block); ++row) {
      float r = rstd ? rstd.scalar(row) : rstdOfRow(x, row, eps);
      double projection = 0;
      forBlocks(cols, [&](int64_t col, int64_t n) {
#pragma clang fp reassociate(on)
        Buffer xBuffer, weightBuffer, dyBuffer;
        const float *values = x.read(row, col, n, xBuffer), *w = weight.read(0, col, n, weightBuffer);
        const float *d = dy.read(row, col, n, dyBuffer);
        float total = 0;
        for (int64_t i = 0; i < n; ++i)
          total += d[i] * (1.0f + w[i]) * values[i];
        projection += total;
      });
      // mean(g n) rstd, so that dx = rstd g - x (rstd mean(g n) rstd).
      float slope = static_cast<float>(projection * r / static_cast<double>(cols)) * r * r;
      forBlocks(cols, [&](int64_t col, int64_t n) {
        Buffer xBuffer, weightBuffer, dyBuffer, dsumBuffer, dxBuffer;
        const float *values = x.read(row, col, n, xBuffer), *w = weight.read(0, col, n, weightBuffer);
        const float *d = dy.read(row, col, n, dyBuffer);
        float *out = dx.open(row, col, dxBuffer), *sums = line + col;
        for (int64_t i = 0; i < n; ++i) {
          float scaled = d[i] * r;
          sums[i] += scaled * values[i];
          out[i] = scaled * (1.0f + w[i]) - slope * values[i];
        }
        if (dsum) {
          const float *residual = dsum.read(row, col, n, dsumBuffer);
          for (int64_t i = 0; i < n; ++i)
            out[i] += residual[i];
        }
        dx.commit(row, col, n, dxBuffer);
      });
    }
  });
  addLines(call.threads, lines, cols, blocks.count, dweight, accumulate);
}

static int64_t normGradientScratch(const Call &call) {
  Rows x(call.args[0]);
  return shareOfScratch(call, columnSumBytes(x.count(), x.cols()));
}

static void runRmsNormGrad(const Call &call) {
  normGradient(call, Rows(call.args[0]), Rows(call.args[1]), Rows::ofScalars(call.args[2]), Rows(Tensor()),
               Rows(call.args[3]), Rows(call.args[4]), Rows(call.args[5]), call.accumulates(5));
}
const KernelImpl kRmsNormGrad = {runRmsNormGrad, normGradientScratch};

static void runAddRmsNormGrad(const Call &call) {
  normGradient(call, Rows(call.args[0]), Rows(call.args[1]), Rows::ofScalars(call.args[2]), Rows(call.args[3]),
               Rows(call.args[4]), Rows(call.args[5]), Rows(call.args[6]), call.accumulates(6));
}
const KernelImpl kAddRmsNormGrad = {runAddRmsNormGrad, normGradientScratch};

} // namespace qrt::cpu::QRT_ISA
