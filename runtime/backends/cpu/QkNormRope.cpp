// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Query and key of attention (docs/model.md, Full attention 2-3): RMSNorm per head, then rotation of the first
// `rotary_dims` in pairs (i, i + half) by the angle position * theta^(-2i / rotary_dims). The gradient rotates back and
// goes through the norm as in NormRow.h.
#include "runtime/backends/cpu/ColumnSums.h"
#include "runtime/backends/cpu/NormRow.h"

#include <cmath>

namespace qrt::cpu::QRT_ISA {

namespace {

/// What one thread works with: memory from its scratch.
struct Rotation {
  int64_t half;
  /// [half] each: frequencies, the same for all tokens; sines and cosines of the token at hand.
  double *frequencies;
  float *sines, *cosines;

  static int64_t bytes(int64_t rotaryDims) {
    return rotaryDims / 2 * static_cast<int64_t>(sizeof(double) + 2 * sizeof(float));
  }

  Rotation(void *memory, int64_t rotaryDims) : half(rotaryDims / 2), frequencies(static_cast<double *>(memory)) {
    sines = reinterpret_cast<float *>(frequencies + half);
    cosines = sines + half;
  }

  /// The frequencies are f32 values, as the model defines them; the angles are exact products.
  void setFrequencies(double theta) const {
    for (int64_t i = 0; i < half; ++i) {
      float exponent = static_cast<float>(i) / static_cast<float>(half);
      frequencies[i] = 1.0f / static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    }
  }

  void setPosition(int64_t position) const {
    double p = static_cast<double>(position);
    for (int64_t i = 0; i < half; ++i)
      fastSinCos(p * frequencies[i], sines[i], cosines[i]);
  }

  /// Rotates the first 2 half elements of a row by the angles.
  void forward(float *x) const {
    float *low = x, *high = x + half;
    rotate(low, high, low, high, 1);
  }
  /// y = the row x of n elements rotated back.
  void backward(const float *__restrict x, float *__restrict y, int64_t n) const {
    rotate(x, x + half, y, y + half, -1);
    for (int64_t i = 2 * half; i < n; ++i)
      y[i] = x[i];
  }

private:
  void rotate(const float *low, const float *high, float *lowOut, float *highOut, float sign) const {
    // Iterations are independent: the outputs are the inputs, or elsewhere.
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < half; ++i) {
      float a = low[i], b = high[i], c = cosines[i], s = sign * sines[i];
      lowOut[i] = a * c - b * s;
      highOut[i] = b * c + a * s;
    }
  }
};

/// One of q and k: its heads are the rows token * heads + head.
struct Heads {
  Rows in, weight, rstd, out; // out: the result, or its cotangent
  int64_t count;

  Heads(const Tensor &in, const Tensor &weight, const Tensor &rstd, const Tensor &out)
      : in(in), weight(weight), rstd(Rows::ofScalars(rstd)), out(out), count(in.shape.dims[1]) {}
};

} // namespace

static int64_t alignedFloats(int64_t n) { return (n + 15) / 16 * 16; }

/// Bytes for a thread: the rotation, then rows of a head's width.
static int64_t threadBytes(const Call &call, int64_t rotaryDims, int64_t rowsOfHead) {
  int64_t width = alignedFloats(call.args[1].shape.dims[2]);
  return (Rotation::bytes(rotaryDims) + 63) / 64 * 64 + rowsOfHead * width * static_cast<int64_t>(sizeof(float));
}

