// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Philox4x32-10 (runtime/base/Philox.h: the same bits) and stochastic rounding to bf16.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_PHILOX_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_PHILOX_CUH

#include "Common.cuh"

namespace qrt::device {

/// The keys of the ten rounds that follow from one key, as they lie in memory.
struct PhiloxKeys {
  uint4 pairs[5];
};

__device__ __forceinline__ PhiloxKeys philoxKeys(uint2 key) {
  PhiloxKeys keys;
#pragma unroll
  for (int i = 0; i < 5; ++i)
    keys.pairs[i] = make_uint4(key.x + 2 * i * 0x9E3779B9u, key.y + 2 * i * 0xBB67AE85u,
                               key.x + (2 * i + 1) * 0x9E3779B9u, key.y + (2 * i + 1) * 0xBB67AE85u);
  return keys;
}

__device__ __forceinline__ uint4 philoxRound(uint4 counter, unsigned key0, unsigned key1) {
  unsigned long long even = 0xD2511F53ull * counter.x, odd = 0xCD9E8D57ull * counter.z;
  return make_uint4(static_cast<unsigned>(odd >> 32) ^ counter.y ^ key0, static_cast<unsigned>(odd),
                    static_cast<unsigned>(even >> 32) ^ counter.w ^ key1, static_cast<unsigned>(even));
}

/// Four random words of (counter, key). Where elements of one thread share parts of the counter, the compiler shares
/// the products that follow from them alone.
__device__ __forceinline__ uint4 philox4x32(uint4 counter, const PhiloxKeys &keys) {
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    counter = philoxRound(counter, keys.pairs[i].x, keys.pairs[i].y);
    counter = philoxRound(counter, keys.pairs[i].z, keys.pairs[i].w);
  }
  return counter;
}

/// The key of a 64-bit seed.
__device__ __forceinline__ uint2 philoxKey(unsigned long long seed) {
  return make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
}

/// x with 16 bits of noise added below the bits that bf16 keeps: its upper half is x rounded up with the probability of
/// the distance. Infinity stays; NaN does not (see roundStochastically).
__device__ __forceinline__ unsigned addNoise(float x, unsigned noise) { return __float_as_uint(x) + noise; }

/// Two neighbours, the first in the low half, each by its half of `noise`; neither is NaN.
__device__ __forceinline__ unsigned packStochastically(float low, float high, unsigned noise) {
  return __byte_perm(addNoise(low, noise & 0xFFFFu), addNoise(high, noise >> 16), 0x7632);
}

/// Any value, by the lower half of `noise`; NaN stays NaN.
__device__ __forceinline__ bf16 roundStochastically(float x, unsigned noise) {
  if (x != x)
    return fromFloat<bf16>(x);
  bf16 result;
  result.bits = static_cast<unsigned short>(addNoise(x, noise & 0xFFFFu) >> 16);
  return result;
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_PHILOX_CUH
