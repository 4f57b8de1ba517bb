// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal softmax attention inside each document and its gradient (docs/model.md, Full attention 4 and 5), for any
// storage type and head widths up to 256. Plain f32 arithmetic; the fast kernels for bf16 are in AttentionForward.cuh
// and AttentionBackward.cuh.
//
// A block holds 64 rows of one side (queries; or keys, for dk and dv) and passes over the other side in smaller groups.
// Four neighbouring threads share a row: each makes every fourth product of the row, then every fourth 16 bytes of the
// row's result. Blocks are numbered heads first; those past the tiles of the table write the zeros of the tail.
#include "AttentionTile.cuh"

namespace qrt::device {

/// kRows rows of a head as f32 [kRows][kRowStride]; zeros past `count` rows and `width` columns.
template <typename T, int kWidth, int kRows>
__device__ __forceinline__ void loadRows(const HeadTensor &x, int head, int begin, int count, int width, float *to) {
  for (int i = threadIdx.x; i < kRows * kWidth; i += kAttentionThreads) {
    int row = i / kWidth, d = i % kWidth;
    to[row * kRowStride<kWidth> + d] = row < count && d < width ? toFloat(rowOfHead<T>(x, begin + row, head)[d]) : 0.0f;
  }
}

/// products[i] = row . others[4 * i + part].
template <int kWidth, int kOthers>
__device__ __forceinline__ void multiplyRow(const float *row, const float *others, int width,
                                            float (&products)[kOthers / 4]) {
  others += threadIdx.x % 4 * kRowStride<kWidth>;
#pragma unroll
  for (int i = 0; i < kOthers / 4; ++i)
    products[i] = 0;
  for (int d = 0; d < width; d += 4) {
    float4 a = *reinterpret_cast<const float4 *>(row + d);
#pragma unroll
    for (int i = 0; i < kOthers / 4; ++i) {
      float4 b = *reinterpret_cast<const float4 *>(others + 4 * i * kRowStride<kWidth> + d);
      products[i] += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
  }
}

/// This thread's columns of a row: 16 * i + 4 * part and the next three.
template <int kWidth> struct RowPart {
  float value[kWidth / 4];

  __device__ __forceinline__ void scale(float factor) {
#pragma unroll
    for (int i = 0; i < kWidth / 4; ++i)
      value[i] *= factor;
  }
  /// += factor * row.
  __device__ __forceinline__ void add(float factor, const float *row) {
#pragma unroll
    for (int i = 0; i < kWidth / 16; ++i) {
      float4 x = *reinterpret_cast<const float4 *>(row + 16 * i + threadIdx.x % 4 * 4);
      value[4 * i] += factor * x.x;
      value[4 * i + 1] += factor * x.y;
      value[4 * i + 2] += factor * x.z;
      value[4 * i + 3] += factor * x.w;
    }
  }
  /// Calls use(column, value) for the columns below `width`.
  template <typename Use> __device__ __forceinline__ void forEach(int width, Use use) const {
#pragma unroll
    for (int i = 0; i < kWidth / 4; ++i) {
      int d = i / 4 * 16 + threadIdx.x % 4 * 4 + i % 4;
      if (d < width)
        use(d, value[i]);
    }
  }
  template <typename T> __device__ __forceinline__ void store(T *row, int width, float factor) const {
    forEach(width, [&](int d, float x) { row[d] = fromFloat<T>(factor * x); });
  }
};

template <typename T, int kWidth>
__global__ void __launch_bounds__(kAttentionThreads) attention(const __grid_constant__ AttentionParams p) {
  awaitEarlierGrids();
  float *sharedFloats = sharedMemory<float>();
  int head = blockIdx.x % p.heads, index = blockIdx.x / p.heads, tiles = segmentTiles(p.docs);
  if (index >= tiles) {
    int part = index - tiles, parts = gridDim.x / p.heads - tiles;
    zeroTail<T>(p.docs, p.y, head, p.width, part, parts);
    zeroTail<T>(p.docs, p.o, head, p.width, part, parts);
    zeroTail<float>(p.docs, p.lse, head, 1, part, parts);
    return;
  }
  AttentionTile tile(p.docs, tileBegin(p.docs, index));
  float *queries = sharedFloats, *keys = queries + kAttentionTile * kRowStride<kWidth>;
  float *scores = keys + kForwardKeys * kRowStride<kWidth>;
  int row = threadIdx.x / 4, part = threadIdx.x % 4, query = tile.begin + row;
  float *rowScores = scores + row * (kForwardKeys + 1);
  float scale2 = p.scale * kLog2E;

  RowPart<kWidth> out;
#pragma unroll
  for (float &x : out.value)
    x = 0;
  float largest = -QRT_INFINITY, sum = 0;
  loadRows<T, kWidth, kAttentionTile>(p.q, head, tile.begin, tile.count, p.width, queries);
  for (int key = tile.documentBegin; key < tile.begin + tile.count; key += kForwardKeys) {
    int count = min(tile.documentEnd - key, kForwardKeys);
    __syncthreads();
    loadRows<T, kWidth, kForwardKeys>(p.k, head / p.ratio, key, count, p.width, keys);
    __syncthreads();
    float s[kForwardKeys / 4];
    multiplyRow<kWidth, kForwardKeys>(queries + row * kRowStride<kWidth>, keys, p.width, s);
    float groupLargest = largest;
#pragma unroll
    for (int i = 0; i < kForwardKeys / 4; ++i) {
      int j = 4 * i + part;
      s[i] = j < count && key + j <= query ? s[i] * scale2 : -QRT_INFINITY;
      groupLargest = fmaxf(groupLargest, s[i]);
    }
    groupLargest = quadMax(groupLargest);
    float rescale = exp2f(largest - groupLargest), groupSum = 0;
    largest = groupLargest;
#pragma unroll
    for (int i = 0; i < kForwardKeys / 4; ++i) {
      s[i] = exp2f(s[i] - largest);
      groupSum += s[i];
      rowScores[4 * i + part] = s[i];
    }
    sum = sum * rescale + quadSum(groupSum);
    out.scale(rescale);
    __syncthreads();
    loadRows<T, kWidth, kForwardKeys>(p.v, head / p.ratio, key, count, p.width, keys);
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < kForwardKeys; ++j)
      out.add(rowScores[j], keys + j * kRowStride<kWidth>);
  }
  if (row >= tile.count)
    return;
  out.scale(1.0f / sum);
  if (p.lse.data && part == 0)
    *rowOfHead<float>(p.lse, query, head) = (largest + log2f(sum)) * kLn2;
  if (p.o.data)
    out.store(rowOfHead<T>(p.o, query, head), p.width, 1.0f);
  if (p.gate.data) {
    const T *gate = rowOfHead<T>(p.gate, query, head);
    T *y = rowOfHead<T>(p.y, query, head);
    out.forEach(p.width, [&](int d, float x) { y[d] = fromFloat<T>(x * sigmoid(toFloat(gate[d]))); });
  } else if (p.y.data) {
    out.store(rowOfHead<T>(p.y, query, head), p.width, 1.0f);
  }
}

/// A warp takes a query and head.
template <typename T>
__global__ void __launch_bounds__(kAttentionThreads)
    attentionGradRows(const __grid_constant__ AttentionGradRowsParams p) {
  awaitEarlierGrids();
  i64 item = (i64(blockIdx.x) * kAttentionThreads + threadIdx.x) / 32;
  int row = static_cast<int>(item / p.heads), head = static_cast<int>(item % p.heads), lane = threadIdx.x % 32;
  if (row >= p.docs.tokens)
    return;
  if (row >= segmentTokens(p.docs)) {
    if (p.dgate.data)
      for (int d = lane; d < p.width; d += 32)
        rowOfHead<T>(p.dgate, row, head)[d] = fromFloat<T>(0.0f);
    return;
  }
  const T *o = rowOfHead<T>(p.o, row, head), *dy = rowOfHead<T>(p.dy, row, head);
  float delta = 0;
  for (int d = lane; d < p.width; d += 32) {
    float dO = toFloat(dy[d]);
    if (p.gate.data) {
      float s = sigmoid(toFloat(rowOfHead<T>(p.gate, row, head)[d]));
      dO *= s;
      rowOfHead<T>(p.dO, row, head)[d] = fromFloat<T>(dO);
      rowOfHead<T>(p.dgate, row, head)[d] = fromFloat<T>(dO * toFloat(o[d]) * (1.0f - s));
    }
    delta += dO * toFloat(o[d]);
  }
  delta = warpSum(delta);
  storeStatistics(p, row, head, lane, 32, delta);
}

/// From the products q.k and dO.v of a query and a key: the score becomes P, the other dS.
__device__ __forceinline__ void scoreGradient(float &s, float &dP, QueryStatistics q, float scale2, bool visible) {
  s = visible ? exp2f(s * scale2 - q.lse2) : 0.0f;
  dP = visible ? s * (dP - q.delta) : 0.0f;
}

template <int kWidth> struct GradShared {
  __device__ __forceinline__ explicit GradShared(float *memory)
      : rowsA(memory), rowsB(rowsA + kAttentionTile * kRowStride<kWidth>),
        groupA(rowsB + kAttentionTile * kRowStride<kWidth>), groupB(groupA + kGradGroup * kRowStride<kWidth>),
        p(groupB + kGradGroup * kRowStride<kWidth>), dS(p + kAttentionTile * (kGradGroup + 1)) {}
  float *rowsA, *rowsB, *groupA, *groupB, *p, *dS;
};

/// dk and dv of 64 keys: over the query heads of the key head, and each one's queries from the keys to the end of the
/// document.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kAttentionThreads) attentionGradKeys(const __grid_constant__ AttentionGradParams p) {
  awaitEarlierGrids();
  float *sharedFloats = sharedMemory<float>();
  GradShared<kWidth> shared(sharedFloats);
  int keyHeads = p.heads / p.ratio;
  int keyHead = blockIdx.x % keyHeads, index = blockIdx.x / keyHeads, tiles = segmentTiles(p.docs);
  if (index >= tiles) {
    int part = index - tiles, parts = gridDim.x / keyHeads - tiles;
    zeroTail<T>(p.docs, p.dk, keyHead, p.width, part, parts);
    zeroTail<T>(p.docs, p.dv, keyHead, p.width, part, parts);
    return;
  }
  // The last tiles of the table are the first of their documents, with the most queries.
  AttentionTile tile(p.docs, tileBegin(p.docs, tiles - 1 - index));
  int row = threadIdx.x / 4, part = threadIdx.x % 4;
  float *rowP = shared.p + row * (kGradGroup + 1), *rowDS = shared.dS + row * (kGradGroup + 1);
  float scale2 = p.scale * kLog2E;
  RowPart<kWidth> dk, dv;
#pragma unroll
  for (int i = 0; i < kWidth / 4; ++i)
    dk.value[i] = dv.value[i] = 0;
  loadRows<T, kWidth, kAttentionTile>(p.k, keyHead, tile.begin, tile.count, p.width, shared.rowsA);
  loadRows<T, kWidth, kAttentionTile>(p.v, keyHead, tile.begin, tile.count, p.width, shared.rowsB);
  for (int head = keyHead * p.ratio; head < (keyHead + 1) * p.ratio; ++head) {
    const QueryStatistics *statistics = as<const QueryStatistics>(p.statistics) + i64(head) * p.statisticsRows;
    for (int query = tile.begin; query < tile.documentEnd; query += kGradGroup) {
      int count = min(tile.documentEnd - query, kGradGroup);
      __syncthreads();
      loadRows<T, kWidth, kGradGroup>(p.q, head, query, count, p.width, shared.groupA);
      loadRows<T, kWidth, kGradGroup>(p.dO, head, query, count, p.width, shared.groupB);
      __syncthreads();
      float s[kGradGroup / 4], dP[kGradGroup / 4];
      multiplyRow<kWidth, kGradGroup>(shared.rowsA + row * kRowStride<kWidth>, shared.groupA, p.width, s);
      multiplyRow<kWidth, kGradGroup>(shared.rowsB + row * kRowStride<kWidth>, shared.groupB, p.width, dP);
#pragma unroll
      for (int i = 0; i < kGradGroup / 4; ++i) {
        int j = 4 * i + part;
        bool visible = j < count && tile.begin + row <= query + j;
        scoreGradient(s[i], dP[i], statistics[tile.statisticsRow(query + min(j, count - 1))], scale2, visible);
        rowP[j] = s[i];
        rowDS[j] = dP[i];
      }
      __syncwarp();
#pragma unroll 2
      for (int j = 0; j < kGradGroup; ++j) {
        dv.add(rowP[j], shared.groupB + j * kRowStride<kWidth>);
        dk.add(rowDS[j], shared.groupA + j * kRowStride<kWidth>);
      }
    }
  }
  if (row >= tile.count)
    return;
  dk.store(rowOfHead<T>(p.dk, tile.begin + row, keyHead), p.width, p.scale);
  dv.store(rowOfHead<T>(p.dv, tile.begin + row, keyHead), p.width, 1.0f);
}