static float *headRow(std::byte *memory, int64_t rotaryDims, int64_t width, int64_t row) {
  return reinterpret_cast<float *>(memory + (Rotation::bytes(rotaryDims) + 63) / 64 * 64) + row * alignedFloats(width);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// `w`: the weight; `xBuffer`, `yBuffer`: rows to work in.
static void normAndRotate(const Heads &heads, int64_t token, double eps, const Rotation &rotation, const float *w,
                          float *xBuffer, float *yBuffer) {
  for (int64_t row = token * heads.count; row < (token + 1) * heads.count; ++row) {
    heads.in.prefetchRow(row + 2);
    float r = rstdOfRow(heads.in, row, eps);
    float *y = heads.out.openRow(row, yBuffer);
    scalePiece(heads.in.peekRow(row, xBuffer), w, r, y, heads.in.cols());
    rotation.forward(y);
    heads.out.commitRow(row, y);
    if (heads.rstd)
      heads.rstd.scalar(row) = r;
  }
}

static void clearHeads(const Heads &heads, int64_t token) {
  for (int64_t row = token * heads.count; row < (token + 1) * heads.count; ++row) {
    heads.out.zero(row, 0, heads.out.cols());
    if (heads.rstd)
      heads.rstd.scalar(row) = 0;
  }
}

static void runQkNormRope(const Call &call) {
  Segments docs = call.segments(0);
  Heads q(call.args[1], call.args[3], call.args[7], call.args[5]);
  Heads k(call.args[2], call.args[4], call.args[8], call.args[6]);
  double eps = call.params[0].f, theta = call.params[1].f;
  int64_t rotaryDims = call.params[2].i, width = q.in.cols();
  assert(rotaryDims % 2 == 0 && rotaryDims <= width);
  constexpr int64_t kTokens = 8;
  int64_t tokens = call.args[1].shape.dims[0];
  call.threads.forEach((tokens + kTokens - 1) / kTokens, [&](int64_t task, int thread) {
    std::byte *memory = call.threadScratch<std::byte>(thread);
    Rotation rotation(memory, rotaryDims);
    rotation.setFrequencies(theta);
    float *x = headRow(memory, rotaryDims, width, 0), *y = headRow(memory, rotaryDims, width, 1);
    float *qWeight = headRow(memory, rotaryDims, width, 2), *kWeight = headRow(memory, rotaryDims, width, 3);
    q.weight.readRow(0, qWeight);
    k.weight.readRow(0, kWeight);
    for (int64_t token = task * kTokens; token < tokens && token < (task + 1) * kTokens; ++token) {
      int64_t document = docs.document(token);
      if (document < 0) {
        clearHeads(q, token);
        clearHeads(k, token);
        continue;
      }
      rotation.setPosition(token - docs.begin(document));
      normAndRotate(q, token, eps, rotation, qWeight, x, y);
      normAndRotate(k, token, eps, rotation, kWeight, x, y);
    }
  });
}
static int64_t qkNormRopeScratch(const Call &call) { return threadBytes(call, call.params[2].i, 4); }
const KernelImpl kQkNormRope = {runQkNormRope, qkNormRopeScratch};

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

/// `w`: the weight; `line`: where the block's contributions to its gradient are added up; the buffers: rows to work in.
static void rotateBackAndNormGradient(const Heads &heads, const Rows &din, int64_t token, double eps,
                                      const Rotation &rotation, const float *w, float *line, float *xBuffer, float *d,
                                      float *dxBuffer) {
  int64_t width = heads.in.cols();
  for (int64_t row = token * heads.count; row < (token + 1) * heads.count; ++row) {
    heads.in.prefetchRow(row + 2);
    heads.out.prefetchRow(row + 2);
    float r = heads.rstd ? heads.rstd.scalar(row) : rstdOfRow(heads.in, row, eps);
    const float *x = heads.in.peekRow(row, xBuffer);
    rotation.backward(heads.out.peekRow(row, dxBuffer), d, width);
    float slope = slopeOf(project(x, w, d, width), r, width);
    float *dx = din.openRow(row, dxBuffer);
    gradientPiece(x, w, d, r, slope, line, dx, width);
    din.commitRow(row, dx);
  }
}

static void runQkNormRopeGrad(const Call &call) {
  Segments docs = call.segments(0);
  Heads q(call.args[1], call.args[3], call.args[5], call.args[7]);
  Heads k(call.args[2], call.args[4], call.args[6], call.args[8]);
  Rows dqIn(call.args[9]), dkIn(call.args[10]), dqWeight(call.args[11]), dkWeight(call.args[12]);
  double eps = call.params[0].f, theta = call.params[1].f;
  int64_t rotaryDims = call.params[2].i, width = q.in.cols();
  RowBlocks blocks(call.args[1].shape.dims[0], 2 * width);
  // A thread's own memory, then the lines of all blocks, of q and k side by side.
  int64_t ownBytes = threadBytes(call, rotaryDims, 5);
  float *lines = reinterpret_cast<float *>(call.scratch + (ownBytes + 63) / 64 * 64 * call.threads.size());
  call.threads.forEach(blocks.count, [&](int64_t block, int thread) {
    std::byte *memory = call.scratch + (ownBytes + 63) / 64 * 64 * thread;
    Rotation rotation(memory, rotaryDims);
    rotation.setFrequencies(theta);
    float *x = headRow(memory, rotaryDims, width, 0), *d = headRow(memory, rotaryDims, width, 1);
    float *dx = headRow(memory, rotaryDims, width, 2), *line = lines + block * 2 * width;
    float *qWeight = headRow(memory, rotaryDims, width, 3), *kWeight = headRow(memory, rotaryDims, width, 4);
    q.weight.readRow(0, qWeight);
    k.weight.readRow(0, kWeight);
    __builtin_memset(line, 0, 2 * width * sizeof(float));
    for (int64_t token = blocks.begin(block); token < blocks.end(block); ++token) {
      int64_t document = docs.document(token);
      if (document < 0) {
        for (int64_t row = token * q.count; row < (token + 1) * q.count; ++row)
          dqIn.zero(row, 0, width);
        for (int64_t row = token * k.count; row < (token + 1) * k.count; ++row)
          dkIn.zero(row, 0, width);
        continue;
      }
      rotation.setPosition(token - docs.begin(document));
      rotateBackAndNormGradient(q, dqIn, token, eps, rotation, qWeight, line, x, d, dx);
      rotateBackAndNormGradient(k, dkIn, token, eps, rotation, kWeight, line + width, x, d, dx);
    }
  });
  addLines(call.threads, lines, 2 * width, blocks.count, dqWeight, call.accumulates(11));
  addLines(call.threads, lines + width, 2 * width, blocks.count, dkWeight, call.accumulates(12));
}
static int64_t qkNormRopeGradScratch(const Call &call) {
  int64_t width = call.args[1].shape.dims[2];
  return (threadBytes(call, call.params[2].i, 5) + 63) / 64 * 64 +
         shareOfScratch(call, columnSumBytes(call.args[1].shape.dims[0], 2 * width));
}
const KernelImpl kQkNormRopeGrad = {runQkNormRopeGrad, qkNormRopeGradScratch};

} // namespace qrt::cpu::QRT_ISA
