// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Rows.h"

namespace qrt::cpu::QRT_ISA {

static void runSwiglu(const Call &call) {
  Rows gate(call.args[0]), up(call.args[1]), y(call.args[2]);
  forRows(call.threads, y.count(), y.cols(), [&](int64_t row, int) {
    forBlocks(y.cols(), [&](int64_t col, int64_t n) {
      Buffer gateBuffer, upBuffer, yBuffer;
      const float *g = gate.read(row, col, n, gateBuffer), *u = up.read(row, col, n, upBuffer);
      float *out = y.open(row, col, yBuffer);
      for (int64_t i = 0; i < n; ++i)
        out[i] = fastSilu(g[i]) * u[i];
      y.commit(row, col, n, yBuffer);
    });
  });
}
const KernelImpl kSwiglu = {runSwiglu};

// With s = sigmoid(gate): dup = dy gate s, dgate = dy up s (1 + gate (1 - s)).
static void runSwigluGrad(const Call &call) {
  Rows gate(call.args[0]), up(call.args[1]), dy(call.args[2]), dgate(call.args[3]), dup(call.args[4]);
  forRows(call.threads, dy.count(), dy.cols(), [&](int64_t row, int) {
    forBlocks(dy.cols(), [&](int64_t col, int64_t n) {
      Buffer gateBuffer, upBuffer, dyBuffer, dgateBuffer, dupBuffer;
      const float *g = gate.read(row, col, n, gateBuffer), *u = up.read(row, col, n, upBuffer);
      const float *d = dy.read(row, col, n, dyBuffer);
      float *dg = dgate.open(row, col, dgateBuffer), *du = dup.open(row, col, dupBuffer);
      for (int64_t i = 0; i < n; ++i) {
        float x = g[i], dyUp = d[i] * u[i];
        float s = fastSigmoid(x), silu = x * s;
        du[i] = d[i] * silu;
        dg[i] = dyUp * (s + silu * (1.0f - s));
      }
      dgate.commit(row, col, n, dgateBuffer);
      dup.commit(row, col, n, dupBuffer);
    });
  });
}
const KernelImpl kSwigluGrad = {runSwigluGrad};

} // namespace qrt::cpu::QRT_ISA
