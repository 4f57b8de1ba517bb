// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every device function uses: storage types, vectors of 16 bytes, reductions of a warp and a block in a fixed
// order.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COMMON_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_COMMON_CUH

#include "Types.h"

namespace qrt::device {

/// What every device function begins with, in every thread, before it touches global memory or returns. In a graph it
/// is launched while the work before it still runs (PreparedLaunch.h): here it waits until that has completed and its
/// writes can be seen. That one has waited for its own predecessor in the same way, so that a grid that has completed
/// stands for all before it; one that completed without waiting would break the chain for all that follow. Of no effect
/// in a launch that was not early.
__device__ __forceinline__ void awaitEarlierGrids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/// Lets the blocks of the next grid take their places, and wait there, once all of this one have theirs; without it,
/// when these have ended. For functions that are bound by memory, where it saves a third of a microsecond a launch.
/// Blocks that wait beside those of a function with one block a multiprocessor, or take their places unevenly because
/// of it, cost more than they save (docs/adr/0007-early-launches.md).
__device__ __forceinline__ void admitNextGrid() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// bfloat16 as it is stored. Arithmetic is done in f32.
struct alignas(2) bf16 {
  unsigned short bits;
};

template <typename T> __device__ __forceinline__ T *as(Ptr address) { return reinterpret_cast<T *>(address); }

__device__ __forceinline__ float toFloat(float x) { return x; }
__device__ __forceinline__ float toFloat(bf16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }

/// Rounds to nearest even.
template <typename T> __device__ __forceinline__ T fromFloat(float x);
template <> __device__ __forceinline__ float fromFloat<float>(float x) { return x; }
template <> __device__ __forceinline__ bf16 fromFloat<bf16>(float x) {
  bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
/// x as T stores it.
template <typename T> __device__ __forceinline__ float rounded(float x) { return toFloat(fromFloat<T>(x)); }

/// Two neighbours, the first in the low half.
__device__ __forceinline__ unsigned packBf16(float low, float high) {
  unsigned result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
__device__ __forceinline__ float lowBf16(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ __forceinline__ float highBf16(unsigned pair) { return __uint_as_float(pair & 0xFFFF0000u); }

/// Neighbours in pairs. Of a product's fragment d[64, columns] (Hopper.cuh) this makes left operands of products: four
/// words each 16 columns.
template <int kCount> __device__ __forceinline__ void roundPairs(const float (&d)[kCount], unsigned (&a)[kCount / 2]) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i)
    a[i] = packBf16(d[2 * i], d[2 * i + 1]);
}

/// Elements of T in 16 bytes.
template <typename T> constexpr int kVector = 16 / sizeof(T);

/// The row of a token and head, at column 0.
template <typename T> __device__ __forceinline__ T *rowOfHead(const HeadTensor &x, int token, int head) {
  return as<T>(x.data) + token * x.row + head * x.head;
}

/// Loads or stores kVector<T> neighbours, 16-byte aligned, as f32.
__device__ __forceinline__ void loadVector(const float *from, float (&to)[4]) {
  float4 v = *reinterpret_cast<const float4 *>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void loadVector(const bf16 *from, float (&to)[8]) {
  uint4 v = *reinterpret_cast<const uint4 *>(from);
  unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; ++i)
    to[2 * i] = lowBf16(words[i]), to[2 * i + 1] = highBf16(words[i]);
}
__device__ __forceinline__ void storeVector(float *to, const float (&from)[4]) {
  *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
__device__ __forceinline__ void storeVector(bf16 *to, const float (&from)[8]) {
  *reinterpret_cast<uint4 *>(to) = make_uint4(packBf16(from[0], from[1]), packBf16(from[2], from[3]),
                                              packBf16(from[4], from[5]), packBf16(from[6], from[7]));
}

/// x (32 bits), as a value that the compiler knows nothing of: what follows from it is computed where it is used, not
/// kept in registers across a loop.
template <typename T> __device__ __forceinline__ T opaque(T x) {
  asm volatile("" : "+r"(x));
  return x;
}

/// The block's dynamic shared memory, on 1024 bytes (the alignment of the widest swizzle).
template <typename T> __device__ __forceinline__ T *sharedMemory() {
  extern __shared__ __align__(1024) unsigned char dynamicShared[];
  return reinterpret_cast<T *>(dynamicShared);
}

/// This thread's warp of the block, the same in a warp as far as the compiler knows.
__device__ __forceinline__ int warpIndex() { return __shfl_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x) / 32, 0); }

/// The sum over the warp's lanes, in every lane.
__device__ __forceinline__ float warpSum(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xFFFFFFFFu, x, offset);
  return x;
}
__device__ __forceinline__ float warpMax(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, offset));
  return x;
}

