// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the scans of the gated delta rule on tensor cores compute with: fragments, and panels of a stage.
//
// The scans work on transposed matrices, [64 of dv, tokens or dk]: a warpgroup keeps S' in the registers of its
// accumulators, and what a product gives is, rounded to bf16, the left operand of the next. Columns of V never meet, so
// how dv is split changes no bit.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128FRAGMENTS_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128FRAGMENTS_CUH

#include "GatedDelta128.cuh"

namespace qrt::device {

/// A gate of a token and the next.
__device__ __forceinline__ float2 gatePair(const float *gates, Delta128Gate gate, int token) {
  return *reinterpret_cast<const float2 *>(gates + gate * kDeltaChunk + token);
}

/// Where the lane finds its row of the four matrices that make up tokens [16 step, 16 step + 16) of columns [16 warp,
/// 16 warp + 16) of a panel [64 tokens, 64], transposed: registers 4 step to 4 step + 3 of a fragment of [64, 64
/// tokens].
__device__ __forceinline__ unsigned transposedRow(int step) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  return panelOffset(16 * step + lane / 16 * 8 + lane % 8, 16 * warp + lane / 8 % 2 * 8);
}

/// The fragment [64 columns, 64 tokens] of a panel [64 tokens, 64 columns].
__device__ __forceinline__ void loadTransposed(unsigned (&x)[16], const unsigned char *panel) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
    loadMatrices<true>(reinterpret_cast<unsigned (&)[4]>(x[4 * step]), panel + transposedRow(step));
}
__device__ __forceinline__ void storeTransposed(unsigned char *panel, const unsigned (&x)[16]) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
    storeMatrices<true>(panel + transposedRow(step), x[4 * step], x[4 * step + 1], x[4 * step + 2], x[4 * step + 3]);
}

/// The fragment [64, 128] to two panels of [64, 64].
__device__ __forceinline__ void storeState(unsigned char *panels, const unsigned (&x)[32]) {
  unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane % 16;
#pragma unroll
  for (int step = 0; step < 8; ++step)
    storeMatrices<false>(panels + step / 4 * kPanel + panelOffset(row, step % 4 * 16 + lane / 16 * 8), x[4 * step],
                         x[4 * step + 1], x[4 * step + 2], x[4 * step + 3]);
}

/// The columns of the warp, [64 tokens, 16 warp .. 16 warp + 16) of a panel that the warp has just written, to the
/// first n rows from `to`.
__device__ __forceinline__ void copyRows(bf16 *to, i64 stride, const unsigned char *panel, int n) {
  unsigned lane = threadIdx.x % 32, col = threadIdx.x / 32 % 4 * 16 + lane % 2 * 8;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int row = 16 * i + static_cast<int>(lane / 2);
    uint4 x = *reinterpret_cast<const uint4 *>(panel + panelOffset(row, col));
    if (row < n)
      *reinterpret_cast<uint4 *>(to + row * stride + col) = x;
  }
}

/// d [64, 64] (+)= a [64, 128] times b' where b is [64, 128] in two panels.
__device__ __forceinline__ void multiplyRows(float (&d)[32], const unsigned (&a)[32], const unsigned char *b) {
#pragma unroll
  for (int step = 0; step < 8; ++step)
    product<64, Major::K>(d, a + 4 * step, advanced(operand<Major::K>(b + step / 4 * kPanel, 0), step % 4 * 32),
                          step > 0);
}
/// d [64, 64] (+)= a b' where a is [64, 64 tokens] and b a panel [64 tokens, 64 tokens].
template <bool kAdd>
__device__ __forceinline__ void multiplyLower(float (&d)[32], const unsigned (&a)[16], const unsigned char *b) {
  // The zeros of b above its diagonal are multiplied too: products into the later registers of d alone run one by one.
#pragma unroll
  for (int step = 0; step < 4; ++step)
    product<64, Major::K>(d, a + 4 * step, advanced(operand<Major::K>(b, 0), step * 32), kAdd || step > 0);
}
/// The first kCount registers of d.
template <int kCount>
__device__ __forceinline__ float (&firstOf(float (&d)[32])) [kCount] { return reinterpret_cast<float (&)[kCount]>(d); }
/// d [64, 64] = a b, b with zeros above its diagonal, which are left out: the tokens of step i only meet columns up to
/// 16 i + 15.
__device__ __forceinline__ void multiplyUpper(float (&d)[32], const unsigned (&a)[16], const unsigned char *b) {
  unsigned long long rows = operand<Major::MN>(b, kPanel);
  product<64, Major::MN>(d, a + 12, advanced(rows, 3 * 2048), 0);
  product<48, Major::MN>(firstOf<24>(d), a + 8, advanced(rows, 2 * 2048), 1);
  product<32, Major::MN>(firstOf<16>(d), a + 4, advanced(rows, 2048), 1);
  product<16, Major::MN>(firstOf<8>(d), a, rows, 1);
}
/// d [64, 128] += a [64, 64 tokens] b of two panels b [64 tokens, 128].
__device__ __forceinline__ void addOuter(float (&d)[64], const unsigned (&a)[16], const unsigned char *b) {
#pragma unroll
  for (int step = 0; step < 4; ++step)
    product<128, Major::MN>(d, a + 4 * step, advanced(operand<Major::MN>(b, kPanel), step * 2048), 1);
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128FRAGMENTS_CUH
