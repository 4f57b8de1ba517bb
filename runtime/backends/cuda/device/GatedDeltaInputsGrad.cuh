// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of GatedDeltaInputs.cuh. With u the convolution, s = sigmoid(u), c = u s: dc = dv, or for queries and
// keys (dy - y (y.dy)) / |c| with y = c / |c|; du = dc (s + c (1 - s)); dx_t = sum over taps j of w_j du_(t + taps - 1
// - j) inside the document; dw_j = sum over t of du_t x_(t - taps + 1 + j). Convolution and norm are computed again.
#include "GatedDeltaInputs.cuh"

namespace qrt::device {

//===----------------------------------------------------------------------===//
// beta and g
//===----------------------------------------------------------------------===//

/// db, da of the tokens [begin, end) of a block, 32 heads from `head`, and the line's sums for a_log and dt_bias; zeros
/// from token `live`. Whole blocks; a barrier before the next call.
template <typename T>
__device__ __forceinline__ void deltaGatesGrad(const GatedDeltaInputsGradParams &p, int head, int begin, int end,
                                               int live, float *line) {
  __shared__ float shared[2][kDeltaInputWarps][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, h = head + lane;
  float dALog = 0, dBias = 0;
  if (h < p.in.valueHeads) {
    float rate = -expf(loadEither(p.in.aLog, h, p.in.aLogBytes)), bias = loadEither(p.in.dtBias, h, p.in.dtBiasBytes);
#pragma unroll 4
    for (int t = begin + warp; t < end; t += kDeltaInputWarps) {
      float db = 0, da = 0;
      if (t < live) {
        float z = toFloat(*headRow<const T>(p.in.a, t, h)) + bias;
        float beta = sigmoid(toFloat(*headRow<const T>(p.in.b, t, h)));
        float scaled = *headRow<const float>(p.dg, t, h) * rate;
        db = loadEither(p.dbeta.data, t * p.dbeta.row + h * p.dbeta.head, p.dbetaBytes) * beta * (1.0f - beta);
        da = scaled * sigmoid(z);
        dALog = fmaf(scaled, softplus(z), dALog);
        dBias += da;
      }
      *headRow<T>(p.db, t, h) = fromFloat<T>(db);
      *headRow<T>(p.da, t, h) = fromFloat<T>(da);
    }
  }
  shared[0][warp][lane] = dALog;
  shared[1][warp][lane] = dBias;
  __syncthreads();
  if (warp < 2 && h < p.in.valueHeads) {
    float sum = 0;
#pragma unroll
    for (int w = 0; w < kDeltaInputWarps; ++w)
      sum += shared[warp][w][lane];
    line[warp * p.in.valueHeads + h] = sum;
  }
}

//===----------------------------------------------------------------------===//
// Heads of 128 channels, four taps
//===----------------------------------------------------------------------===//

/// One warp on its way through the tokens of a head. kNormalized: of queries or keys.
template <bool kNormalized> struct DeltaGradWalk {
  DeltaWindow window;
  /// du of the last three tokens, the latest last; zeros where they are not in the document.
  float du[3][4];
  float dweight[4][4];
  /// The row of dx that the present token completes: three before it.
  bf16 *dx;
  i64 dxRow;
  float eps;
  /// Rows of dx that this warp has yet to write begin here: those before belong to another warp or are written.
  int first;

  __device__ __forceinline__ void clearDu() {
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c)
        du[i][c] = 0;
  }

  /// Before token t, which takes no part in the gradients of the tokens before it: writes those of them that are below
  /// `limit`.
  __device__ __forceinline__ void finish(int t, int limit) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      float out[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        out[c] = window.weight[3][c] * du[i][c];
#pragma unroll
        for (int k = i + 1; k < 3; ++k)
          out[c] = fmaf(window.weight[3 - (k - i)][c], du[k][c], out[c]);
      }
      if (int row = t - 3 + i; row >= first && row < limit)
        storeFour(dx + i * dxRow, out);
    }
    clearDu();
    first = t;
  }
  /// Token t begins a document.
  __device__ __forceinline__ void start(int t) {
    finish(t, t);
    window.clear();
  }

  /// The next kCount tokens. kOwn: they count for the weight's gradient. `writes`: the rows that they complete are this
  /// warp's.
  template <bool kOwn, int kCount>
  __device__ __forceinline__ void advance(const uint2 (&rawX)[kCount], const uint2 (&rawDy)[kCount], bool writes) {
    float x[3 + kCount][4], c[kCount][4], s[kCount][4], dy[kCount][4];
    window.push(rawX, x);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      unpackFour(rawDy[k], dy[k]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float u = window.convolve(x, k, i);
        s[k][i] = sigmoid(u);
        c[k][i] = u * s[k][i];
      }
    }
    if constexpr (kNormalized) {
      // Of each token the sum of squares, then of products.
      float sums[2 * kCount] = {};
#pragma unroll
      for (int k = 0; k < kCount; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          sums[2 * k] = fmaf(c[k][i], c[k][i], sums[2 * k]);
          sums[2 * k + 1] = fmaf(c[k][i], dy[k][i], sums[2 * k + 1]);
        }
      warpSums(sums);
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        float norm = approximateInverseRoot(sums[2 * k] + eps), projection = sums[2 * k + 1] * norm * norm;
#pragma unroll
        for (int i = 0; i < 4; ++i)
          dy[k][i] = norm * (dy[k][i] - c[k][i] * projection);
      }
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      float out[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        // The oldest first, which makes room for the newest.
        out[i] = window.weight[3][i] * du[0][i];
        out[i] = fmaf(window.weight[2][i], du[1][i], out[i]);
        out[i] = fmaf(window.weight[1][i], du[2][i], out[i]);
        float now = dy[k][i] * (s[k][i] + c[k][i] * (1.0f - s[k][i]));
        out[i] = fmaf(window.weight[0][i], now, out[i]);
        if constexpr (kOwn) {
#pragma unroll
          for (int j = 0; j < 4; ++j)
            dweight[j][i] = fmaf(now, x[k + j][i], dweight[j][i]);
        }
        du[0][i] = du[1][i];
        du[1][i] = du[2][i];
        du[2][i] = now;
      }
      if (writes)
        storeFour(dx, out);
      dx += dxRow;
    }
  }
};

