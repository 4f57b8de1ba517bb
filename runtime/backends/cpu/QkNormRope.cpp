// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Query and key of attention (docs/model.md, Full attention 2-3): RMSNorm per head, then rotation of the first
// `rotary_dims` in pairs (i, i + half) by the angle position * theta^(-2i / rotary_dims). The gradient rotates back and
// goes through the norm as in RmsNorm.cpp.
#include <cmath>

#include "runtime/backends/cpu/ColumnSums.h"
#include "runtime/backends/cpu/Rstd.h"

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

  void forward(float *x) const {
    for (int64_t i = 0; i < half; ++i) {
      float a = x[i], b = x[i + half];
      x[i] = a * cosines[i] - b * sines[i];
      x[i + half] = b * cosines[i] + a * sines[i];
    }
  }
  void backward(float *x) const {
    for (int64_t i = 0; i < half; ++i) {
      float a = x[i], b = x[i + half];
      x[i] = a * cosines[i] + b * sines[i];
      x[i + half] = b * cosines[i] - a * sines[i];
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

static void normAndRotate(const Heads &heads, int64_t token, double eps, const Rotation &rotation, float *x, float *w) {
  int64_t width = heads.in.cols();
  heads.weight.readRow(0, w);
  for (int64_t row = token * heads.count; row < (token + 1) * heads.count; ++row) {
    float r = rstdOfRow(heads.in, row, eps);
    heads.in.readRow(row, x);
    for (int64_t i = 0; i < width; ++i)
      x[i] = x[i] * r * (1.0f + w[i]);
    rotation.forward(x);
    heads.out.writeRow(row, x);
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
    float *x = headRow(memory, rotaryDims, width, 0), *w = headRow(memory, rotaryDims, width, 1);
    for (int64_t token = task * kTokens; token < tokens && token < (task + 1) * kTokens; ++token) {
      int64_t document = docs.document(token);
      if (document < 0) {
        clearHeads(q, token);
        clearHeads(k, token);
        continue;
      }
      rotation.setPosition(token - docs.begin(document));
      normAndRotate(q, token, eps, rotation, x, w);
      normAndRotate(k, token, eps, rotation, x, w);
    }
  });
}
static int64_t qkNormRopeScratch(const Call &call) { return threadBytes(call, call.params[2].i, 2); }
const KernelImpl kQkNormRope = {runQkNormRope, qkNormRopeScratch};

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

/// `line`: where the block's contributions to the weight's gradient are added up.
static void rotateBackAndNormGradient(const Heads &heads, const Rows &din, int64_t token, double eps,
                                      const Rotation &rotation, float *x, float *w, float *d, float *line) {
  int64_t width = heads.in.cols();
  heads.weight.readRow(0, w);
  for (int64_t row = token * heads.count; row < (token + 1) * heads.count; ++row) {
    float r = heads.rstd ? heads.rstd.scalar(row) : rstdOfRow(heads.in, row, eps);
    heads.in.readRow(row, x);
    heads.out.readRow(row, d);
    rotation.backward(d);
    float projection = 0;
    {
#pragma clang fp reassociate(on)
      for (int64_t i = 0; i < width; ++i)
        projection += d[i] * (1.0f + w[i]) * x[i];
    }
    float slope = projection * r / static_cast<float>(width) * r * r;
    for (int64_t i = 0; i < width; ++i) {
      float scaled = d[i] * r;
      line[i] += scaled * x[i];
      d[i] = scaled * (1.0f + w[i]) - slope * x[i];
    }
    din.writeRow(row, d);
  }
}

static void runQkNormRopeGrad(const Call &call) {
  Segments docs = call.segments(0);
  Heads q(call.args[1], call.args[3], call.args[5], call.args[7]);
  Heads k(call.args[2], call.args[4], call.args[6], call.args[8]);
  Rows dqIn(call.args[9]), dkIn(call.args[10]), dqWeight(call.args[11]), dkWeight(call.args[12]);
  double eps = call.params[0].f, theta = call.params[1].f;
  int64_t rotaryDims = call.params[2].i, width = q.in.cols();
  RowBlocks blocks(call.args[1].shape.dims[0]);
  // A thread's own memory, then the lines of all blocks, of q and k side by side.
  int64_t ownBytes = threadBytes(call, rotaryDims, 3);
  float *lines = reinterpret_cast<float *>(call.scratch + (ownBytes + 63) / 64 * 64 * call.threads.size());
  call.threads.forEach(blocks.count, [&](int64_t block, int thread) {
    std::byte *memory = call.scratch + (ownBytes + 63) / 64 * 64 * thread;
    Rotation rotation(memory, rotaryDims);
    rotation.setFrequencies(theta);
    float *x = headRow(memory, rotaryDims, width, 0), *w = headRow(memory, rotaryDims, width, 1);
    float *d = headRow(memory, rotaryDims, width, 2), *line = lines + block * 2 * width;
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
      rotateBackAndNormGradient(q, dqIn, token, eps, rotation, x, w, d, line);
      rotateBackAndNormGradient(k, dkIn, token, eps, rotation, x, w, d, line + width);
    }
  });
  addLines(call.threads, lines, 2 * width, blocks.count, dqWeight, call.accumulates(11));
  addLines(call.threads, lines + width, 2 * width, blocks.count, dkWeight, call.accumulates(12));
}
static int64_t qkNormRopeGradScratch(const Call &call) {
  int64_t width = call.args[1].shape.dims[2];
  return (threadBytes(call, call.params[2].i, 3) + 63) / 64 * 64 +
         shareOfScratch(call, columnSumBytes(call.args[1].shape.dims[0], 2 * width));
}
const KernelImpl kQkNormRopeGrad = {runQkNormRopeGrad, qkNormRopeGradScratch};

} // namespace qrt::cpu::QRT_ISA
