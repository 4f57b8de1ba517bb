// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the delta rule reads (docs/model.md, Gated DeltaNet 2 to 5): a causal convolution of each channel inside its
// document, silu, the division of queries and keys by their norm; beta and g. Channels are worked on a head at a time.
// `gatedDeltaInputsWide` is for heads of 128 channels and four taps, as the real models have: a warp takes one head, a
// lane four neighbouring channels, and goes through its tokens with the taps' window in registers. The general
// functions read the window again for every token.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_CUH

#include "Common.cuh"
#include "GatedDeltaInputs.h"

namespace qrt::device {

constexpr int kDeltaInputThreads = 32 * kDeltaInputWarps;

/// One head of q, k or v.
struct DeltaSection {
  /// 0: q, 1: k, 2: v.
  int part;
  /// Among those of its part.
  int head;
  /// Its channels are [channel, channel + width).
  int channel, width;
};

/// Head `index` of the heads of q, then k, then v.
__device__ __forceinline__ DeltaSection deltaSection(const DeltaInputs &in, int index) {
  DeltaSection s;
  s.part = index < in.keyHeads ? 0 : index < 2 * in.keyHeads ? 1 : 2;
  s.head = index - s.part * in.keyHeads;
  s.width = s.part == 2 ? in.dv : in.dk;
  s.channel = s.part * in.keyHeads * in.dk + s.head * s.width;
  return s;
}
__device__ __forceinline__ int deltaHeads(const DeltaInputs &in) { return 2 * in.keyHeads + in.valueHeads; }

template <typename T> __device__ __forceinline__ T *headRow(const HeadTensor &tensor, i64 token, int head) {
  return as<T>(tensor.data) + token * tensor.row + head * tensor.head;
}

/// An element of a vector of f32 or bf16.
__device__ __forceinline__ float loadEither(Ptr vector, i64 i, int bytes) {
  return bytes == 2 ? toFloat(as<const bf16>(vector)[i]) : as<const float>(vector)[i];
}

/// log(1 + e^x).
__device__ __forceinline__ float softplus(float x) { return fmaxf(x, 0.0f) + log1pf(__expf(-fabsf(x))); }

//===----------------------------------------------------------------------===//
// beta and g
//===----------------------------------------------------------------------===//

/// The tokens [begin, end) of beta and g, all heads, by the block's threads; zeros from token `live`.
template <typename T>
__device__ __forceinline__ void deltaGates(const GatedDeltaInputsParams &p, int begin, int end, int live) {
  int heads = p.in.valueHeads, count = (end - begin) * heads;
#pragma unroll 4
  for (int i = threadIdx.x; i < count; i += kDeltaInputThreads) {
    int t = begin + i / heads, head = i % heads;
    float g = 0, beta = 0;
    if (t < live) {
      float z = toFloat(*headRow<const T>(p.in.a, t, head)) + loadEither(p.in.dtBias, head, p.in.dtBiasBytes);
      g = -expf(loadEither(p.in.aLog, head, p.in.aLogBytes)) * softplus(z);
      beta = sigmoid(toFloat(*headRow<const T>(p.in.b, t, head)));
    }
    *headRow<float>(p.g, t, head) = g;
    *headRow<T>(p.beta, t, head) = fromFloat<T>(beta);
  }
}

//===----------------------------------------------------------------------===//
// Heads of 128 channels, four taps
//===----------------------------------------------------------------------===//

/// Four neighbours of bf16 as they are stored: a lane's share of a head.
__device__ __forceinline__ uint2 loadFour(const bf16 *from) { return *reinterpret_cast<const uint2 *>(from); }
__device__ __forceinline__ void storeFour(bf16 *to, const float (&x)[4]) {
  // As one number: it is stored at once.
  *reinterpret_cast<unsigned long long *>(to) =
      static_cast<unsigned long long>(packBf16(x[2], x[3])) << 32 | packBf16(x[0], x[1]);
}
__device__ __forceinline__ void unpackFour(uint2 pairs, float (&to)[4]) {
  to[0] = lowBf16(pairs.x), to[1] = highBf16(pairs.x), to[2] = lowBf16(pairs.y), to[3] = highBf16(pairs.y);
}

/// Bit i: token begin + i begins a document; begin + i < live, i < 64.
__device__ __forceinline__ unsigned long long documentStarts(const Segments &docs, int begin, int live) {
  int lane = threadIdx.x % 32;
  unsigned halves[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int t = begin + 32 * half + lane;
    bool starts = t < live && (t == 0 || documentOf(docs, t) != documentOf(docs, t - 1));
    halves[half] = __ballot_sync(0xFFFFFFFFu, starts);
  }
  return static_cast<unsigned long long>(halves[1]) << 32 | halves[0];
}

/// A lane's channels of the convolution.
struct DeltaWindow {
  /// [tap][channel]; the last tap is the present token's.
  float weight[4][4];
  /// Inputs of the last three tokens, the latest last; zeros where they are not in the document.
  float before[3][4];

