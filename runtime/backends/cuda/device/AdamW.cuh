// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AdamW with decoupled weight decay (Loshchilov, Hutter: Decoupled Weight Decay Regularization, ICLR 2019) in f32
// whatever the storage; the moments enter the update before they are rounded. Bound by memory, with Philox close
// behind: a thread takes vectors of eight elements, whose random numbers share a key, and loads its next vector before
// it works on the present one.
#include "AdamW.h"
#include "Common.cuh"
#include "Philox.cuh"

namespace qrt::device {

constexpr int kAdamWThreads = 256;
/// Blocks that a multiprocessor is to hold at once.
constexpr int kAdamWBlocks = 2;

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
  float change = __fdividef(c.rate * expAvg, approximateRoot(expAvgSq) * c.inverseRoot + c.eps);
  // Not as a factor 1 - decay, which f32 rounds to few digits of the decay.
  weight -= c.decay * weight + change;
}

/// The random words of an element of a member: for weight, exp_avg and exp_avg_sq.
__device__ __forceinline__ uint4 adamWNoise(unsigned low, unsigned high, i64 step, uint2 key) {
  return philox4x32(make_uint4(low, high, static_cast<unsigned>(step), static_cast<unsigned>(step >> 32)), key);
}

/// Eight neighbours as they are stored.
template <typename T> struct Eight {
  uint4 words[sizeof(T) / 2];

  __device__ __forceinline__ void load(const T *from) {
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T) / 2); ++i)
      words[i] = reinterpret_cast<const uint4 *>(from)[i];
  }
  __device__ __forceinline__ void store(T *to) const {
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(T) / 2); ++i)
      reinterpret_cast<uint4 *>(to)[i] = words[i];
  }
  /// Elements 4 kHalf to 4 kHalf + 3.
  template <int kHalf> __device__ __forceinline__ void widen(float (&to)[4]) const {
    if constexpr (sizeof(T) == 2) {
      unsigned first = kHalf ? words[0].z : words[0].x, second = kHalf ? words[0].w : words[0].y;
      to[0] = lowBf16(first), to[1] = highBf16(first), to[2] = lowBf16(second), to[3] = highBf16(second);
    } else {
      const uint4 &w = words[kHalf];
      to[0] = __uint_as_float(w.x), to[1] = __uint_as_float(w.y), to[2] = __uint_as_float(w.z),
      to[3] = __uint_as_float(w.w);
    }
  }
  template <int kHalf> __device__ __forceinline__ void set(unsigned first, unsigned second) {
    if constexpr (kHalf)
      words[0].z = first, words[0].w = second;
    else
      words[0].x = first, words[0].y = second;
  }
  /// Rounds to nearest.
  template <int kHalf> __device__ __forceinline__ void narrow(const float (&from)[4]) {
    if constexpr (sizeof(T) == 2)
      set<kHalf>(packBf16(from[0], from[1]), packBf16(from[2], from[3]));
    else
      words[kHalf] = make_uint4(__float_as_uint(from[0]), __float_as_uint(from[1]), __float_as_uint(from[2]),
                                __float_as_uint(from[3]));
  }
  /// f32 as it is, bf16 stochastically rounded. `hasNan`: an element may be NaN.
  template <int kHalf>
  __device__ __forceinline__ void narrowNoisily(const float (&from)[4], const unsigned (&noise)[4], bool hasNan) {
    if constexpr (sizeof(T) == 2) {
      set<kHalf>(packStochastically(from[0], from[1], noise[0], noise[1]),
                 packStochastically(from[2], from[3], noise[2], noise[3]));
      if (hasNan) {
        unsigned bits[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          bits[i] = roundStochastically(from[i], noise[i]).bits;
        set<kHalf>(bits[0] | bits[1] << 16, bits[2] | bits[3] << 16);
      }
    } else {
      narrow<kHalf>(from);
    }
  }
};

/// What a tensor holds after the update, at one element: f32 as it is, bf16 stochastically rounded.
__device__ __forceinline__ void storeNoisily(float *to, float x, unsigned) { *to = x; }
__device__ __forceinline__ void storeNoisily(bf16 *to, float x, unsigned noise) { *to = roundStochastically(x, noise); }

