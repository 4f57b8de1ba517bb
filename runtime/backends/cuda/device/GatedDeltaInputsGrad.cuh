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

/// db and da of the tokens [begin, end), zeros from token `live`; `line`: the sums over them for a_log, then for
/// dt_bias. By a whole block: each warp has 32 heads, and where there are fewer blocks of 32 heads than warps, part of
/// the tokens.
template <typename T>
__device__ __forceinline__ void deltaGatesGrad(const GatedDeltaInputsGradParams &p, int begin, int end, int live,
                                               float *line) {
  // Tokens that a lane has on their way at once.
  constexpr int kBatch = 8;
  __shared__ float shared[2][kDeltaInputWarps][32];
  int warp = warpIndex(), lane = threadIdx.x % 32, headBlocks = (p.in.valueHeads + 31) / 32;
  int together = min(headBlocks, kDeltaInputWarps), slices = kDeltaInputWarps / together, slice = warp / together;
  live = min(live, end);
#pragma unroll 1
  for (int first = 0; first < headBlocks; first += together) {
    int h = (first + warp % together) * 32 + lane;
    float dALog = 0, dBias = 0;
    if (h < p.in.valueHeads && slice < slices) {
      float rate = -expf(loadEither(p.in.aLog, h, p.in.aLogBytes)), bias = loadEither(p.in.dtBias, h, p.in.dtBiasBytes);
#pragma unroll 1
      for (int at = begin + slice; at < end; at += kBatch * slices) {
        // Past the end the last token again, unused, as is what a token in the tail has.
        float a[kBatch], b[kBatch], dg[kBatch], dbeta[kBatch];
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          int t = min(at + k * slices, end - 1);
          a[k] = toFloat(*headRow<const T>(p.in.a, t, h));
          b[k] = toFloat(*headRow<const T>(p.in.b, t, h));
          dg[k] = *headRow<const float>(p.dg, t, h);
          dbeta[k] = loadEither(p.dbeta.data, t * p.dbeta.row + h * p.dbeta.head, p.dbetaBytes);
        }
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          int t = at + k * slices;
          float z = a[k] + bias, beta = sigmoid(b[k]), scaled = dg[k] * rate;
          float db = dbeta[k] * beta * (1.0f - beta), da = scaled * sigmoid(z);
          if (t < live) {
            dALog = fmaf(scaled, softplus(z), dALog);
            dBias += da;
          }
          if (t < end) {
            *headRow<T>(p.db, t, h) = fromFloat<T>(t < live ? db : 0.0f);
            *headRow<T>(p.da, t, h) = fromFloat<T>(t < live ? da : 0.0f);
          }
        }
      }
    }
    shared[0][warp][lane] = dALog;
    shared[1][warp][lane] = dBias;
    __syncthreads();
    if (warp < together && h < p.in.valueHeads) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float sum = 0;
        for (int s = 0; s < slices; ++s)
          sum += shared[i][s * together + warp][lane];
        line[i * p.in.valueHeads + h] = sum;
      }
    }
    __syncthreads();
  }
}

//===----------------------------------------------------------------------===//
// Heads of 128 channels, four taps
//===----------------------------------------------------------------------===//

/// Of 32 tokens, which begin a document. Looked up ahead: bits() waits for what load() began to read.
struct DocumentStarts {
  int here, before;

  /// Of the tokens from `first`, which may lie outside the row; by all lanes of a warp.
  __device__ __forceinline__ void load(const Segments &docs, int first) {
    int token = first + static_cast<int>(threadIdx.x % 32);
    here = documentOrNone(docs, token), before = documentOrNone(docs, token - 1);
  }
  __device__ __forceinline__ unsigned bits() const { return __ballot_sync(0xFFFFFFFFu, here != before); }
};

using DeltaGradStages = HeadStages<2, kDeltaInputGradStages>;

