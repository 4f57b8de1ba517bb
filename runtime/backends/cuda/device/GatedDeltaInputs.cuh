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
#include "HeadStages.cuh"

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

/// What the segment table says of the tokens [begin, begin + kTokens) that a warp walks through.
struct DeltaSpan {
  /// Bit i: token begin + i begins a document.
  unsigned long long starts;
  /// Of the three tokens before the first: how many are in its document.
  int before;
};

/// The document of a token that may be before the first or past the last: then it is none of any token's.
__device__ __forceinline__ int documentOrNone(const Segments &docs, int t) {
  return t >= 0 && t < docs.tokens ? documentOf(docs, t) : -2;
}

/// By all lanes of a warp; kTokens is 32 or 64, `begin` is in a document. Without loads that wait for others.
template <int kTokens> __device__ __forceinline__ DeltaSpan deltaSpan(const Segments &docs, int begin) {
  constexpr int kWords = kTokens / 32;
  constexpr unsigned kAll = 0xFFFFFFFFu;
  int lane = threadIdx.x % 32;
  int words[kWords], previous = documentOrNone(docs, begin - 32 + lane), first = documentOrNone(docs, begin);
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    words[i] = documentOrNone(docs, begin + 32 * i + lane);
  DeltaSpan span{0, __popc(__ballot_sync(kAll, lane >= 29 && previous == first))};
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    int left = __shfl_up_sync(kAll, words[i], 1), last = __shfl_sync(kAll, previous, 31);
    bool starts = words[i] >= 0 && words[i] != (lane > 0 ? left : last);
    span.starts |= static_cast<unsigned long long>(__ballot_sync(kAll, starts)) << 32 * i;
    previous = words[i];
  }
  return span;
}

/// A lane's channels of the convolution.
struct DeltaWindow {
  /// [tap][channel]; the last tap is the present token's.
  float weight[4][4];
  /// Inputs of the last three tokens as they are stored, the latest last; zeros where they are not in the document.
  uint2 before[3];

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
      before[i] = make_uint2(0, 0);
  }
  /// The next kCount tokens: x[3] on are theirs, x[0] to x[2] those of the three before.
  template <int kCount> __device__ __forceinline__ void push(const uint2 (&raw)[kCount], float (&x)[3 + kCount][4]) {
#pragma unroll
    for (int i = 0; i < 3 + kCount; ++i)
      unpackFour(i < 3 ? before[i] : raw[i - 3], x[i]);
    uint2 latest[3];
#pragma unroll
    for (int i = 0; i < 3; ++i)
      latest[i] = kCount + i < 3 ? before[kCount + i] : raw[kCount + i - 3];
#pragma unroll
    for (int i = 0; i < 3; ++i)
      before[i] = latest[i];
  }

  /// Of channels `channel` to `channel` + 3, times `scale`.
  __device__ __forceinline__ void loadWeights(const DeltaInputs &in, int channel, float scale = 1) {
    const bf16 *weights = as<const bf16>(in.convWeight) + static_cast<i64>(channel) * 4;
    uint2 taps[4];
#pragma unroll
    for (int c = 0; c < 4; ++c)
      taps[c] = loadFour(weights + 4 * c);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float ofChannel[4];
      unpackFour(taps[c], ofChannel);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        weight[j][c] = scale * ofChannel[j];
    }
  }
  /// For a warp that begins at token `begin`; `count` of the three tokens before are in its document. No load waits for
  /// another: the others are dropped when they are there.
  __device__ __forceinline__ void load(const DeltaInputs &in, int channel, int begin, int count) {
    const bf16 *x = as<const bf16>(in.qkv.data) + channel;
#pragma unroll
    for (int i = 0; i < 3; ++i)
      before[i] = loadFour(x + max(begin - 3 + i, 0) * in.qkv.row);
    loadWeights(in, channel);
#pragma unroll
    for (int i = 0; i < 3; ++i)
      if (i < 3 - count)
        before[i] = make_uint2(0, 0);
  }
};