  /// Of channel `channel`, x[k] to x[k + 3] being the inputs of the present token and the three before it.
  template <int kCount>
  __device__ __forceinline__ float convolve(const float (&x)[kCount][4], int k, int channel) const {
    float u = weight[0][channel] * x[k][channel];
#pragma unroll
    for (int j = 1; j < 4; ++j)
      u = fmaf(weight[j][channel], x[k + j][channel], u);
    return u;
  }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c)
        before[i][c] = 0;
  }

  /// For a warp that begins at token `begin` < live, with inputs at `x` + token * row.
  __device__ __forceinline__ void load(const DeltaInputs &in, int channel, const bf16 *x, int begin, bool starts) {
    const bf16 *weights = as<const bf16>(in.convWeight) + static_cast<i64>(channel) * 4;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float taps[4];
      unpackFour(loadFour(weights + 4 * c), taps);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        weight[j][c] = taps[j];
    }
    clear();
    if (starts)
      return;
    int document = documentOf(in.docs, begin);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      int t = begin - 3 + i;
      if (t >= 0 && documentOf(in.docs, t) == document)
        unpackFour(loadFour(x + t * in.qkv.row), before[i]);
    }
  }
};

/// The sums over the warp's lanes of one value, or of four: of value lane / 8 in each lane.
__device__ __forceinline__ float warpSums(const float (&x)[1]) { return warpSum(x[0]); }
__device__ __forceinline__ float warpSums(const float (&x)[4]) {
  auto exchange = [](float lower, float upper, int bit) {
    bool isUpper = threadIdx.x & bit;
    return (isUpper ? upper : lower) + __shfl_xor_sync(0xFFFFFFFFu, isUpper ? lower : upper, bit);
  };
  float sum = exchange(exchange(x[0], x[2], 16), exchange(x[1], x[3], 16), 8);
#pragma unroll
  for (int offset = 4; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  return sum;
}

/// kCount tokens of one document, all or none of them normalized; row k to `to` + k * row.
template <int kCount>
__device__ __forceinline__ void deltaTokens(DeltaWindow &window, const uint2 (&raw)[kCount], bool normalized, float eps,
                                            bf16 *to, i64 row) {
  float x[3 + kCount][4], c[kCount][4], squares[kCount];
#pragma unroll
  for (int i = 0; i < 3; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      x[i][j] = window.before[i][j];
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    unpackFour(raw[k], x[3 + k]);
    squares[k] = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float u = window.convolve(x, k, i);
      c[k][i] = u * sigmoid(u);
      squares[k] = fmaf(c[k][i], c[k][i], squares[k]);
    }
  }
#pragma unroll
  for (int i = 0; i < 3; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      window.before[i][j] = x[kCount + i][j];
  if (normalized) {
    // A lane has the whole sum of one token.
    float norm = rsqrtf(warpSums(squares) + eps);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      float ofToken = __shfl_sync(0xFFFFFFFFu, norm, k * 32 / kCount);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        c[k][i] *= ofToken;
    }
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k, to += row)
    storeFour(to, c[k]);
}