/// One warp on its way through the tokens of a head. kNormalized: of queries or keys.
///
/// The taps are kept times kScale, so that the convolution is z = kScale u and the exponential of the sigmoid 2^z; du
/// is kept divided by kScale, which makes dx what it should be and dweight the gradient divided by kScale.
template <bool kNormalized> struct DeltaGradWalk {
  static constexpr float kScale = -kLog2E, kInverse = -1.0f / kLog2E, kInverseSquare = kInverse * kInverse;

  DeltaWindow window;
  /// Of the last three tokens, the latest last; zeros where they are not in the document.
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
    first = max(first, t);
  }
  /// A token of which only the input counts.
  __device__ __forceinline__ void skip(uint2 x) {
    window.before[0] = window.before[1], window.before[1] = window.before[2], window.before[2] = x;
    dx += dxRow;
  }

  /// The next kCount tokens, from t, of one document: those from `at` of a group that is there. One alone: `own`:
  /// whether it counts for the weight's gradient; the row that it completes is written if it is this warp's. Several
  /// count, and their rows are this warp's.
  template <int kCount>
  __device__ __forceinline__ void advance(const DeltaGradStages &stages, int group, int at, int t, bool own) {
    float x[3 + kCount][4], c[kCount][4], slope[kCount][4];
    uint2 raw[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      raw[k] = stages.take(group, 0, at + k);
    window.push(raw, x);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float z = window.convolve(x, k, i), s = approximateReciprocal(1.0f + approximateExp2(z));
        if constexpr (kNormalized) {
          // c times kScale, and the derivative of silu.
          c[k][i] = z * s;
          slope[k][i] = fmaf(c[k][i], fmaf(s, -kInverse, kInverse), s);
        } else {
          // The derivative divided by kScale.
          slope[k][i] = s * fmaf(z, fmaf(s, -kInverseSquare, kInverseSquare), kInverse);
        }
      }
    }
    float norm[kCount], projection[kCount];
    if constexpr (kNormalized) {
      // Of each token the sum of squares, then of products.
      float sums[2 * kCount] = {};
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        float dy[4];
        unpackFour(stages.take(group, 1, at + k), dy);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          sums[2 * k] = fmaf(c[k][i], c[k][i], sums[2 * k]);
          sums[2 * k + 1] = fmaf(c[k][i], dy[i], sums[2 * k + 1]);
        }
      }
      warpSums(sums);
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        norm[k] = approximateInverseRoot(fmaf(sums[2 * k], kInverseSquare, eps));
        projection[k] = sums[2 * k + 1] * kInverseSquare * norm[k] * norm[k];
        norm[k] *= kInverse;
      }
      // Read again: there are not the registers to keep it.
#pragma unroll
      for (int k = 0; k < kCount; ++k)
        unpackFour(stages.takeAgain(group, 0, at + k), x[3 + k]);
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      float dy[4], out[4];
      unpackFour(kNormalized ? stages.takeAgain(group, 1, at + k) : stages.take(group, 1, at + k), dy);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        // The oldest first, which makes room for the newest.
        out[i] = window.weight[3][i] * du[0][i];
        out[i] = fmaf(window.weight[2][i], du[1][i], out[i]);
        out[i] = fmaf(window.weight[1][i], du[2][i], out[i]);
        float now = kNormalized ? norm[k] * (dy[i] - c[k][i] * projection[k]) * slope[k][i] : dy[i] * slope[k][i];
        out[i] = fmaf(window.weight[0][i], now, out[i]);
        float counted = kCount > 1 || own ? now : 0.0f;
#pragma unroll
        for (int j = 0; j < 4; ++j)
          dweight[j][i] = fmaf(counted, x[k + j][i], dweight[j][i]);
        du[0][i] = du[1][i];
        du[1][i] = du[2][i];
        du[2][i] = now;
      }
      if (kCount > 1 || t - 3 >= first)
        storeFour(dx, out);
      dx += dxRow;
    }
  }
};

/// The tokens [begin, end) of head `index`, whose documents end at token `tokens`, by one warp. It also reads the three
/// tokens before them, for the convolution, and the three after them, whose cotangents belong to rows of this warp too.
/// `sums`: 128 of the shared memory, the gradients of the channels' taps.
template <bool kNormalized>
__device__ __forceinline__ void deltaGradHead(const GatedDeltaInputsGradParams &p, int index,
                                              const DeltaSection &section, int begin, int end, int tokens,
                                              DeltaGradStages &stages, float4 *sums) {
  constexpr int kStep = 4, kBefore = 3, kAfter = 3, kLookUp = 32 / kHeadGroup;
  int lane = threadIdx.x % 32, live = min(end, tokens), start = begin - kBefore, stop = min(end + kAfter, tokens);
  int groups = begin < live ? (stop - start + kHeadGroup - 1) / kHeadGroup : 0;
  const HeadSource sources[2] = {{&p.qkvMap, index}, {&p.cotangentMaps[section.part], section.head}};
  auto fetch = [&](int group) {
    if (group < groups && lane == 0)
      stages.fetch(group, sources, start + group * kHeadGroup);
  };
#pragma unroll
  for (int group = 0; group < kDeltaInputGradStages; ++group)
    fetch(group);
  __syncwarp();
  DocumentStarts ahead;
  ahead.load(p.in.docs, start);
  bf16 *rows = as<bf16>(p.dqkv.data) + section.channel + 4 * lane;
  DeltaGradWalk<kNormalized> walk;
  walk.window.loadWeights(p.in, section.channel + 4 * lane, DeltaGradWalk<kNormalized>::kScale);
  walk.window.clear();
  walk.clearDu();
  walk.dxRow = p.dqkv.row;
  walk.dx = rows + (start - 3) * walk.dxRow;
  walk.eps = p.in.eps;
  walk.first = begin;
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      walk.dweight[j][i] = 0;
  unsigned starts = 0;
#pragma unroll 1
  for (int group = 0; group < groups; ++group) {
    int token = start + group * kHeadGroup;
    if (group % kLookUp == 0) {
      starts = ahead.bits();
      ahead.load(p.in.docs, token + 32);
    }
    stages.wait(group);
#pragma unroll 1
    for (int at = 0; at < kHeadGroup; at += kStep, starts >>= kStep) {
      int t = token + at;
      if ((starts & ((1 << kStep) - 1)) == 0 && t - 3 >= walk.first && t + kStep <= live) {
        walk.template advance<kStep>(stages, group, at, t, true);
        continue;
      }
#pragma unroll 1
      for (int k = 0; k < kStep && t + k < stop; ++k) {
        int now = t + k;
        if (starts >> k & 1) {
          walk.finish(now, min(now, live));
          walk.window.clear();
          if (now >= end)
            stop = now;
        }
        if (now < begin)
          walk.skip(stages.take(group, 0, at + k));
        else if (now < stop)
          walk.template advance<1>(stages, group, at + k, now, now < end);
      }
    }
    __syncwarp();
    fetch(group + kDeltaInputGradStages);
  }
  if (groups > 0)
    walk.finish(stop, live);
  for (int t = max(begin, tokens); t < end; ++t)
    *reinterpret_cast<uint2 *>(rows + t * p.dqkv.row) = make_uint2(0, 0);
  // A channel's four taps side by side, as in conv_weight.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    constexpr float kScale = DeltaGradWalk<kNormalized>::kScale;
    sums[4 * lane + i] = make_float4(kScale * walk.dweight[0][i], kScale * walk.dweight[1][i],
                                     kScale * walk.dweight[2][i], kScale * walk.dweight[3][i]);
  }
}