/// A thread's vector: eight elements of the tensors that are read, then changed and written.
template <typename G, typename W, typename M, typename V> struct AdamWVector {
  Eight<G> gradient;
  Eight<W> weight;
  Eight<M> expAvg;
  Eight<V> expAvgSq;

  /// Updates four elements, the first of which is number `low` (with `high` its upper word) of its member, which all
  /// share `high`. `copy` gets the weights rounded to nearest.
  template <int kHalf, typename C>
  __device__ __forceinline__ void update(const AdamWCoefficients &c, unsigned low, unsigned high, i64 step, uint2 key,
                                         Eight<C> &copy) {
    float g[4], w[4], m[4], s[4];
    gradient.template widen<kHalf>(g);
    weight.template widen<kHalf>(w);
    expAvg.template widen<kHalf>(m);
    expAvgSq.template widen<kHalf>(s);
    unsigned noiseW[4], noiseM[4], noiseV[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      adamWUpdate(c, g[i], w[i], m[i], s[i]);
      if constexpr (sizeof(W) == 2 || sizeof(M) == 2 || sizeof(V) == 2) {
        uint4 noise = adamWNoise(low + i, high, step, key);
        noiseW[i] = noise.x, noiseM[i] = noise.y, noiseV[i] = noise.z;
      }
    }
    // A moment that is NaN makes the weight NaN.
    float check = (w[0] + w[1]) + (w[2] + w[3]);
    bool hasNan = check != check;
    copy.template narrow<kHalf>(w);
    weight.template narrowNoisily<kHalf>(w, noiseW, hasNan);
    expAvg.template narrowNoisily<kHalf>(m, noiseM, hasNan);
    expAvgSq.template narrowNoisily<kHalf>(s, noiseV, hasNan);
  }
};

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
  unsigned long long seed = *as<const unsigned long long>(p.seed);
  __shared__ AdamWCoefficients shared;
  if (threadIdx.x == 0)
    shared = adamWCoefficients(p, norm, step);
  __syncthreads();
  const AdamWCoefficients c = shared;

  // Elements [8 v, 8 v + 8); the first and the last vector may be parts.
  i64 stride = static_cast<i64>(gridDim.x) * kAdamWThreads;
  i64 v = p.begin / 8 + static_cast<i64>(blockIdx.x) * kAdamWThreads + threadIdx.x;
  auto isWhole = [&](i64 vector) { return 8 * vector >= p.begin && 8 * vector + 8 <= p.end; };

  AdamWVector<G, Exact, M, V> next;
  auto load = [&](i64 vector) {
    if (!isWhole(vector))
      return;
    next.gradient.load(gradients + 8 * vector);
    next.weight.load(weights + 8 * vector);
    next.expAvg.load(expAvgs + 8 * vector);
    next.expAvgSq.load(expAvgSqs + 8 * vector);
  };
  load(v);

  int member = 0;
  i64 memberBegin = p.begin, memberEnd = p.member[0].end;
  auto toMemberOf = [&](i64 element) {
    while (element >= memberEnd) {
      memberBegin = memberEnd;
      memberEnd = p.member[++member].end;
    }
  };
  for (; 8 * v < p.end; v += stride) {
    i64 first = 8 * v;
    AdamWVector<G, Exact, M, V> x = next;
    load(v + stride);
    toMemberOf(first > p.begin ? first : p.begin);
    unsigned low = static_cast<unsigned>(first - memberBegin);
    unsigned high = static_cast<unsigned>(static_cast<unsigned long long>(first - memberBegin) >> 32);
    // Eight elements of one member that share the upper word of their numbers.
    if (isWhole(v) && first + 8 <= memberEnd && low <= 0xFFFFFFF8u) {
      uint2 key = philoxKey(seed ^ static_cast<unsigned long long>(p.member[member].key));
      Eight<W> copy;
      x.template update<0>(c, low, high, step, key, copy);
      x.template update<1>(c, low + 4, high, step, key, copy);
      x.expAvg.store(expAvgs + first);
      x.expAvgSq.store(expAvgSqs + first);
      x.weight.store(weights + first);
      if constexpr (kMaster != 0)
        copy.store(copies + first);
    } else {
      for (i64 e = first > p.begin ? first : p.begin; e < first + 8 && e < p.end; ++e) {
        toMemberOf(e);
        float w1 = toFloat(weights[e]), m1 = toFloat(expAvgs[e]), s1 = toFloat(expAvgSqs[e]);
        adamWUpdate(c, toFloat(gradients[e]), w1, m1, s1);
        uint4 noise = {};
        if constexpr (kNoisy) {
          unsigned long long i = static_cast<unsigned long long>(e - memberBegin);
          noise = adamWNoise(static_cast<unsigned>(i), static_cast<unsigned>(i >> 32), step,
                             philoxKey(seed ^ static_cast<unsigned long long>(p.member[member].key)));
        }
        storeNoisily(expAvgs + e, m1, noise.y);
        storeNoisily(expAvgSqs + e, s1, noise.z);
        storeNoisily(weights + e, w1, noise.x);
        if constexpr (kMaster != 0)
          copies[e] = fromFloat<W>(w1);
      }
    }
  }
}

} // namespace qrt::device