/// Grid: a block for every four heads and one for the gates along x, 32 tokens along y.
__global__ void __launch_bounds__(kDeltaInputThreads, 5)
    gatedDeltaInputsWide(const __grid_constant__ GatedDeltaInputsParams p) {
  int begin = blockIdx.y * kDeltaInputTokens, end = min(begin + kDeltaInputTokens, p.in.tokens);
  int live = min(end, segmentTokens(p.in.docs));
  if (blockIdx.x == gridDim.x - 1)
    return deltaGates<bf16>(p, begin, end, live);
  int index = blockIdx.x * kDeltaInputWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (index >= deltaHeads(p.in))
    return;
  DeltaSection section = deltaSection(p.in, index);
  int channel = section.channel + 4 * lane;
  const bf16 *x = as<const bf16>(p.in.qkv.data) + channel;
  const HeadTensor &out = section.part == 0 ? p.q : section.part == 1 ? p.k : p.v;
  bf16 *y = headRow<bf16>(out, 0, section.head) + 4 * lane;
  i64 row = p.in.qkv.row, outRow = out.row;

  if (begin < live) {
    const bf16 *from = x + begin * row;
    bf16 *to = y + begin * outRow;
    bool normalized = section.part < 2;
    // The next four tokens, where there are so many; else any, so that the loads have no condition.
    uint2 next[4];
    auto loadNext = [&](int t) {
      const bf16 *at = t + 4 <= live ? from : x + begin * row;
      i64 step = t + 4 <= live ? row : 0;
#pragma unroll
      for (int k = 0; k < 4; ++k, at += step)
        next[k] = loadFour(at);
      from += 4 * row;
    };
    loadNext(begin);
    unsigned long long starts = documentStarts(p.in.docs, begin, live);
    DeltaWindow window;
    window.load(p.in, channel, x, begin, starts & 1);
    for (int t = begin; t < live; t += 4, starts >>= 4) {
      if (t + 4 <= live && (starts & 15) == 0) {
        uint2 raw[4] = {next[0], next[1], next[2], next[3]};
        loadNext(t + 4);
        deltaTokens(window, raw, normalized, p.in.eps, to, outRow);
        to += 4 * outRow;
        continue;
      }
      int count = min(4, live - t);
#pragma unroll 1
      for (int k = 0; k < count; ++k, to += outRow) {
        if (starts >> k & 1)
          window.clear();
        uint2 raw[1] = {loadFour(x + (t + k) * row)};
        deltaTokens(window, raw, normalized, p.in.eps, to, outRow);
      }
      loadNext(t + 4);
    }
  }
  for (int t = max(begin, live); t < end; ++t)
    *reinterpret_cast<uint2 *>(y + t * outRow) = make_uint2(0, 0);
}

//===----------------------------------------------------------------------===//
// Any widths and taps
//===----------------------------------------------------------------------===//

/// The convolution of one channel at token t of a document that begins at `document`.
template <typename T>
__device__ __forceinline__ float convolve(const DeltaInputs &in, int channel, int t, int document) {
  const T *x = as<const T>(in.qkv.data) + channel, *weight = as<const T>(in.convWeight) + channel * in.weightRow;
  float u = 0;
  for (int j = 0; j < in.taps; ++j) {
    int from = t - in.taps + 1 + j;
    if (from >= document)
      u = fmaf(toFloat(weight[j]), toFloat(x[from * in.qkv.row]), u);
  }
  return u;
}

/// A warp a token and head. Grid: blocks of four heads along x, tokens along y.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaInputs(const __grid_constant__ GatedDeltaInputsParams p) {
  int index = blockIdx.x * kDeltaInputWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (index >= deltaHeads(p.in))
    return;
  DeltaSection section = deltaSection(p.in, index);
  const HeadTensor &out = section.part == 0 ? p.q : section.part == 1 ? p.k : p.v;
  int live = segmentTokens(p.in.docs);
  for (int t = blockIdx.y; t < p.in.tokens; t += gridDim.y) {
    T *y = headRow<T>(out, t, section.head);
    if (t >= live) {
      for (int c = lane; c < section.width; c += 32)
        y[c] = fromFloat<T>(0);
      continue;
    }
    int document = documentBegin(p.in.docs, documentOf(p.in.docs, t));
    float norm = 1;
    if (section.part < 2) {
      float sum = 0;
      for (int c = lane; c < section.width; c += 32) {
        float u = convolve<T>(p.in, section.channel + c, t, document), silu = u * sigmoid(u);
        sum = fmaf(silu, silu, sum);
      }
      norm = rsqrtf(warpSum(sum) + p.in.eps);
    }
    for (int c = lane; c < section.width; c += 32) {
      float u = convolve<T>(p.in, section.channel + c, t, document);
      y[c] = fromFloat<T>(u * sigmoid(u) * norm);
    }
  }
}

/// 32 tokens a block.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaGates(const __grid_constant__ GatedDeltaInputsParams p) {
  int begin = blockIdx.x * kDeltaInputTokens, end = min(begin + kDeltaInputTokens, p.in.tokens);
  deltaGates<T>(p, begin, end, min(end, segmentTokens(p.in.docs)));
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_CUH
