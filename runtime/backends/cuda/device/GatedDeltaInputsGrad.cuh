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
/// from token `live`. Whole blocks.
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

/// The sums over the warp's lanes of both, in every lane.
__device__ __forceinline__ void warpSums(float &x, float &y) {
  bool isUpper = threadIdx.x & 16;
  float sum = (isUpper ? y : x) + __shfl_xor_sync(0xFFFFFFFFu, isUpper ? x : y, 16);
#pragma unroll
  for (int offset = 8; offset > 0; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  float other = __shfl_xor_sync(0xFFFFFFFFu, sum, 16);
  x = isUpper ? other : sum;
  y = isUpper ? sum : other;
}

/// One warp on its way through the tokens of a head.
struct DeltaGradWalk {
  DeltaWindow window;
  /// What is known of dx of the last three tokens, the latest last.
  float after[3][4];
  float dweight[4][4];
  /// The row of dx that the present token completes: three before it.
  bf16 *dx;
  i64 dxRow;
  float eps;
  bool normalized;
  /// Rows of dx that this warp has yet to write begin here: those before belong to another warp or are written.
  int first;

  __device__ __forceinline__ void clearAfter() {
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c)
        after[i][c] = 0;
  }

  /// Before token t, which takes no part in the gradients of the tokens before it: writes those of them that are below
  /// `limit`.
  __device__ __forceinline__ void finish(int t, int limit) {
#pragma unroll
    for (int i = 0; i < 3; ++i)
      if (int row = t - 3 + i; row >= first && row < limit)
        storeFour(dx + i * dxRow, after[i]);
    clearAfter();
    first = t;
  }
  /// Token t begins a document.
  __device__ __forceinline__ void start(int t) {
    finish(t, t);
    window.clear();
  }

  /// The next token. kOwn: it counts for the weight's gradient. `writes`: the row that it completes is this warp's.
  template <bool kOwn> __device__ __forceinline__ void advance(uint2 rawX, uint2 rawDy, bool writes) {
    float x[4][4], c[4], s[4], dy[4], squares = 0, product = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        x[i][j] = window.before[i][j];
    unpackFour(rawX, x[3]);
    unpackFour(rawDy, dy);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float u = window.convolve(x, 0, i);
      s[i] = sigmoid(u);
      c[i] = u * s[i];
    }
    if (normalized) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        squares = fmaf(c[i], c[i], squares);
        product = fmaf(c[i], dy[i], product);
      }
      warpSums(squares, product);
      float norm = rsqrtf(squares + eps), projection = product * norm * norm;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        dy[i] = norm * (dy[i] - c[i] * projection);
    }
    float out[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float du = dy[i] * (s[i] + c[i] * (1.0f - s[i]));
      if constexpr (kOwn) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          dweight[j][i] = fmaf(du, x[j][i], dweight[j][i]);
      }
      out[i] = fmaf(window.weight[0][i], du, after[0][i]);
      after[0][i] = fmaf(window.weight[1][i], du, after[1][i]);
      after[1][i] = fmaf(window.weight[2][i], du, after[2][i]);
      after[2][i] = window.weight[3][i] * du;
    }
    if (writes)
      storeFour(dx, out);
    dx += dxRow;
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        window.before[i][j] = x[i + 1][j];
  }
};

