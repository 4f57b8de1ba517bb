// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all attention kernels share: the tile of the segment table a block works on, zeros in the tail.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTIONTILE_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTIONTILE_CUH

#include "Attention.h"
#include "Common.cuh"

namespace qrt::device {

constexpr float kLn2 = 0.69314718055994530942f;
#define QRT_INFINITY __int_as_float(0x7F800000)

/// 64 tokens of one document, fewer at its end.
struct AttentionTile {
  __device__ __forceinline__ AttentionTile(const Segments &docs, int begin) : begin(begin) {
    document = documentOf(docs, begin);
    documentBegin = qrt::device::documentBegin(docs, document);
    documentEnd = qrt::device::documentBegin(docs, document + 1);
    count = min(documentEnd - begin, kAttentionTile);
  }
  /// The row of the statistics of a token of this document.
  __device__ __forceinline__ int statisticsRow(int token) const {
    return (documentBegin / kAttentionTile + document) * kAttentionTile + token - documentBegin;
  }
  int begin, count;
  int document, documentBegin, documentEnd;
};

/// The statistics of a query; with those of a document's last query its rows up to a multiple of 64. `lane` of `lanes`
/// threads, which all have delta.
__device__ __forceinline__ void storeStatistics(const AttentionGradRowsParams &p, int row, int head, int lane,
                                                int lanes, float delta) {
  AttentionTile tile(p.docs, row);
  QueryStatistics *to = as<QueryStatistics>(p.statistics) + i64(head) * p.statisticsRows + tile.statisticsRow(row);
  if (lane == 0)
    *to = {*rowOfHead<const float>(p.lse, row, head) * kLog2E, delta};
  if (row + 1 < tile.documentEnd)
    return;
  int padding = (kAttentionTile - (tile.documentEnd - tile.documentBegin) % kAttentionTile) % kAttentionTile;
  for (int i = lane; i < padding; i += lanes)
    to[1 + i] = {QRT_INFINITY, 0.0f};
}

/// Writes zeros to `width` elements of every row in no document. Block `part` of `parts` calls it with all its threads.
template <typename T>
__device__ __forceinline__ void zeroTail(const Segments &docs, const HeadTensor &x, int head, int width, int part,
                                         int parts) {
  if (!x.data)
    return;
  for (int row = segmentTokens(docs) + part; row < docs.tokens; row += parts)
    for (int d = threadIdx.x; d < width; d += blockDim.x)
      rowOfHead<T>(x, row, head)[d] = fromFloat<T>(0.0f);
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ATTENTIONTILE_CUH
