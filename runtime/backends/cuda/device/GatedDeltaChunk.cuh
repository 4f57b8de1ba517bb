// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunks and rows of the gated delta rule: what its general functions and those for tensor cores share.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTACHUNK_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTACHUNK_CUH

#include "Common.cuh"
#include "GatedDeltaRule.h"

namespace qrt::device {

/// A chunk of the segment table: its first token and its number of tokens.
struct DeltaChunk {
  int row, n;
};
__device__ __forceinline__ DeltaChunk deltaChunk(const Segments &docs, int chunk) {
  int row = chunkBegin(docs, chunk), end = documentBegin(docs, documentOf(docs, row) + 1);
  return {row, min(kDeltaChunk, end - row)};
}

/// The index of the chunk that begins at token `row`.
__device__ __forceinline__ int deltaChunkAt(const Segments &docs, int row) {
  int low = 0, high = segmentChunks(docs) - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (chunkBegin(docs, middle) < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Zeros in the rows of an output that belong to no document, shared among all blocks of the grid.
template <typename T>
__device__ __forceinline__ void deltaZeroTail(const Segments &docs, const HeadTensor &rows, int heads, int width) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int blocks = gridDim.x * gridDim.y * gridDim.z;
  for (int t = segmentTokens(docs) + block; t < docs.tokens; t += blocks)
    for (int i = threadIdx.x; i < heads * width; i += blockDim.x)
      rowOfHead<T>(rows, t, i / width)[i % width] = fromFloat<T>(0.0f);
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GATEDDELTACHUNK_CUH
