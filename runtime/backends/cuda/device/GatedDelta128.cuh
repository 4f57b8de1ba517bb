// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gated delta rule on tensor cores: heads of 128 and 128 in bf16, chunks of 64 (docs/model.md, GDN in chunks and
// Backward; notation of GatedDeltaRule.cuh). What its launches share; each has a file of its own:
//   gatedDelta128Prepare   per chunk and key head: T, P and the gates of every value head;
//   gatedDelta128Scan      per document, value head and half of dv: S from chunk to chunk, and O, or S and V' for the
//                          gradient;
//   gatedDelta128ScanBack  alike, from the end: the gradient of S, and dV;
//   gatedDelta128Grad      per chunk and key head: the other gradients, summed over the value heads.
//
// beta is taken as 2^-40 where it is less: what that changes is below the last bit of every result, and V' / beta and
// dV / beta always exist.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128_CUH

#include "GatedDelta128.h"
#include "GatedDeltaChunk.cuh"
#include "Hopper.cuh"

namespace qrt::device {

/// A panel of [64, 64] bf16.
constexpr int kPanel = kDelta128MatrixBytes;
constexpr float kLeastBeta = 9.094947e-13f;

/// What the workspace holds of a chunk and value head.
__device__ __forceinline__ unsigned char *delta128At(Ptr data, const DeltaShape &shape, int chunk, int head,
                                                     int bytes) {
  return as<unsigned char>(data) + (static_cast<i64>(chunk) * shape.valueHeads + head) * bytes;
}

/// Zeros in rows n and on of `count` neighbouring panels, by `threads` threads. The caller synchronizes.
__device__ __forceinline__ void delta128ZeroRows(unsigned char *panels, int count, int n, int thread, int threads) {
  int perPanel = (kDeltaChunk - n) * 8;
  for (int i = thread; i < count * perPanel; i += threads)
    *reinterpret_cast<uint4 *>(panels + i / perPanel * kPanel + n * 128 + i % perPanel * 16) = make_uint4(0, 0, 0, 0);
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTA128_CUH