/// dq of 64 queries of one head.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kAttentionThreads)
    attentionGradQueries(const __grid_constant__ AttentionGradParams p) {
  awaitEarlierGrids();
  float *sharedFloats = sharedMemory<float>();
  GradShared<kWidth> shared(sharedFloats);
  int head = blockIdx.x % p.heads, index = blockIdx.x / p.heads, tiles = segmentTiles(p.docs);
  if (index >= tiles) {
    zeroTail<T>(p.docs, p.dq, head, p.width, index - tiles, gridDim.x / p.heads - tiles);
    return;
  }
  AttentionTile tile(p.docs, tileBegin(p.docs, index));
  int row = threadIdx.x / 4, part = threadIdx.x % 4;
  float *rowDS = shared.dS + row * (kGradGroup + 1);
  float scale2 = p.scale * kLog2E;
  QueryStatistics statistics =
      (as<const QueryStatistics>(p.statistics) + i64(head) * p.statisticsRows)[tile.statisticsRow(tile.begin) + row];
  RowPart<kWidth> dq;
#pragma unroll
  for (float &x : dq.value)
    x = 0;
  loadRows<T, kWidth, kAttentionTile>(p.q, head, tile.begin, tile.count, p.width, shared.rowsA);
  loadRows<T, kWidth, kAttentionTile>(p.dO, head, tile.begin, tile.count, p.width, shared.rowsB);
  for (int key = tile.documentBegin; key < tile.begin + tile.count; key += kGradGroup) {
    int count = min(tile.documentEnd - key, kGradGroup);
    __syncthreads();
    loadRows<T, kWidth, kGradGroup>(p.k, head / p.ratio, key, count, p.width, shared.groupA);
    loadRows<T, kWidth, kGradGroup>(p.v, head / p.ratio, key, count, p.width, shared.groupB);
    __syncthreads();
    float s[kGradGroup / 4], dP[kGradGroup / 4];
    multiplyRow<kWidth, kGradGroup>(shared.rowsA + row * kRowStride<kWidth>, shared.groupA, p.width, s);
    multiplyRow<kWidth, kGradGroup>(shared.rowsB + row * kRowStride<kWidth>, shared.groupB, p.width, dP);
#pragma unroll
    for (int i = 0; i < kGradGroup / 4; ++i) {
      int j = 4 * i + part;
      scoreGradient(s[i], dP[i], statistics, scale2, j < count && key + j <= tile.begin + row);
      rowDS[j] = dP[i];
    }
    __syncwarp();
#pragma unroll 4
    for (int j = 0; j < kGradGroup; ++j)
      dq.add(rowDS[j], shared.groupA + j * kRowStride<kWidth>);
  }
  if (row < tile.count)
    dq.store(rowOfHead<T>(p.dq, tile.begin + row, head), p.width, p.scale);
}

} // namespace qrt::device
