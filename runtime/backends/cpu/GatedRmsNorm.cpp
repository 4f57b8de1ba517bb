// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The delta rule's output norm (docs/model.md, Gated DeltaNet 7): y = weight n silu(z), n = x rstd. Gradients, with s =
// sigmoid(z): dz = dy weight n (s + silu(z) (1 - s)); with e = dy silu(z) and g = e weight: dweight = sum e n, dx =
// rstd (g - n mean(g n)).
#include "runtime/backends/cpu/ColumnSums.h"
#include "runtime/backends/cpu/Rstd.h"

namespace qrt::cpu::QRT_ISA {

static void runGatedRmsNorm(const Call &call) {
  Rows x(call.args[0]), z(call.args[1]), weight(call.args[2]), y(call.args[3]), rstd = Rows::ofScalars(call.args[4]);
  double eps = call.params[0].f;
  forRows(call.threads, x.count(), x.cols(), [&](int64_t row, int) {
    float r = rstdOfRow(x, row, eps);
    forBlocks(x.cols(), [&](int64_t col, int64_t n) {
      Buffer xBuffer, zBuffer, weightBuffer, yBuffer;
      const float *values = x.read(row, col, n, xBuffer), *gate = z.read(row, col, n, zBuffer);
      const float *w = weight.read(0, col, n, weightBuffer);
      float *out = y.open(row, col, yBuffer);
      for (int64_t i = 0; i < n; ++i)
        out[i] = w[i] * (values[i] * r) * fastSilu(gate[i]);
      y.commit(row, col, n, yBuffer);
    });
    if (rstd)
      rstd.scalar(row) = r;
  });
}
const KernelImpl kGatedRmsNorm = {runGatedRmsNorm};

static void runGatedRmsNormGrad(const Call &call) {
  Rows x(call.args[0]), z(call.args[1]), weight(call.args[2]), rstd = Rows::ofScalars(call.args[3]);
  Rows dy(call.args[4]), dx(call.args[5]), dz(call.args[6]), dweight(call.args[7]);
  double eps = call.params[0].f;
  int64_t cols = x.cols();
  RowBlocks blocks(x.count());
  float *lines = reinterpret_cast<float *>(call.scratch);
  call.threads.forEach(blocks.count, [&](int64_t block, int) {
    float *line = lines + block * cols;
    __builtin_memset(line, 0, cols * sizeof(float));
    for (int64_t row = blocks.begin(block); row < blocks.end(block); ++row) {
      float r = rstd ? rstd.scalar(row) : rstdOfRow(x, row, eps);
      // First dz and sum(g x); g stays in `kept`, and is computed again for a head wider than that.
      Buffer kept;
      double projection = 0;
      auto gateGradient = [&](int64_t col, int64_t n, float *g, bool first) {
#pragma clang fp reassociate(on)
        Buffer xBuffer, zBuffer, weightBuffer, dyBuffer, dzBuffer;
        const float *values = x.read(row, col, n, xBuffer), *gate = z.read(row, col, n, zBuffer);
        const float *w = weight.read(0, col, n, weightBuffer), *d = dy.read(row, col, n, dyBuffer);
        if (!first) {
          for (int64_t i = 0; i < n; ++i)
            g[i] = d[i] * fastSilu(gate[i]) * w[i];
          return;
        }
        float *out = dz.open(row, col, dzBuffer), *sums = line + col;
        float total = 0;
        for (int64_t i = 0; i < n; ++i) {
          float s = fastSigmoid(gate[i]), silu = gate[i] * s, normal = values[i] * r;
          float e = d[i] * silu;
          out[i] = d[i] * (w[i] * normal) * (s + silu * (1.0f - s));
          sums[i] += e * normal;
          g[i] = e * w[i];
          total += g[i] * values[i];
        }
        projection += total;
        dz.commit(row, col, n, dzBuffer);
      };
      forBlocks(cols, [&](int64_t col, int64_t n) { gateGradient(col, n, kept.values, true); });
      float slope = static_cast<float>(projection * r / static_cast<double>(cols)) * r * r;
      forBlocks(cols, [&](int64_t col, int64_t n) {
        Buffer xBuffer, dxBuffer;
        if (cols > kBlock)
          gateGradient(col, n, kept.values, false);
        const float *values = x.read(row, col, n, xBuffer), *g = kept.values;
        float *out = dx.open(row, col, dxBuffer);
        for (int64_t i = 0; i < n; ++i)
          out[i] = r * g[i] - slope * values[i];
        dx.commit(row, col, n, dxBuffer);
      });
    }
  });
  addLines(call.threads, lines, cols, blocks.count, dweight, call.accumulates(7));
}

static int64_t gatedRmsNormGradScratch(const Call &call) {
  Rows x(call.args[0]);
  return shareOfScratch(call, columnSumBytes(x.count(), x.cols()));
}
const KernelImpl kGatedRmsNormGrad = {runGatedRmsNormGrad, gatedRmsNormGradScratch};

} // namespace qrt::cpu::QRT_ISA