/// Tokens [begin, live) of head `index`, none of them in the tail, by one warp; `sums`: of the line for conv_weight,
/// those of the head.
template <bool kNormalized>
__device__ __forceinline__ void deltaGradHead(const GatedDeltaInputsGradParams &p, int index,
                                              const DeltaSection &section, int begin, int live,
                                              HeadStages<2, kDeltaInputGradStages> &stages, int &turn, float4 *sums) {
  // Two tokens a step keep 16 warps on a multiprocessor.
  constexpr int kStep = 2, kSpan = 64, kSpanGroups = kSpan / kHeadGroup;
  int lane = threadIdx.x % 32, channel = section.channel + 4 * lane;
  const HeadSource sources[2] = {{&p.qkvMap, index}, {&p.cotangentMaps[section.part], section.head}};
  // The last begins after the warp's tokens. Groups of the ring are counted on from `turn`, over all of a warp's heads.
  int groups = (live - begin + kHeadGroup - 1) / kHeadGroup + 1, firstTurn = turn;
  turn += groups;
  auto fetch = [&](int group) {
    if (group < groups && lane == 0)
      stages.fetch(firstTurn + group, sources, begin + group * kHeadGroup);
  };
#pragma unroll
  for (int group = 0; group < kDeltaInputGradStages; ++group)
    fetch(group);
  __syncwarp();
  DeltaSpan span = deltaSpan<kSpan>(p.in.docs, begin);
  int last = documentOrNone(p.in.docs, live - 1);
  int after = __popc(__ballot_sync(0xFFFFFFFFu, lane < 3 && documentOrNone(p.in.docs, live + lane) == last));
  DeltaGradWalk<kNormalized> walk;
  walk.window.load(p.in, channel, begin, span.before);
  walk.dxRow = p.dqkv.row;
  walk.dx = as<bf16>(p.dqkv.data) + channel + (begin - 3) * walk.dxRow;
  walk.eps = p.in.eps;
  walk.first = begin;
  walk.clearDu();
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      walk.dweight[j][i] = 0;
#pragma unroll 1
  for (int group = 0; group < groups - 1; ++group) {
    if (group > 0 && group % kSpanGroups == 0)
      span = deltaSpan<kSpan>(p.in.docs, begin + group * kHeadGroup);
    stages.wait(firstTurn + group);
#pragma unroll 1
    for (int first = 0; first < kHeadGroup; first += kStep, span.starts >>= kStep) {
      int t = begin + group * kHeadGroup + first, count = min(kStep, live - t);
      if (count == kStep && (span.starts & ((1 << kStep) - 1)) == 0 && t - 3 >= walk.first) {
        uint2 x[kStep], dy[kStep];
#pragma unroll
        for (int k = 0; k < kStep; ++k)
          x[k] = stages.take(firstTurn + group, 0, first + k), dy[k] = stages.take(firstTurn + group, 1, first + k);
        walk.template advance<true>(x, dy, true);
        continue;
      }
#pragma unroll 1
      for (int k = 0; k < count; ++k) {
        if (span.starts >> k & 1)
          walk.start(t + k);
        uint2 x[1] = {stages.take(firstTurn + group, 0, first + k)};
        uint2 dy[1] = {stages.take(firstTurn + group, 1, first + k)};
        walk.template advance<true>(x, dy, t + k - 3 >= walk.first);
      }
    }
    __syncwarp();
    fetch(group + kDeltaInputGradStages);
  }
  // The tokens after the last that are still in its document: their cotangents belong to rows of this warp too.
  stages.wait(firstTurn + groups - 1);
#pragma unroll 1
  for (int k = 0; k < after; ++k) {
    uint2 x[1] = {stages.take(firstTurn + groups - 1, 0, k)}, dy[1] = {stages.take(firstTurn + groups - 1, 1, k)};
    walk.template advance<false>(x, dy, live + k - 3 >= walk.first);
  }
  __syncwarp();
  walk.finish(live + after, live);
  // A channel's four taps side by side, as in conv_weight.
#pragma unroll
  for (int i = 0; i < 4; ++i)
    sums[4 * lane + i] = make_float4(walk.dweight[0][i], walk.dweight[1][i], walk.dweight[2][i], walk.dweight[3][i]);
}

