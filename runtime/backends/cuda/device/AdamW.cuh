// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AdamW with decoupled weight decay (Loshchilov, Hutter: Decoupled Weight Decay Regularization, ICLR 2019) in f32
// whatever the storage; the moments enter the update before they are rounded. Bound by memory as long as the integer
// work of Philox is small: a thread takes the eight neighbours that share words, which need not its loads, and the
// round keys lie in shared memory.
#include "AdamW.h"
#include "Common.cuh"
#include "Philox.cuh"

namespace qrt::device {

/// Counts a step where the norm is finite and a skipped step where it is not. One thread.
__global__ void optimizerStep(const __grid_constant__ OptimizerStepParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  i64 *counters = as<i64>(p.counters);
  ++counters[isFinite(*as<const float>(p.norm)) ? 0 : 1];
}

/// What all elements of a call share.
struct AdamWCoefficients {
  float scale;                      // of the gradient
  float beta1, beta2, rest1, rest2; // rest = 1 - beta
  float rate, inverseRoot, eps;     // learning rate / (1 - beta1^t), 1 / sqrt(1 - beta2^t)
  float decay;                      // learning rate * weight decay, where it applies
};

__device__ __forceinline__ double integerPower(double x, i64 n) {
  double result = 1;
  for (; n > 0; n >>= 1, x *= x)
    if (n & 1)
      result *= x;
  return result;
}

__device__ __forceinline__ AdamWCoefficients adamWCoefficients(const AdamWParams &p, float norm, i64 step) {
  const float *hyper = as<const float>(p.hyper);
  float learningRate = hyper[kLearningRate], weightDecay = hyper[kWeightDecay], clip = hyper[kClip];
  double beta1 = hyper[kBeta1], beta2 = hyper[kBeta2];
  AdamWCoefficients c;
  c.scale = norm > clip ? clip / norm : 1.0f;
  c.beta1 = hyper[kBeta1];
  c.beta2 = hyper[kBeta2];
  c.rest1 = static_cast<float>(1.0 - beta1);
  c.rest2 = static_cast<float>(1.0 - beta2);
  c.rate = static_cast<float>(learningRate / (1.0 - integerPower(beta1, step)));
  c.inverseRoot = static_cast<float>(1.0 / sqrt(1.0 - integerPower(beta2, step)));
  c.eps = hyper[kEps];
  c.decay = learningRate * weightDecay;
  return c;
}

/// `decay`: that of the coefficients or 0.
__device__ __forceinline__ void adamWUpdate(const AdamWCoefficients &c, float decay, float gradient, float &weight,
                                            float &expAvg, float &expAvgSq) {
  float g = gradient * c.scale;
  expAvg = c.beta1 * expAvg + c.rest1 * g;
  expAvgSq = c.beta2 * expAvgSq + c.rest2 * (g * g);
  float change = c.rate * expAvg * approximateReciprocal(approximateRoot(expAvgSq) * c.inverseRoot + c.eps);
  // Not as a factor 1 - decay, which f32 rounds to few digits of the decay.
  weight -= decay * weight + change;
}

/// What a number is rounded for: the counter's second word.
enum AdamWPurpose { kForWeight, kForExpAvg, kForExpAvgSq };

/// The words whose eight halves are those of the elements 8 group to 8 group + 7 of a member.
__device__ __forceinline__ uint4 adamWNoise(unsigned group, AdamWPurpose purpose, i64 step, const PhiloxKeys &keys) {
  return philox4x32(make_uint4(group, purpose, static_cast<unsigned>(step), static_cast<unsigned>(step >> 32)), keys);
}

template <bool kValue> struct Constant {};

/// kWidth (4 or 8) neighbours as they are stored.
template <typename T, int kWidth> struct AdamWPiece {
  static constexpr int kWords = kWidth * sizeof(T) / 4;
  unsigned words[kWords];

  __device__ __forceinline__ void load(const T *from) {
    if constexpr (kWords == 2) {
      uint2 v = *reinterpret_cast<const uint2 *>(from);
      words[0] = v.x, words[1] = v.y;
    } else {
#pragma unroll
      for (int i = 0; i < kWords; i += 4) {
        uint4 v = reinterpret_cast<const uint4 *>(from)[i / 4];
        words[i] = v.x, words[i + 1] = v.y, words[i + 2] = v.z, words[i + 3] = v.w;
      }
    }
  }
  __device__ __forceinline__ void store(T *to) const {
    if constexpr (kWords == 2) {
      *reinterpret_cast<uint2 *>(to) = make_uint2(words[0], words[1]);
    } else {
#pragma unroll
      for (int i = 0; i < kWords; i += 4)
        reinterpret_cast<uint4 *>(to)[i / 4] = make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
    }
  }
  /// Elements 2 pair and 2 pair + 1.
  __device__ __forceinline__ float2 widen(int pair) const {
    if constexpr (sizeof(T) == 2)
      return make_float2(lowBf16(words[pair]), highBf16(words[pair]));
    else
      return make_float2(__uint_as_float(words[2 * pair]), __uint_as_float(words[2 * pair + 1]));
  }
  /// Rounded to nearest.
  __device__ __forceinline__ void narrow(int pair, float2 x) {
    if constexpr (sizeof(T) == 2)
      words[pair] = packBf16(x.x, x.y);
    else
      words[2 * pair] = __float_as_uint(x.x), words[2 * pair + 1] = __float_as_uint(x.y);
  }
  /// f32 as it is, bf16 stochastically rounded.
  template <bool kMayBeNan>
  __device__ __forceinline__ void narrowNoisily(int pair, float2 x, unsigned noise, Constant<kMayBeNan>) {
    if constexpr (sizeof(T) == 2) {
      if constexpr (kMayBeNan)
        words[pair] = roundStochastically(x.x, noise).bits |
                      static_cast<unsigned>(roundStochastically(x.y, noise >> 16).bits) << 16;
      else
        words[pair] = packStochastically(x.x, x.y, noise);
    } else {
      narrow(pair, x);
    }
  }
};

/// What a tensor holds after the update, at one element: f32 as it is, bf16 stochastically rounded.
__device__ __forceinline__ void storeNoisily(float *to, float x, const uint4 &, int) { *to = x; }
__device__ __forceinline__ void storeNoisily(bf16 *to, float x, const uint4 &noise, int half) {
  unsigned word = half < 4 ? half < 2 ? noise.x : noise.y : half < 6 ? noise.z : noise.w;
  *to = roundStochastically(x, half % 2 ? word >> 16 : word);
}

/// Types of gradient, weight, exp_avg and exp_avg_sq. With a master (f32) the weight is the master rounded to nearest.
template <typename G, typename W, typename M, typename V, int kMaster>
__global__ void __launch_bounds__(kAdamWThreads, kAdamWBlocks) adamW(const __grid_constant__ AdamWParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  using Exact = typename Choose<kMaster != 0, float, W>::Type;
  constexpr bool kNoisy = sizeof(Exact) == 2 || sizeof(M) == 2 || sizeof(V) == 2;
  constexpr int kWidth = kNoisy ? kAdamWNoisyWidth : kAdamWWidth;

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

  int index = 0;
  unsigned beginPiece = 0, stride = gridDim.x * kAdamWThreads;
  for (unsigned piece = blockIdx.x * kAdamWThreads + threadIdx.x; piece < p.pieces; piece += stride) {
    while (piece >= p.member[index].endPiece)
      beginPiece = p.member[index++].endPiece;
    const AdamWMember &member = p.member[index];
    const G *gradients = as<const G>(member.gradient);
    Exact *weights = as<Exact>(kMaster ? member.master : member.weight);
    W *copies = as<W>(member.weight);
    M *expAvgs = as<M>(member.expAvg);
    V *expAvgSqs = as<V>(member.expAvgSq);
    const float decay = member.decays ? c.decay : 0.0f;
    unsigned group = piece - beginPiece;
    i64 first = static_cast<i64>(group) * kWidth;
    if (member.aligned && first + kWidth <= member.elements) {
      AdamWPiece<G, kWidth> gradient;
      AdamWPiece<Exact, kWidth> weight;
      AdamWPiece<M, kWidth> expAvg;
      AdamWPiece<V, kWidth> expAvgSq;
      AdamWPiece<W, kWidth> copy;
      gradient.load(gradients + first);
      weight.load(weights + first);
      expAvg.load(expAvgs + first);
      expAvgSq.load(expAvgSqs + first);
      uint4 noise[3] = {};
      if constexpr (kNoisy) {
        const PhiloxKeys keys = memberKeys[index];
        if constexpr (sizeof(Exact) == 2)
          noise[kForWeight] = adamWNoise(group, kForWeight, step, keys);
        if constexpr (sizeof(M) == 2)
          noise[kForExpAvg] = adamWNoise(group, kForExpAvg, step, keys);
        if constexpr (sizeof(V) == 2)
          noise[kForExpAvgSq] = adamWNoise(group, kForExpAvgSq, step, keys);
      }
      const unsigned words[3][4] = {{noise[0].x, noise[0].y, noise[0].z, noise[0].w},
                                    {noise[1].x, noise[1].y, noise[1].z, noise[1].w},
                                    {noise[2].x, noise[2].y, noise[2].z, noise[2].w}};
#pragma unroll
      for (int quad = 0; quad < kWidth / 4; ++quad) {
        float2 w[2], m[2], s[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          int pair = 2 * quad + i;
          float2 g = gradient.widen(pair);
          w[i] = weight.widen(pair), m[i] = expAvg.widen(pair), s[i] = expAvgSq.widen(pair);
          adamWUpdate(c, decay, g.x, w[i].x, m[i].x, s[i].x);
          adamWUpdate(c, decay, g.y, w[i].y, m[i].y, s[i].y);
          if constexpr (kMaster != 0)
            copy.narrow(pair, w[i]);
        }
        auto narrow = [&](auto mayBeNan) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            int pair = 2 * quad + i;
            weight.narrowNoisily(pair, w[i], words[kForWeight][pair], mayBeNan);
            expAvg.narrowNoisily(pair, m[i], words[kForExpAvg][pair], mayBeNan);
            expAvgSq.narrowNoisily(pair, s[i], words[kForExpAvgSq][pair], mayBeNan);
          }
        };
        // A moment that is NaN makes the weight NaN.
        float check = (w[0].x + w[0].y) + (w[1].x + w[1].y);
        if (check == check)
          narrow(Constant<false>());
        else
          narrow(Constant<true>());
      }
      weight.store(weights + first);
      expAvg.store(expAvgs + first);
      expAvgSq.store(expAvgSqs + first);
      if constexpr (kMaster != 0)
        copy.store(copies + first);
      continue;
    }
    for (i64 e = first; e < first + kWidth && e < member.elements; ++e) {
      float w = toFloat(weights[e]), m = toFloat(expAvgs[e]), s = toFloat(expAvgSqs[e]);
      adamWUpdate(c, decay, toFloat(gradients[e]), w, m, s);
      unsigned element = static_cast<unsigned>(e);
      uint4 noise[3] = {};
      if constexpr (kNoisy) {
#pragma unroll 1
        for (int i = 0; i < 3; ++i) {
          uint4 drawn = adamWNoise(element / 8, static_cast<AdamWPurpose>(i), step, memberKeys[index]);
          (i == 0 ? noise[0] : i == 1 ? noise[1] : noise[2]) = drawn;
        }
      }
      storeNoisily(weights + e, w, noise[kForWeight], element % 8);
      storeNoisily(expAvgs + e, m, noise[kForExpAvg], element % 8);
      storeNoisily(expAvgSqs + e, s, noise[kForExpAvgSq], element % 8);
      if constexpr (kMaster != 0)
        copies[e] = fromFloat<W>(w);
    }
  }
}

} // namespace qrt::device