/// Grid: see GatedDeltaInputsGradParams.
__global__ void __launch_bounds__(kDeltaInputThreads, kDeltaInputGradBlocksOfOne)
    gatedDeltaInputsGradWide(const __grid_constant__ GatedDeltaInputsGradParams p) {
  awaitEarlierGrids();
  __shared__ Barrier barriers[kDeltaInputWarps][kDeltaInputGradStages];
  int tokens = segmentTokens(p.in.docs), block = blockIdx.x;
  if (block >= p.headBlocks) {
    block -= p.headBlocks;
    int begin = block * kDeltaInputGateTokens, end = min(begin + kDeltaInputGateTokens, p.in.tokens);
    deltaGatesGrad<bf16>(p, begin, end, tokens, as<float>(p.gateLines) + static_cast<i64>(block) * 2 * p.in.valueHeads);
    return;
  }
  int at = 0;
  while (at + 1 < p.rangeCount && block >= p.ranges[at + 1].firstBlock)
    ++at;
  const DeltaGradRange &range = p.ranges[at];
  block -= range.firstBlock;
  int part = block / range.heads, warp = warpIndex(), index = range.firstHead + block % range.heads;
  int begin = min(range.firstToken + (part * kDeltaInputWarps + warp) * range.tokens, p.in.tokens);
  int end = min(begin + range.tokens, p.in.tokens);
  DeltaSection section = deltaSection(p.in, index);
  DeltaGradStages stages(barriers[warp], warp);
  // Where the warp's tokens were, once it is through with them.
  float4 *sums = sharedMemory<float4>() + warp * headStageBytes(2, kDeltaInputGradStages) / 16;
  if (section.part < 2)
    deltaGradHead<true>(p, index, section, begin, end, tokens, stages, sums);
  else
    deltaGradHead<false>(p, index, section, begin, end, tokens, stages, sums);
  __syncthreads();
  i64 channels = 2 * p.in.keyHeads * p.in.dk + p.in.valueHeads * p.in.dv;
  float4 total = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int w = 0; w < kDeltaInputWarps; ++w) {
    float4 sum = sharedMemory<float4>()[w * headStageBytes(2, kDeltaInputGradStages) / 16 + threadIdx.x];
    total = make_float4(total.x + sum.x, total.y + sum.y, total.z + sum.z, total.w + sum.w);
  }
  (as<float4>(p.lines) + (range.line + part) * channels + section.channel)[threadIdx.x] = total;
}

//===----------------------------------------------------------------------===//
// Any widths and taps
//===----------------------------------------------------------------------===//

/// du of the tokens in documents. A warp a token and head; grid: blocks of four heads along x, tokens along y.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaInputsGradActivation(const __grid_constant__ GatedDeltaInputsGradParams p) {
  awaitEarlierGrids();
  admitNextGrid();
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
  awaitEarlierGrids();
  admitNextGrid();
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
  awaitEarlierGrids();
  admitNextGrid();
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

/// 256 tokens a block.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaGatesGrad(const __grid_constant__ GatedDeltaInputsGradParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  int begin = blockIdx.x * kDeltaInputGradTokens, end = min(begin + kDeltaInputGradTokens, p.in.tokens);
  deltaGatesGrad<T>(p, begin, end, segmentTokens(p.in.docs),
                    as<float>(p.gateLines) + static_cast<i64>(blockIdx.x) * 2 * p.in.valueHeads);
}

} // namespace qrt::device
