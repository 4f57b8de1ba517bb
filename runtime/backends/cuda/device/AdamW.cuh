// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AdamW with decoupled weight decay (Loshchilov, Hutter: Decoupled Weight Decay Regularization, ICLR 2019) in f32
// whatever the storage; the moments enter the update before they are rounded. Bound by memory, with the integer work of
// Philox close behind: a thread takes four neighbours at a time, whose random numbers need not its loads, and the round
// keys lie in shared memory.
#include "AdamW.h"
#include "Common.cuh"
#include "Philox.cuh"

namespace qrt::device {

/// Counts a step where the norm is finite and a skipped step where it is not. One thread.
__global__ void optimizerStep(const __grid_constant__ OptimizerStepParams p) {
  i64 *counters = as<i64>(p.counters);
  ++counters[isFinite(*as<const float>(p.norm)) ? 0 : 1];
}

/// What all elements of a call share.
struct AdamWCoefficients {
  float scale;                      // of the gradient
  float beta1, beta2, rest1, rest2; // rest = 1 - beta
  float rate, inverseRoot, eps;     // learning rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t)
  float decay;                      // learning rate * weight decay
};

__device__ __forceinline__ double integerPower(double x, i64 n) {
  double result = 1;
  for (; n > 0; n >>= 1, x *= x)
    if (n & 1)
      result *= x;
  return result;
}

__device__ __forceinline__ AdamWCoefficients adamWCoefficients(const AdamWParams &p, float norm, i64 step) {
  // Hyperparameters of runtime/kernels/Kernel.h.
  const float *hyper = as<const float>(p.hyper);
  float learningRate = hyper[0], weightDecay = hyper[4], clip = hyper[5];
  double beta1 = hyper[1], beta2 = hyper[2];
  AdamWCoefficients c;
  c.scale = norm > clip ? clip / norm : 1.0f;
  c.beta1 = hyper[1];
  c.beta2 = hyper[2];
  c.rest1 = static_cast<float>(1.0 - beta1);
  c.rest2 = static_cast<float>(1.0 - beta2);
  c.rate = static_cast<float>(learningRate / (1.0 - integerPower(beta1, step)));
  c.inverseRoot = static_cast<float>(1.0 / sqrt(1.0 - integerPower(beta2, step)));
  c.eps = hyper[3];
  c.decay = p.decays ? learningRate * weightDecay : 0.0f;
  return c;
}

__device__ __forceinline__ void adamWUpdate(const AdamWCoefficients &c, float gradient, float &weight, float &expAvg,
                                            float &expAvgSq) {
  float g = gradient * c.scale;
  expAvg = c.beta1 * expAvg + c.rest1 * g;
  expAvgSq = c.beta2 * expAvgSq + c.rest2 * (g * g);
  float change = c.rate * expAvg * approximateReciprocal(approximateRoot(expAvgSq) * c.inverseRoot + c.eps);
  // Not as a factor 1 - decay, which f32 rounds to few digits of the decay.
  weight -= c.decay * weight + change;
}

/// The random words of an element of a member: for weight, exp_avg and exp_avg_sq.
__device__ __forceinline__ uint4 adamWNoise(unsigned element, i64 step, const PhiloxKeys &keys) {
  return philox4x32(make_uint4(element, 0, static_cast<unsigned>(step), static_cast<unsigned>(step >> 32)), keys);
}

/// Four neighbours as they are stored.
__device__ __forceinline__ void loadQuad(const float *from, float (&to)[4]) { loadVector(from, to); }
__device__ __forceinline__ void loadQuad(const bf16 *from, float (&to)[4]) {
  uint2 pairs = *reinterpret_cast<const uint2 *>(from);
  to[0] = lowBf16(pairs.x), to[1] = highBf16(pairs.x), to[2] = lowBf16(pairs.y), to[3] = highBf16(pairs.y);
}
/// Rounded to nearest.
__device__ __forceinline__ void storeQuad(float *to, const float (&x)[4]) { storeVector(to, x); }
__device__ __forceinline__ void storeQuad(bf16 *to, const float (&x)[4]) {
  *reinterpret_cast<uint2 *>(to) = make_uint2(packBf16(x[0], x[1]), packBf16(x[2], x[3]));
}

/// What a tensor holds after the update, at one element: f32 as it is, bf16 stochastically rounded.
__device__ __forceinline__ void storeNoisily(float *to, float x, unsigned) { *to = x; }
__device__ __forceinline__ void storeNoisily(bf16 *to, float x, unsigned noise) { *to = roundStochastically(x, noise); }

__device__ __forceinline__ void storeNoisily(float *to, const float (&x)[4], const unsigned (&)[4], bool) {
  storeVector(to, x);
}
/// `hasNan`: an element may be NaN.
__device__ __forceinline__ void storeNoisily(bf16 *to, const float (&x)[4], const unsigned (&noise)[4], bool hasNan) {
  if (!hasNan) {
    *reinterpret_cast<uint2 *>(to) = make_uint2(packStochastically(x[0], x[1], noise[0], noise[1]),
                                                packStochastically(x[2], x[3], noise[2], noise[3]));
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    to[i] = roundStochastically(x[i], noise[i]);
}

/// Types of gradient, weight, exp_avg and exp_avg_sq. With a master (f32) the weight is the master rounded to nearest.
template <typename G, typename W, typename M, typename V, int kMaster>
__global__ void __launch_bounds__(kAdamWThreads, kAdamWBlocks) adamW(const __grid_constant__ AdamWParams p) {
  using Exact = typename Choose<kMaster != 0, float, W>::Type;
  constexpr bool kNoisy = sizeof(Exact) == 2 || sizeof(M) == 2 || sizeof(V) == 2;
  const G *gradients = as<const G>(p.gradient);
  Exact *weights = as<Exact>(kMaster ? p.master : p.weight);
  W *copies = as<W>(p.weight);
  M *expAvgs = as<M>(p.expAvg);
  V *expAvgSqs = as<V>(p.expAvgSq);

  float norm = *as<const float>(p.norm);
  if (!isFinite(norm))
    return;
  i64 step = *as<const i64>(p.counters);
  __shared__ AdamWCoefficients shared;
  __shared__ PhiloxKeys memberKeys[kAdamWMembers];
  if (threadIdx.x == kAdamWThreads - 1)
    shared = adamWCoefficients(p, norm, step);
  if (kNoisy && threadIdx.x < kAdamWMembers)
    memberKeys[threadIdx.x] = philoxKeys(
        philoxKey(*as<const unsigned long long>(p.seed) ^ static_cast<unsigned long long>(p.member[threadIdx.x].key)));
  __syncthreads();
  const AdamWCoefficients c = shared;

  // The quads from number `zero`: the first and the last may be parts.
  i64 zero = p.begin / 4;
  unsigned quads = static_cast<unsigned>((p.end + 3) / 4 - zero);
  unsigned wholeBegin = p.begin % 4 != 0, wholeEnd = quads - (p.end % 4 != 0);
  unsigned stride = gridDim.x * kAdamWThreads;

  // Whole quads below memberEnd are of this member; their first element has there the number memberOffset + 4 * quad.
  int member = 0;
  i64 memberBegin = p.begin;
  unsigned memberEnd = 0, memberOffset = 0;
  auto toMemberOf = [&](i64 element) {
    while (element >= p.member[member].end)
      memberBegin = p.member[member++].end;
  };
  for (unsigned quad = blockIdx.x * kAdamWThreads + threadIdx.x; quad < quads; quad += stride) {
    i64 first = (zero + quad) * 4;
    if (quad >= memberEnd) {
      toMemberOf(first > p.begin ? first : p.begin);
      memberEnd = static_cast<unsigned>(p.member[member].end / 4 - zero);
      memberOffset = static_cast<unsigned>(zero * 4 - memberBegin);
    }
    if (quad >= wholeBegin && quad < wholeEnd && quad < memberEnd) {
      float g[4], w[4], m[4], s[4];
      loadQuad(gradients + first, g);
      loadQuad(weights + first, w);
      loadQuad(expAvgs + first, m);
      loadQuad(expAvgSqs + first, s);
      unsigned noiseW[4], noiseM[4], noiseV[4];
      if constexpr (kNoisy) {
        const PhiloxKeys keys = memberKeys[member];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          uint4 noise = adamWNoise(memberOffset + 4 * quad + i, step, keys);
          noiseW[i] = noise.x, noiseM[i] = noise.y, noiseV[i] = noise.z;
        }
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        adamWUpdate(c, g[i], w[i], m[i], s[i]);
      // A moment that is NaN makes the weight NaN.
      float check = (w[0] + w[1]) + (w[2] + w[3]);
      bool hasNan = check != check;
      storeNoisily(expAvgs + first, m, noiseM, hasNan);
      storeNoisily(expAvgSqs + first, s, noiseV, hasNan);
      storeNoisily(weights + first, w, noiseW, hasNan);
      if constexpr (kMaster != 0)
        storeQuad(copies + first, w);
      continue;
    }
    for (i64 e = first > p.begin ? first : p.begin; e < first + 4 && e < p.end; ++e) {
      toMemberOf(e);
      float w = toFloat(weights[e]), m = toFloat(expAvgs[e]), s = toFloat(expAvgSqs[e]);
      adamWUpdate(c, toFloat(gradients[e]), w, m, s);
      uint4 noise = {};
      if constexpr (kNoisy)
        noise = adamWNoise(static_cast<unsigned>(e - memberBegin), step, memberKeys[member]);
      storeNoisily(expAvgs + e, m, noise.y);
      storeNoisily(expAvgSqs + e, s, noise.z);
      storeNoisily(weights + e, w, noise.x);
      if constexpr (kMaster != 0)
        copies[e] = fromFloat<W>(w);
    }
    memberEnd = 0;
  }
}

} // namespace qrt::device