/// The sums over the warp's lanes of kCount values (a power of two), with fewer exchanges than one after the other: of
/// value lane / (32 / kCount) in each lane.
template <int kCount, int kBit = 16> __device__ __forceinline__ float warpSumsAcross(const float (&x)[kCount]) {
  if constexpr (kCount == 1) {
    float sum = x[0];
#pragma unroll
    for (int offset = kBit; offset > 0; offset /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
    return sum;
  } else {
    constexpr int kHalf = kCount / 2;
    bool isUpper = threadIdx.x & kBit;
    float half[kHalf];
#pragma unroll
    for (int i = 0; i < kHalf; ++i)
      half[i] = (isUpper ? x[i + kHalf] : x[i]) + __shfl_xor_sync(0xFFFFFFFFu, isUpper ? x[i] : x[i + kHalf], kBit);
    return warpSumsAcross<kHalf, kBit / 2>(half);
  }
}
/// The same, each in every lane.
template <int kCount> __device__ __forceinline__ void warpSums(float (&x)[kCount]) {
  float sum = warpSumsAcross(x);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    x[i] = kCount == 1 ? sum : __shfl_sync(0xFFFFFFFFu, sum, i * (32 / kCount));
}

/// The sum over four neighbouring lanes, in each of them.
__device__ __forceinline__ float quadSum(float x) {
  x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
}
__device__ __forceinline__ float quadMax(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}

/// The sum over a block of kThreads threads, in every thread. `shared` holds kThreads / 32 floats and may be used again
/// after the next barrier.
template <int kThreads> __device__ __forceinline__ float blockSum(float x, float *shared) {
  x = warpSum(x);
  if constexpr (kThreads == 32)
    return x;
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kThreads / 32; ++i)
    sum += shared[i];
  return sum;
}

/// The sum over a block of f64 in a fixed order; of meaning in thread 0. `shared` holds kThreads / 32.
template <int kThreads> __device__ __forceinline__ double blockSumF64(double x, double *shared) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xFFFFFFFFu, x, offset);
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = x;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0)
    for (int i = 0; i < kThreads / 32; ++i)
      sum += shared[i];
  return sum;
}

/// The logarithm of e in base 2.
constexpr double kLog2EInF64 = 1.44269504088896340736;
constexpr float kLog2E = static_cast<float>(kLog2EInF64);

/// First if kCondition, else Second.
template <bool kCondition, typename First, typename Second> struct Choose {
  using Type = First;
};
template <typename First, typename Second> struct Choose<false, First, Second> {
  using Type = Second;
};

__device__ __forceinline__ bool isFinite(float x) { return (__float_as_uint(x) & 0x7F800000u) != 0x7F800000u; }

/// Within a unit in the last place or two; of denormal numbers it is 0.
__device__ __forceinline__ float approximateRoot(float x) {
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// 1 / x within a unit in the last place or two, x normal and below 2^126.
__device__ __forceinline__ float approximateReciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / sqrt(x) within two units in the last place, x normal.
__device__ __forceinline__ float approximateInverseRoot(float x) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 2^x within two units in the last place; denormal results are 0.
__device__ __forceinline__ float approximateExp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// 1 / (1 + e^-x), finite for every x.
__device__ __forceinline__ float sigmoid(float x) { return approximateReciprocal(1.0f + approximateExp2(-kLog2E * x)); }

/// n / divisor.value for n < 2^31.
__device__ __forceinline__ unsigned quotient(unsigned n, const Divisor &divisor) {
  return (__umulhi(n, divisor.multiplier) + n) >> divisor.shift;
}

// The parts of a segment table; entries past the counts repeat the last offset, or are -1.
__device__ __forceinline__ const int *segmentPart(const Segments &s, int part) { return as<const int>(s.table) + part; }
__device__ __forceinline__ int segmentTokens(const Segments &s) { return segmentPart(s, 0)[0]; }
__device__ __forceinline__ int segmentDocuments(const Segments &s) { return segmentPart(s, 0)[1]; }
__device__ __forceinline__ int segmentChunks(const Segments &s) { return segmentPart(s, 0)[2]; }
__device__ __forceinline__ int segmentTiles(const Segments &s) { return segmentPart(s, 0)[3]; }
__device__ __forceinline__ int segmentTrained(const Segments &s) { return segmentPart(s, 0)[4]; }
/// First token of document d; of d = segmentDocuments(): the end of the last.
__device__ __forceinline__ int documentBegin(const Segments &s, int d) { return segmentPart(s, s.documentOffsets)[d]; }
/// The document of a token, or -1 in the tail.
__device__ __forceinline__ int documentOf(const Segments &s, int token) {
  return segmentPart(s, s.tokenDocument)[token];
}
__device__ __forceinline__ int chunkBegin(const Segments &s, int i) { return segmentPart(s, s.chunkStart)[i]; }
__device__ __forceinline__ int tileBegin(const Segments &s, int i) { return segmentPart(s, s.tileStart)[i]; }
__device__ __forceinline__ int trainedRow(const Segments &s, int r) { return segmentPart(s, s.trainedRows)[r]; }

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COMMON_CUH
