// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The delta rule's output norm (docs/model.md, Gated DeltaNet 7): y = weight n silu(z), n = x rstd. Gradients, with s =
// sigmoid(z): dz = dy weight n (s + silu(z) (1 - s)); with e = dy silu(z) and g = e weight: dweight = sum e n, dx =
// rstd (g - n mean(g n)).
#include "runtime/backends/cpu/ColumnSums.h"
#include "runtime/backends/cpu/NormRow.h"

namespace qrt::cpu::QRT_ISA {

static void gatePiece(const float *__restrict x, const float *__restrict z, const float *__restrict weight, float rstd,
                      float *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = weight[i] * (x[i] * rstd) * fastSilu(z[i]);
}

static void runGatedRmsNorm(const Call &call) {
  Rows x(call.args[0]), z(call.args[1]), weight(call.args[2]), y(call.args[3]), rstd = Rows::ofScalars(call.args[4]);
  double eps = call.params[0].f;
  forRows(call.threads, x.count(), x.cols(), [&](int64_t row, int) {
    float r = rstdOfRow(x, row, eps);
    forBlocks(x.cols(), [&](int64_t col, int64_t n) {
      Buffer xBuffer, zBuffer, weightBuffer, yBuffer;
      gatePiece(x.read(row, col, n, xBuffer), z.read(row, col, n, zBuffer), weight.read(0, col, n, weightBuffer), r,
                y.open(row, col, yBuffer), n);
      y.commit(row, col, n, yBuffer);
    });
    if (rstd)
      rstd.scalar(row) = r;
  });
}
const KernelImpl kGatedRmsNorm = {runGatedRmsNorm};

/// g = dy silu(z) weight.
static void normCotangent(const float *__restrict z, const float *__restrict weight, const float *__restrict dy,
                          float *__restrict g, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    g[i] = dy[i] * fastSilu(z[i]) * weight[i];
}

/// Everything but dx: dz, the weight's sums, g; returns sum(g x).
static float gateGradient(const float *__restrict x, const float *__restrict z, const float *__restrict weight,
                          const float *__restrict dy, float rstd, float *__restrict dz, float *__restrict sums,
                          float *__restrict g, int64_t n) {
#pragma clang fp reassociate(on)
  float total = 0;
  for (int64_t i = 0; i < n; ++i) {
    float s = fastSigmoid(z[i]), silu = z[i] * s, normal = x[i] * rstd;
    float e = dy[i] * silu;
    dz[i] = dy[i] * (weight[i] * normal) * (s + silu * (1.0f - s));
    sums[i] += e * normal;
    float cotangent = e * weight[i];
    g[i] = cotangent;
    total += cotangent * x[i];
  }
  return total;
}

/// dx = rstd g - slope x.
static void combine(const float *__restrict x, const float *__restrict g, float rstd, float slope, float *__restrict dx,
                    int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    dx[i] = rstd * g[i] - slope * x[i];
}

static void runGatedRmsNormGrad(const Call &call) {
  Rows x(call.args[0]), z(call.args[1]), weight(call.args[2]), rstd = Rows::ofScalars(call.args[3]);
  Rows dy(call.args[4]), dx(call.args[5]), dz(call.args[6]), dweight(call.args[7]);
  double eps = call.params[0].f;
  int64_t cols = x.cols();
  sumColumns(call, x.count(), dweight, call.accumulates(7), [&](int64_t row, float *line) {
    // g stays here between the two passes, and is computed again for a head wider than that.
    Buffer g;
    Buffer xBuffer, zBuffer, weightBuffer, dyBuffer, resultBuffer;
    float r = rstd ? rstd.scalar(row) : rstdOfRow(x, row, eps);
    double projection = 0;
    forBlocks(cols, [&](int64_t col, int64_t n) {
      projection +=
          gateGradient(x.read(row, col, n, xBuffer), z.read(row, col, n, zBuffer), weight.read(0, col, n, weightBuffer),
                       dy.read(row, col, n, dyBuffer), r, dz.open(row, col, resultBuffer), line + col, g.values, n);
      dz.commit(row, col, n, resultBuffer);
    });
    float slope = slopeOf(projection, r, cols);
    forBlocks(cols, [&](int64_t col, int64_t n) {
      if (cols > kBlock)
        normCotangent(z.read(row, col, n, zBuffer), weight.read(0, col, n, weightBuffer),
                      dy.read(row, col, n, dyBuffer), g.values, n);
      combine(x.read(row, col, n, xBuffer), g.values, r, slope, dx.open(row, col, resultBuffer), n);
      dx.commit(row, col, n, resultBuffer);
    });
  });
}
const KernelImpl kGatedRmsNormGrad = {runGatedRmsNormGrad, columnSumScratch};

} // namespace qrt::cpu::QRT_ISA