/// Grid: see GatedDeltaInputsGradParams. No part of the work waits for another block's, so all blocks end together
/// where all run at once.
__global__ void __launch_bounds__(kDeltaInputThreads, kDeltaInputGradBlocksOfOne)
    gatedDeltaInputsGradWide(const __grid_constant__ GatedDeltaInputsGradParams p) {
  __shared__ Barrier barriers[kDeltaInputWarps][kDeltaInputGradStages];
  int tokens = segmentTokens(p.in.docs), warp = warpIndex(), lane = threadIdx.x % 32, block = blockIdx.x;
  int gatesBegin = min(block * p.gateTokens, p.in.tokens), gatesEnd = min(gatesBegin + p.gateTokens, p.in.tokens);
  float *gateLine = as<float>(p.gateLines) + static_cast<i64>(block) * 2 * p.in.valueHeads;
  for (int head = 0; head < p.in.valueHeads; head += 32) {
    deltaGatesGrad<bf16>(p, head, gatesBegin, gatesEnd, min(gatesEnd, tokens), gateLine);
    __syncthreads();
  }

  int heads = deltaHeads(p.in), channels = 2 * p.in.keyHeads * p.in.dk + p.in.valueHeads * p.in.dv;
  int groupsOfHead = (p.in.tokens + kHeadGroup - 1) / kHeadGroup;
  int all = (heads + kDeltaInputWarps - 1) / kDeltaInputWarps * groupsOfHead, turn = 0;
  HeadStages<2, kDeltaInputGradStages> stages(barriers[warp], warp);
#pragma unroll 1
  for (int at = block * p.groups, until = min(at + p.groups, all); at < until;) {
    // The part of one head's groups.
    int of = at / groupsOfHead, firstOf = of * groupsOfHead, next = min(until, firstOf + groupsOfHead);
    int begin = (at - firstOf) * kHeadGroup, end = min((next - firstOf) * kHeadGroup, p.in.tokens);
    int live = min(end, tokens), index = of * kDeltaInputWarps + warp;
    if (index < heads) {
      DeltaSection section = deltaSection(p.in, index);
      int line = block - firstOf / p.groups;
      float4 *sums = as<float4>(p.lines) + static_cast<i64>(line) * channels + section.channel;
      int used = line;
      if (begin >= live)
        --used;
      else if (section.part < 2)
        deltaGradHead<true>(p, index, section, begin, live, stages, turn, sums);
      else
        deltaGradHead<false>(p, index, section, begin, live, stages, turn, sums);
      for (int t = max(begin, live); t < end; ++t)
        *reinterpret_cast<uint2 *>(as<bf16>(p.dqkv.data) + t * p.dqkv.row + section.channel + 4 * lane) =
            make_uint2(0, 0);
      // What no block adds to: the lines after the head's last, and one without tokens.
      int lines = next == firstOf + groupsOfHead ? p.lineCount : line + 1;
      for (++used; used < lines; ++used)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          (as<float4>(p.lines) + static_cast<i64>(used) * channels + section.channel)[lane + 32 * i] =
              make_float4(0, 0, 0, 0);
    }
    at = next;
  }
}

//===----------------------------------------------------------------------===//
// Any widths and taps
//===----------------------------------------------------------------------===//