/// kCount tokens of one document; row k to `to` + k * row.
template <bool kNormalized, int kCount>
__device__ __forceinline__ void deltaTokens(DeltaWindow &window, const uint2 (&raw)[kCount], float eps, bf16 *to,
                                            i64 row) {
  float x[3 + kCount][4], c[kCount][4], squares[kCount];
  window.push(raw, x);
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    squares[k] = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float u = window.convolve(x, k, i);
      c[k][i] = u * sigmoid(u);
      squares[k] = fmaf(c[k][i], c[k][i], squares[k]);
    }
  }
  if constexpr (kNormalized) {
    // A lane has the whole sum of one token.
    float norm = approximateInverseRoot(warpSumsAcross(squares) + eps);
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

/// The tokens [begin, live) of one head, none of them in the tail, by one warp; rows to `to`, `row` apart.
template <bool kNormalized>
__device__ __forceinline__ void deltaHead(const GatedDeltaInputsParams &p, int index, int channel, int begin, int live,
                                          int warp, Barrier *barriers, bf16 *to, i64 row) {
  // All of the warp's tokens are on their way at once.
  constexpr int kGroups = kDeltaInputGroups, kStep = 4;
  HeadStages<1, kGroups> stages(barriers, warp);
  const HeadSource sources[1] = {{&p.qkvMap, index}};
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int group = 0; group < kGroups; ++group)
      if (begin + group * kHeadGroup < live)
        stages.fetch(group, sources, begin + group * kHeadGroup);
  }
  __syncwarp();
  DeltaSpan span = deltaSpan<kDeltaInputTokens>(p.in.docs, begin);
  DeltaWindow window;
  window.load(p.in, channel, begin, span.before);
  unsigned starts = static_cast<unsigned>(span.starts);
#pragma unroll 1
  for (int t = begin; t < live; t += kStep, starts >>= kStep) {
    int group = (t - begin) / kHeadGroup, first = (t - begin) % kHeadGroup, count = min(kStep, live - t);
    if (first == 0)
      stages.wait(group);
    if (count == kStep && (starts & ((1 << kStep) - 1)) == 0) {
      uint2 raw[kStep];
#pragma unroll
      for (int k = 0; k < kStep; ++k)
        raw[k] = stages.take(group, 0, first + k);
      deltaTokens<kNormalized>(window, raw, p.in.eps, to, row);
      to += kStep * row;
      continue;
    }
#pragma unroll 1
    for (int k = 0; k < count; ++k, to += row) {
      if (starts >> k & 1)
        window.clear();
      uint2 raw[1] = {stages.take(group, 0, first + k)};
      deltaTokens<kNormalized>(window, raw, p.in.eps, to, row);
    }
  }
}

/// Grid: a block for every four heads and one for the gates along x, 32 tokens along y.
__global__ void __launch_bounds__(kDeltaInputThreads, 6)
    gatedDeltaInputsWide(const __grid_constant__ GatedDeltaInputsParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  __shared__ Barrier barriers[kDeltaInputWarps][kDeltaInputGroups];
  int begin = blockIdx.y * kDeltaInputTokens, end = min(begin + kDeltaInputTokens, p.in.tokens);
  int live = min(end, segmentTokens(p.in.docs));
  if (blockIdx.x == gridDim.x - 1)
    return deltaGates<bf16>(p, begin, end, live);
  int warp = warpIndex(), index = blockIdx.x * kDeltaInputWarps + warp, lane = threadIdx.x % 32;
  if (index >= deltaHeads(p.in))
    return;
  DeltaSection section = deltaSection(p.in, index);
  int channel = section.channel + 4 * lane;
  const HeadTensor &out = section.part == 0 ? p.q : section.part == 1 ? p.k : p.v;
  bf16 *y = headRow<bf16>(out, 0, section.head) + 4 * lane;
  i64 row = out.row;
  if (begin < live) {
    if (section.part < 2)
      deltaHead<true>(p, index, channel, begin, live, warp, barriers[warp], y + begin * row, row);
    else
      deltaHead<false>(p, index, channel, begin, live, warp, barriers[warp], y + begin * row, row);
  }
  for (int t = max(begin, live); t < end; ++t)
    *reinterpret_cast<uint2 *>(y + t * row) = make_uint2(0, 0);
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
  awaitEarlierGrids();
  admitNextGrid();
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
  awaitEarlierGrids();
  admitNextGrid();
  int begin = blockIdx.x * kDeltaInputTokens, end = min(begin + kDeltaInputTokens, p.in.tokens);
  deltaGates<T>(p, begin, end, min(end, segmentTokens(p.in.docs)));
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTAINPUTS_CUH