/// The tokens [begin, end) of one head by one warp; zeros from token `live`.
__device__ __forceinline__ void deltaGradHead(const GatedDeltaInputsGradParams &p, const DeltaSection &section,
                                              int begin, int end, int live, DeltaGradWalk &walk) {
  int lane = threadIdx.x % 32, channel = section.channel + 4 * lane, tokens = segmentTokens(p.in.docs);
  const HeadTensor &cotangent = section.part == 0 ? p.dq : section.part == 1 ? p.dk : p.dv;
  i64 xRow = p.in.qkv.row, dyRow = cotangent.row;
  const bf16 *x = as<const bf16>(p.in.qkv.data) + channel + begin * xRow;
  const bf16 *dy = headRow<const bf16>(cotangent, begin, section.head) + 4 * lane;
  bf16 *dx = as<bf16>(p.dqkv.data) + channel;
  walk.dx = dx + (begin - 3) * p.dqkv.row;
  walk.dxRow = p.dqkv.row;
  walk.eps = p.in.eps;
  walk.normalized = section.part < 2;
  walk.first = begin;
  walk.clearAfter();
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      walk.dweight[j][i] = 0;

  if (begin < live) {
    // The next four tokens, where there are so many: each is loaded again as soon as it is taken.
    uint2 nextX[4], nextDy[4];
    const bf16 *aheadX = x, *aheadDy = dy;
    auto load = [&](int i) {
      nextX[i] = loadFour(aheadX);
      nextDy[i] = loadFour(aheadDy);
      aheadX += xRow, aheadDy += dyRow;
    };
    auto loadGroup = [&](int t) {
      if (t + 4 > live)
        return;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        load(i);
    };
    loadGroup(begin);
    unsigned long long starts = documentStarts(p.in.docs, begin, live);
    walk.window.load(p.in, channel, x - begin * xRow, begin, starts & 1);
    for (int t = begin; t < live; t += 4, starts >>= 4) {
      if (t + 4 <= live && (starts & 15) == 0 && t - 3 >= walk.first) {
        bool more = t + 8 <= live;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          uint2 rawX = nextX[i], rawDy = nextDy[i];
          if (more)
            load(i);
          walk.advance<true>(rawX, rawDy, true);
        }
        continue;
      }
      int count = min(4, live - t);
#pragma unroll 1
      for (int i = 0; i < count; ++i) {
        if (starts >> i & 1)
          walk.start(t + i);
        i64 row = t + i - begin;
        walk.advance<true>(loadFour(x + row * xRow), loadFour(dy + row * dyRow), t + i - 3 >= walk.first);
      }
      loadGroup(t + 4);
    }
    // The tokens after the last that are still in its document: their cotangents belong to rows of this warp too.
    uint2 rawX[3], rawDy[3];
    int inDocument = 0;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      int token = live + i;
      if (token >= tokens)
        continue;
      rawX[i] = loadFour(x + (token - begin) * xRow);
      rawDy[i] = loadFour(dy + (token - begin) * dyRow);
      inDocument += documentOf(p.in.docs, token) == documentOf(p.in.docs, live - 1);
    }
#pragma unroll
    for (int i = 0; i < 3; ++i)
      if (i < inDocument)
        walk.advance<false>(rawX[i], rawDy[i], live + i - 3 >= walk.first);
    int t = live + inDocument;
    walk.finish(t, live);
  }
  for (int t = max(begin, live); t < end; ++t)
    *reinterpret_cast<uint2 *>(dx + t * p.dqkv.row) = make_uint2(0, 0);
}

/// Grid: heads, and one block for every 32 heads of the gates, along x; 256 tokens along y.
__global__ void __launch_bounds__(kDeltaInputThreads, 4)
    gatedDeltaInputsGradWide(const __grid_constant__ GatedDeltaInputsGradParams p) {
  int blockBegin = blockIdx.y * kDeltaInputGradTokens, tokens = segmentTokens(p.in.docs);
  int heads = deltaHeads(p.in), index = blockIdx.x;
  float *line = as<float>(p.lines) + blockIdx.y * p.line;
  if (index >= heads) {
    int end = min(blockBegin + kDeltaInputGradTokens, p.in.tokens);
    int channels = 2 * p.in.keyHeads * p.in.dk + p.in.valueHeads * p.in.dv;
    return deltaGatesGrad<bf16>(p, (index - heads) * 32, blockBegin, end, min(end, tokens), line + 4 * channels);
  }
  DeltaSection section = deltaSection(p.in, index);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int begin = blockBegin + warp * kDeltaInputWarpGradTokens, end = min(begin + kDeltaInputWarpGradTokens, p.in.tokens);
  DeltaGradWalk walk;
  deltaGradHead(p, section, begin, end, min(end, tokens), walk);

  // A channel's four taps side by side, as in conv_weight.
  __shared__ float4 shared[kDeltaInputWarps][128];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    shared[warp][4 * lane + i] =
        make_float4(walk.dweight[0][i], walk.dweight[1][i], walk.dweight[2][i], walk.dweight[3][i]);
  __syncthreads();
  float4 sum = shared[0][threadIdx.x];
#pragma unroll
  for (int w = 1; w < kDeltaInputWarps; ++w) {
    float4 other = shared[w][threadIdx.x];
    sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
  }
  reinterpret_cast<float4 *>(line)[section.channel + threadIdx.x] = sum;
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
  as<float>(p.lines)[blockIdx.y * p.line + i] = sum;
}

/// 32 heads of the gates along x, 256 tokens along y.
template <typename T>
__global__ void __launch_bounds__(kDeltaInputThreads)
    gatedDeltaGatesGrad(const __grid_constant__ GatedDeltaInputsGradParams p) {
  int begin = blockIdx.y * kDeltaInputGradTokens, end = min(begin + kDeltaInputGradTokens, p.in.tokens);
  i64 taps = static_cast<i64>(2 * p.in.keyHeads * p.in.dk + p.in.valueHeads * p.in.dv) * p.in.taps;
  deltaGatesGrad<T>(p, blockIdx.x * 32, begin, end, min(end, segmentTokens(p.in.docs)),
                    as<float>(p.lines) + blockIdx.y * p.line + taps);
}

} // namespace qrt::device