/// du of the tokens in documents. A warp a token and head; grid: blocks of four heads along x, tokens along y.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaInputsGradActivation(const __grid_constant__ GatedDeltaInputsGradParams p) {
  int index = blockIdx.x * kDeltaInputWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (index >= deltaHeads(p.in))
    return;
  DeltaSection section = deltaSection(p.in, index);
  const HeadTensor &cotangent = section.part == 0 ? p.dq : section.part == 1 ? p.dk : p.dv;
  int live = segmentTokens(p.in.docs), channels = 2 * p.in.keyHeads * p.in.dk + p.in.valueHeads * p.in.dv;
  for (int t = blockIdx.y; t < live; t += gridDim.y) {
    const T *dy = headRow<const T>(cotangent, t, section.head);
    float *du = as<float>(p.du) + static_cast<i64>(t) * channels + section.channel;
    int document = documentBegin(p.in.docs, documentOf(p.in.docs, t));
    float norm = 1, projection = 0;
    if (section.part < 2) {
      float squares = 0, product = 0;
      for (int i = lane; i < section.width; i += 32) {
        float u = convolve<T>(p.in, section.channel + i, t, document), c = u * sigmoid(u);
        squares = fmaf(c, c, squares);
        product = fmaf(c, toFloat(dy[i]), product);
      }
      norm = rsqrtf(warpSum(squares) + p.in.eps);
      projection = warpSum(product) * norm * norm;
    }
    for (int i = lane; i < section.width; i += 32) {
      float u = convolve<T>(p.in, section.channel + i, t, document), s = sigmoid(u), c = u * s;
      du[i] = norm * (toFloat(dy[i]) - c * projection) * (s + c * (1.0f - s));
    }
  }
}

/// dqkv from du. Grid: channels along x, tokens along y.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaInputsGradConvolution(const __grid_constant__ GatedDeltaInputsGradParams p) {
  int channels = 2 * p.in.keyHeads * p.in.dk + p.in.valueHeads * p.in.dv;
  int channel = blockIdx.x * kDeltaInputThreads + threadIdx.x, live = segmentTokens(p.in.docs);
  if (channel >= channels)
    return;
  const T *weight = as<const T>(p.in.convWeight) + channel * p.in.weightRow;
  for (int t = blockIdx.y; t < p.in.tokens; t += gridDim.y) {
    float sum = 0;
    if (t < live) {
      int end = min(documentBegin(p.in.docs, documentOf(p.in.docs, t) + 1), t + p.in.taps);
      for (int from = t; from < end; ++from)
        sum = fmaf(toFloat(weight[p.in.taps - 1 - (from - t)]),
                   as<const float>(p.du)[static_cast<i64>(from) * channels + channel], sum);
    }
    as<T>(p.dqkv.data)[t * p.dqkv.row + channel] = fromFloat<T>(sum);
  }
}

/// The lines of conv_weight's gradient from du. A thread a channel and tap along x, 256 tokens along y.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaInputsGradWeight(const __grid_constant__ GatedDeltaInputsGradParams p) {
  int channels = 2 * p.in.keyHeads * p.in.dk + p.in.valueHeads * p.in.dv;
  i64 i = static_cast<i64>(blockIdx.x) * kDeltaInputThreads + threadIdx.x;
  if (i >= static_cast<i64>(channels) * p.in.taps)
    return;
  int channel = static_cast<int>(i / p.in.taps), back = p.in.taps - 1 - static_cast<int>(i % p.in.taps);
  int begin = blockIdx.y * kDeltaInputGradTokens;
  int end = min(min(begin + kDeltaInputGradTokens, p.in.tokens), segmentTokens(p.in.docs));
  const T *x = as<const T>(p.in.qkv.data) + channel;
  float sum = 0;
  for (int t = begin; t < end; ++t)
    if (t - back >= documentBegin(p.in.docs, documentOf(p.in.docs, t)))
      sum = fmaf(as<const float>(p.du)[static_cast<i64>(t) * channels + channel], toFloat(x[(t - back) * p.in.qkv.row]),
                 sum);
  as<float>(p.lines)[blockIdx.y * static_cast<i64>(channels) * p.in.taps + i] = sum;
}

/// 32 heads of the gates along x, 256 tokens along y.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaGatesGrad(const __grid_constant__ GatedDeltaInputsGradParams p) {
  int begin = blockIdx.y * kDeltaInputGradTokens, end = min(begin + kDeltaInputGradTokens, p.in.tokens);
  deltaGatesGrad<T>(p, blockIdx.x * 32, begin, end, min(end, segmentTokens(p.in.docs)),
                    as<float>(p.gateLines) + static_cast<i64>(blockIdx.y) * 2 * p.in.valueHeads);
}

} // namespace qrt::device
