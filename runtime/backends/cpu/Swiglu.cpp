// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Rows.h"

namespace qrt::cpu::QRT_ISA {

static void swigluPiece(const float *__restrict gate, const float *__restrict up, float *__restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = fastSilu(gate[i]) * up[i];
}

static void runSwiglu(const Call &call) {
  Rows gate(call.args[0]), up(call.args[1]), y(call.args[2]);
  forRows(call.threads, y.count(), y.cols(), [&](int64_t row, int) {
    forBlocks(y.cols(), [&](int64_t col, int64_t n) {
      Buffer gateBuffer, upBuffer, yBuffer;
      swigluPiece(gate.read(row, col, n, gateBuffer), up.read(row, col, n, upBuffer), y.open(row, col, yBuffer), n);
      y.commit(row, col, n, yBuffer);
    });
  });
}
const KernelImpl kSwiglu = {runSwiglu};

/// With s = sigmoid(gate): dup = dy gate s, dgate = dy up s (1 + gate (1 - s)).
static void swigluGradPiece(const float *__restrict gate, const float *__restrict up, const float *__restrict dy,
                            float *__restrict dgate, float *__restrict dup, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    float s = fastSigmoid(gate[i]), silu = gate[i] * s;
    dup[i] = dy[i] * silu;
    dgate[i] = dy[i] * up[i] * (s + silu * (1.0f - s));
  }
}

static void runSwigluGrad(const Call &call) {
  Rows gate(call.args[0]), up(call.args[1]), dy(call.args[2]), dgate(call.args[3]), dup(call.args[4]);
  forRows(call.threads, dy.count(), dy.cols(), [&](int64_t row, int) {
    forBlocks(dy.cols(), [&](int64_t col, int64_t n) {
      Buffer gateBuffer, upBuffer, dyBuffer, dgateBuffer, dupBuffer;
      swigluGradPiece(gate.read(row, col, n, gateBuffer), up.read(row, col, n, upBuffer),
                      dy.read(row, col, n, dyBuffer), dgate.open(row, col, dgateBuffer), dup.open(row, col, dupBuffer),
                      n);
      dgate.commit(row, col, n, dgateBuffer);
      dup.commit(row, col, n, dupBuffer);
    });
  });
}
const KernelImpl kSwigluGrad = {runSwigluGrad};

} // namespace qrt::cpu::QRT_ISA
