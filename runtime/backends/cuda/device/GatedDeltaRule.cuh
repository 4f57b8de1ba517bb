// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gated delta rule and its gradient for any head widths (docs/model.md, GDN in chunks and Backward), f32 arithmetic
// without tensor cores. With n tokens in a chunk, L = strictlower(beta_i k_i.k_j), A_r = (I + L)^-1, D_ij = e^(gamma_i
// - gamma_j) for j <= i, T = A_r . D, P = (Q K') . D:
//   R = V - e^gamma (K S); X = beta R; V' = T X; O = e^gamma (Q S) + P V'; S' = e^gamma_C S + (e^(gamma_C - gamma) K)'
//   V'
// A call is a sequence of launches: gatedDeltaPrepare (a block per chunk and value head), gatedDeltaScan (per document,
// value head and slice of dv), and for the gradient gatedDeltaScanBack (alike, from the end), gatedDeltaGrad (per chunk
// and value head) and gatedDeltaReduce (the sum over the value heads of a key head).
#include "GatedDeltaChunk.cuh"

namespace qrt::device {

/// store(i, j, sum over p of a(i, p) b(p, j)) for i < m, j < n, by the whole block, each thread a tile of kRows x kCols
/// at a time. a and b are only called inside their bounds.
template <int kRows, int kCols, typename A, typename B, typename Store>
__device__ __forceinline__ void deltaProduct(int m, int n, int k, A a, B b, Store store) {
  int tileCols = (n + kCols - 1) / kCols, tiles = (m + kRows - 1) / kRows * tileCols;
  for (int tile = threadIdx.x; tile < tiles; tile += kDeltaThreads) {
    int i0 = tile / tileCols * kRows, j0 = tile % tileCols * kCols;
    float sum[kRows][kCols] = {};
    for (int p = 0; p < k; ++p) {
      float x[kRows], y[kCols];
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        x[i] = a(min(i0 + i, m - 1), p);
#pragma unroll
      for (int j = 0; j < kCols; ++j)
        y[j] = b(p, min(j0 + j, n - 1));
#pragma unroll
      for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int j = 0; j < kCols; ++j)
          sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kCols; ++j)
        if (i0 + i < m && j0 + j < n)
          store(i0 + i, j0 + j, sum[i][j]);
  }
}

/// D_ij; the difference is masked before the exponential, since above the diagonal it may be large and positive. gamma
/// comes in two floats: a strong decay early in the chunk must not cost the digits of the small differences after it.
__device__ __forceinline__ float deltaDecay(const float *gates, int i, int j) {
  const float *high = gates + kDeltaHigh * kDeltaChunk, *low = gates + kDeltaLow * kDeltaChunk;
  float difference = j <= i ? (high[i] - high[j]) + (low[i] - low[j]) : 0.0f;
  return j <= i ? expf(difference) : 0.0f;
}

__device__ __forceinline__ i64 deltaMatrix(const DeltaShape &shape, int chunk, int head) {
  return (static_cast<i64>(chunk) * shape.valueHeads + head) * (kDeltaChunk * kDeltaChunk);
}
__device__ __forceinline__ float *deltaGates(const DeltaShape &shape, const DeltaWorkspace &w, int chunk, int head) {
  return as<float>(w.gates) + (static_cast<i64>(chunk) * shape.valueHeads + head) * (kDeltaGates * kDeltaChunk);
}
/// Brings them into shared memory, by the whole block. The caller synchronizes.
__device__ __forceinline__ void loadDeltaGates(float *to, const DeltaShape &shape, const DeltaWorkspace &w, int chunk,
                                               int head) {
  const float *from = deltaGates(shape, w, chunk, head);
  for (int i = threadIdx.x; i < kDeltaGates * kDeltaChunk; i += kDeltaThreads)
    to[i] = from[i];
}
/// Row t of a workspace of [T, W, width].
__device__ __forceinline__ float *deltaRow(Ptr data, const DeltaShape &shape, int t, int head, int width) {
  return as<float>(data) + (static_cast<i64>(t) * shape.valueHeads + head) * width;
}

/// Gates, T and P of a chunk and value head. Grid: maxChunks, W.
template <typename T, typename TBeta>
__global__ void __launch_bounds__(kDeltaThreads) gatedDeltaPrepare(const __grid_constant__ DeltaPrepareParams p) {
  awaitEarlierGrids();
  const DeltaShape &shape = p.shape;
  const Segments &docs = shape.docs;
  int head = blockIdx.y, keyHead = head / (shape.valueHeads / shape.keyHeads), thread = threadIdx.x;
  if (p.inverseOut.data)
    deltaZeroTail<float>(docs, p.inverseOut, shape.valueHeads, kDeltaChunk);
  if (blockIdx.x >= segmentChunks(docs))
    return;
  DeltaChunk chunk = deltaChunk(docs, blockIdx.x);
  int n = chunk.n;
  float *gates = sharedMemory<float>(), *kk = gates + kDeltaGates * kDeltaChunk,
        *inverse = kk + kDeltaPitch * kDeltaChunk;

  if (thread < kDeltaChunk) {
    gates[kDeltaHigh * kDeltaChunk + thread] =
        thread < n ? *rowOfHead<const float>(p.g, chunk.row + thread, head) : 0.0f;
    gates[kDeltaBeta * kDeltaChunk + thread] =
        thread < n ? toFloat(*rowOfHead<const TBeta>(p.beta, chunk.row + thread, head)) : 0.0f;
  }
  __syncthreads();
  if (thread == 0) {
    double gamma = 0.0;
    for (int i = 0; i < kDeltaChunk; ++i) {
      gamma += static_cast<double>(gates[kDeltaHigh * kDeltaChunk + i]);
      float high = static_cast<float>(gamma);
      gates[kDeltaHigh * kDeltaChunk + i] = high;
      gates[kDeltaLow * kDeltaChunk + i] = static_cast<float>(gamma - static_cast<double>(high));
    }
  }
  __syncthreads();
  if (thread < kDeltaChunk) {
    const float *high = gates + kDeltaHigh * kDeltaChunk, *low = gates + kDeltaLow * kDeltaChunk;
    gates[kDeltaDecay * kDeltaChunk + thread] = thread < n ? expf(high[thread]) * (1.0f + low[thread]) : 0.0f;
    gates[kDeltaToEnd * kDeltaChunk + thread] =
        thread < n ? expf((high[n - 1] - high[thread]) + (low[n - 1] - low[thread])) : 0.0f;
  }
  __syncthreads();
  for (int i = thread; i < kDeltaGates * kDeltaChunk; i += kDeltaThreads)
    deltaGates(shape, p.workspace, blockIdx.x, head)[i] = gates[i];

  auto query = [&](int i, int d) {
    return p.shape.scale * toFloat(rowOfHead<const T>(p.q, chunk.row + i, keyHead)[d]);
  };
  auto key = [&](int i, int d) { return toFloat(rowOfHead<const T>(p.k, chunk.row + i, keyHead)[d]); };
  auto keyT = [&](int d, int i) { return key(i, d); };
  if (p.inverseIn.data) {
    for (int i = thread; i < kDeltaChunk * kDeltaChunk; i += kDeltaThreads) {
      int t = i / kDeltaChunk, j = i % kDeltaChunk;
      inverse[t * kDeltaPitch + j] =
          t < n && j <= t ? rowOfHead<const float>(p.inverseIn, chunk.row + t, head)[j] : 0.0f;
    }
  } else {
    deltaProduct<4, 4>(n, n, shape.dk, key, keyT, [&](int i, int j, float sum) { kk[i * kDeltaPitch + j] = sum; });
    __syncthreads();
    // Forward substitution. Columns of the inverse do not meet.
    if (thread < kDeltaChunk)
      for (int i = 0; i < kDeltaChunk; ++i) {
        float sum = 0.0f;
        for (int t = thread; t < i && i < n; ++t)
          sum = fmaf(kk[i * kDeltaPitch + t], inverse[t * kDeltaPitch + thread], sum);
        float row = thread < i ? -gates[kDeltaBeta * kDeltaChunk + i] * sum : thread == i ? 1.0f : 0.0f;
        inverse[i * kDeltaPitch + thread] = i < n ? row : 0.0f;
      }
  }
  __syncthreads();
  float *transform = as<float>(p.workspace.inverse) + deltaMatrix(shape, blockIdx.x, head);
  for (int i = thread; i < kDeltaChunk * kDeltaChunk; i += kDeltaThreads) {
    int t = i / kDeltaChunk, j = i % kDeltaChunk;
    float value = inverse[t * kDeltaPitch + j];
    if (p.inverseOut.data && t < n)
      rowOfHead<float>(p.inverseOut, chunk.row + t, head)[j] = value;
    transform[i] = value * deltaDecay(gates, t, j);
  }
  float *scores = as<float>(p.workspace.scores) + deltaMatrix(shape, blockIdx.x, head);
  deltaProduct<4, 4>(n, n, shape.dk, query, keyT, [&](int i, int j, float sum) {
    scores[i * kDeltaChunk + j] = j <= i ? sum * deltaDecay(gates, i, j) : 0.0f;
  });
}

/// Shared memory of a block of the scans (deltaScanFloats): its columns of S or of the gradient, [dk, kDeltaSlice]; two
/// matrices of its columns by tokens of a chunk, [kDeltaChunk, kDeltaSlicePitch]; the chunk's gates.
struct DeltaScanShared {
  __device__ __forceinline__ explicit DeltaScanShared(int dk)
      : state(sharedMemory<float>()), rowsA(state + dk * kDeltaSlice), rowsB(rowsA + kDeltaChunk * kDeltaSlicePitch),
        gates(rowsB + kDeltaChunk * kDeltaSlicePitch) {}
  float *state, *rowsA, *rowsB, *gates;
};

/// The chunks of a document in order. Writes out, or states, values and residuals. Grid: documents, W, slices of dv.
template <typename T>
__global__ void __launch_bounds__(kDeltaThreads) gatedDeltaScan(const __grid_constant__ DeltaScanParams p) {
  awaitEarlierGrids();
  constexpr int kPitch = kDeltaSlicePitch;
  const DeltaShape &shape = p.shape;
  const Segments &docs = shape.docs;
  int document = blockIdx.x, head = blockIdx.y, keyHead = head / (shape.valueHeads / shape.keyHeads);
  int col = blockIdx.z * kDeltaSlice, cols = min(kDeltaSlice, shape.dv - col), dk = shape.dk;
  if (p.out.data)
    deltaZeroTail<T>(docs, p.out, shape.valueHeads, shape.dv);
  if (document >= segmentDocuments(docs))
    return;
  int begin = documentBegin(docs, document), end = documentBegin(docs, document + 1);
  if (begin == end)
    return;
  DeltaScanShared shared(dk);
  float *state = shared.state, *x = shared.rowsA, *values = shared.rowsB, *gates = shared.gates;
  const float *beta = gates + kDeltaBeta * kDeltaChunk, *decay = gates + kDeltaDecay * kDeltaChunk;
  const float *toEnd = gates + kDeltaToEnd * kDeltaChunk;
  for (int i = threadIdx.x; i < dk * kDeltaSlice; i += kDeltaThreads)
    state[i] = 0.0f;
  int chunk = deltaChunkAt(docs, begin);
  for (int row = begin; row < end; row += kDeltaChunk, ++chunk) {
    int n = min(kDeltaChunk, end - row);
    loadDeltaGates(gates, shape, p.workspace, chunk, head);
    __syncthreads();
    const float *transform = as<const float>(p.workspace.inverse) + deltaMatrix(shape, chunk, head);
    const float *scores = as<const float>(p.workspace.scores) + deltaMatrix(shape, chunk, head);
    auto key = [&](int i, int d) { return toFloat(rowOfHead<const T>(p.k, row + i, keyHead)[d]); };
    auto keyT = [&](int d, int i) { return key(i, d); };
    auto stateAt = [&](int d, int c) { return state[d * kDeltaSlice + c]; };
    if (p.workspace.states) {
      float *to = as<float>(p.workspace.states) + (static_cast<i64>(chunk) * shape.valueHeads + head) * dk * shape.dv;
      for (int i = threadIdx.x; i < dk * cols; i += kDeltaThreads)
        to[i / cols * shape.dv + col + i % cols] = state[i / cols * kDeltaSlice + i % cols];
    }
    deltaProduct<2, 4>(n, cols, dk, key, stateAt, [&](int i, int c, float sum) {
      float residual = toFloat(rowOfHead<const T>(p.v, row + i, head)[col + c]) - decay[i] * sum;
      x[i * kPitch + c] = beta[i] * residual;
      if (p.workspace.residuals)
        deltaRow(p.workspace.residuals, shape, row + i, head, shape.dv)[col + c] = residual;
    });
    __syncthreads();
    deltaProduct<2, 4>(
        n, cols, n, [&](int i, int t) { return transform[i * kDeltaChunk + t]; },
        [&](int t, int c) { return x[t * kPitch + c]; },
        [&](int i, int c, float sum) {
          values[i * kPitch + c] = sum;
          if (p.workspace.values)
            deltaRow(p.workspace.values, shape, row + i, head, shape.dv)[col + c] = sum;
        });
    __syncthreads();
    if (p.out.data)
      deltaProduct<2, 4>(
          n, cols, dk + n,
          [&](int i, int t) {
            return t < dk ? decay[i] * shape.scale * toFloat(rowOfHead<const T>(p.q, row + i, keyHead)[t])
                          : scores[i * kDeltaChunk + t - dk];
          },
          [&](int t, int c) { return t < dk ? state[t * kDeltaSlice + c] : values[(t - dk) * kPitch + c]; },
          [&](int i, int c, float sum) { rowOfHead<T>(p.out, row + i, head)[col + c] = fromFloat<T>(sum); });
    __syncthreads();
    float total = decay[n - 1];
    deltaProduct<4, 4>(
        dk, cols, n, [&](int d, int t) { return toEnd[t] * keyT(d, t); },
        [&](int t, int c) { return values[t * kPitch + c]; },
        [&](int d, int c, float sum) {
          float &s = state[d * kDeltaSlice + c];
          s = total * s + sum;
        });
    __syncthreads();
  }
}

/// The chunks of a document from the last to the first, with dS. Writes dV, dX and the gradients of the states.
/// Grid: documents, W, slices of dv.
template <typename T>
__global__ void __launch_bounds__(kDeltaThreads) gatedDeltaScanBack(const __grid_constant__ DeltaScanBackParams p) {
  awaitEarlierGrids();
  constexpr int kPitch = kDeltaSlicePitch;
  const DeltaShape &shape = p.shape;
  const Segments &docs = shape.docs;
  int document = blockIdx.x, head = blockIdx.y, keyHead = head / (shape.valueHeads / shape.keyHeads);
  int col = blockIdx.z * kDeltaSlice, cols = min(kDeltaSlice, shape.dv - col), dk = shape.dk;
  deltaZeroTail<T>(docs, p.dV, shape.valueHeads, shape.dv);
  if (document >= segmentDocuments(docs))
    return;
  int begin = documentBegin(docs, document), end = documentBegin(docs, document + 1);
  if (begin == end)
    return;
  DeltaScanShared shared(dk);
  float *dState = shared.state, *dValues = shared.rowsA, *dX = shared.rowsB, *gates = shared.gates;
  const float *beta = gates + kDeltaBeta * kDeltaChunk, *decay = gates + kDeltaDecay * kDeltaChunk;
  const float *toEnd = gates + kDeltaToEnd * kDeltaChunk;
  for (int i = threadIdx.x; i < dk * kDeltaSlice; i += kDeltaThreads)
    dState[i] = 0.0f;
  int first = deltaChunkAt(docs, begin);
  for (int chunk = first + (end - begin - 1) / kDeltaChunk; chunk >= first; --chunk) {
    int row = begin + (chunk - first) * kDeltaChunk, n = min(kDeltaChunk, end - row);
    loadDeltaGates(gates, shape, p.workspace, chunk, head);
    __syncthreads();
    float *dStateOut =
        as<float>(p.workspace.stateGradients) + (static_cast<i64>(chunk) * shape.valueHeads + head) * dk * shape.dv;
    for (int i = threadIdx.x; i < dk * cols; i += kDeltaThreads)
      dStateOut[i / cols * shape.dv + col + i % cols] = dState[i / cols * kDeltaSlice + i % cols];
    const float *transform = as<const float>(p.workspace.inverse) + deltaMatrix(shape, chunk, head);
    const float *scores = as<const float>(p.workspace.scores) + deltaMatrix(shape, chunk, head);
    auto key = [&](int i, int d) { return toFloat(rowOfHead<const T>(p.k, row + i, keyHead)[d]); };
    auto dOut = [&](int i, int c) { return toFloat(rowOfHead<const T>(p.dOut, row + i, head)[col + c]); };
    // dV' = P' dO + K^ dS'
    deltaProduct<2, 4>(
        n, cols, n + dk, [&](int j, int t) { return t < n ? scores[t * kDeltaChunk + j] : toEnd[j] * key(j, t - n); },
        [&](int t, int c) { return t < n ? dOut(t, c) : dState[(t - n) * kDeltaSlice + c]; },
        [&](int j, int c, float sum) { dValues[j * kPitch + c] = sum; });
    __syncthreads();
    // dX = T' dV'; dV = beta dX
    deltaProduct<2, 4>(
        n, cols, n, [&](int j, int t) { return transform[t * kDeltaChunk + j]; },
        [&](int t, int c) { return dValues[t * kPitch + c]; },
        [&](int j, int c, float sum) {
          dX[j * kPitch + c] = sum;
          deltaRow(p.workspace.dX, shape, row + j, head, shape.dv)[col + c] = sum;
          rowOfHead<T>(p.dV, row + j, head)[col + c] = fromFloat<T>(beta[j] * sum);
        });
    __syncthreads();
    // dS = e^gamma_C dS' + Q' (e^gamma dO) - K' (e^gamma beta dX)
    float total = decay[n - 1];
    deltaProduct<4, 4>(
        dk, cols, 2 * n,
        [&](int d, int t) {
          return t < n ? shape.scale * toFloat(rowOfHead<const T>(p.q, row + t, keyHead)[d]) : key(t - n, d);
        },
        [&](int t, int c) {
          return t < n ? decay[t] * dOut(t, c) : -decay[t - n] * beta[t - n] * dX[(t - n) * kPitch + c];
        },
        [&](int d, int c, float sum) {
          float &s = dState[d * kDeltaSlice + c];
          s = total * s + sum;
        });
    __syncthreads();
  }
}

/// sums[i] (+)= sum over d of matrix [i, d] other(i, d), a warp a row.
template <typename Other>
__device__ __forceinline__ void deltaRowDots(int n, int width, const float *matrix, Other other, float *sums) {
  for (int i = threadIdx.x / 32; i < n; i += kDeltaThreads / 32) {
    float sum = 0.0f;
    for (int d = threadIdx.x % 32; d < width; d += 32)
      sum = fmaf(matrix[i * (width + 1) + d], other(i, d), sum);
    sum = warpSum(sum);
    if (threadIdx.x % 32 == 0)
      sums[i] += sum;
  }
}

/// dG and dBeta of a chunk and value head, and what the head adds to dQ / scale and dK. Grid: maxChunks, W.
template <typename T, typename TDBeta>
__global__ void __launch_bounds__(kDeltaThreads) gatedDeltaGrad(const __grid_constant__ DeltaGradParams p) {
  awaitEarlierGrids();
  const DeltaShape &shape = p.shape;
  const DeltaWorkspace &w = p.workspace;
  const Segments &docs = shape.docs;
  int head = blockIdx.y, keyHead = head / (shape.valueHeads / shape.keyHeads), dk = shape.dk, dv = shape.dv;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  deltaZeroTail<float>(docs, p.dG, shape.valueHeads, 1);
  deltaZeroTail<TDBeta>(docs, p.dBeta, shape.valueHeads, 1);
  if (blockIdx.x >= segmentChunks(docs))
    return;
  DeltaChunk chunk = deltaChunk(docs, blockIdx.x);
  int n = chunk.n, row = chunk.row;
  // Gradients of the scores, M = beta (dA . D), and products of keys, [64, kDeltaPitch]; E and then its sums.
  float *dScores = sharedMemory<float>(), *m = dScores + kDeltaChunk * kDeltaPitch;
  float *kk = m + kDeltaChunk * kDeltaPitch, *e = kk + kDeltaChunk * kDeltaPitch;
  float *product = e + kDeltaChunk * kDeltaPitch, *gates = product + kDeltaChunk * (dk + 1);
  float *reads = gates + kDeltaGates * kDeltaChunk, *writes = reads + kDeltaChunk, *dBeta = writes + kDeltaChunk;
  float *sums = dBeta + kDeltaChunk;
  loadDeltaGates(gates, shape, w, blockIdx.x, head);
  for (int i = threadIdx.x; i < 3 * kDeltaChunk; i += kDeltaThreads)
    reads[i] = 0.0f;
  __syncthreads();
  const float *beta = gates + kDeltaBeta * kDeltaChunk, *decay = gates + kDeltaDecay * kDeltaChunk;
  const float *toEnd = gates + kDeltaToEnd * kDeltaChunk;
  const float *scores = as<const float>(w.scores) + deltaMatrix(shape, blockIdx.x, head);
  i64 stateOffset = (static_cast<i64>(blockIdx.x) * shape.valueHeads + head) * dk * dv;
  const float *state = as<const float>(w.states) + stateOffset;
  const float *dState = as<const float>(w.stateGradients) + stateOffset;
  auto query = [&](int i, int d) { return shape.scale * toFloat(rowOfHead<const T>(p.q, row + i, keyHead)[d]); };
  auto key = [&](int i, int d) { return toFloat(rowOfHead<const T>(p.k, row + i, keyHead)[d]); };
  auto dOut = [&](int i, int c) { return toFloat(rowOfHead<const T>(p.dOut, row + i, head)[c]); };
  auto value = [&](int i, int c) { return deltaRow(w.values, shape, row + i, head, dv)[c]; };
  auto dX = [&](int i, int c) { return deltaRow(w.dX, shape, row + i, head, dv)[c]; };

  deltaProduct<4, 4>(
      n, n, dk, key, [&](int d, int j) { return key(j, d); },
      [&](int i, int j, float sum) { kk[i * kDeltaPitch + j] = sum; });
  deltaProduct<4, 4>(
      n, n, dv, dOut, [&](int c, int j) { return value(j, c); },
      [&](int i, int j, float sum) { dScores[i * kDeltaPitch + j] = j <= i ? sum : 0.0f; });
  deltaProduct<4, 4>(
      n, n, dv, dX, [&](int c, int j) { return value(j, c); },
      [&](int i, int j, float sum) { m[i * kDeltaPitch + j] = j < i ? -sum : 0.0f; });
  __syncthreads();
  for (int i = warp; i < n; i += kDeltaThreads / 32) {
    float sum = 0.0f;
    for (int j = lane; j < n; j += 32) {
      int at = i * kDeltaPitch + j;
      float d = deltaDecay(gates, i, j), keys = m[at] * d, overBeta = j < i ? keys * kk[at] : 0.0f;
      e[at] = j <= i ? dScores[at] * scores[i * kDeltaChunk + j] + beta[i] * overBeta : 0.0f;
      dScores[at] *= d;
      m[at] = beta[i] * keys;
      sum += overBeta;
    }
    for (int c = lane; c < dv; c += 32)
      sum = fmaf(dX(i, c), deltaRow(w.residuals, shape, row + i, head, dv)[c], sum);
    sum = warpSum(sum);
    if (lane == 0)
      dBeta[i] = sum;
  }
  __syncthreads();

  float *dQ = deltaRow(w.dQ, shape, row, head, dk), *dK = deltaRow(w.dK, shape, row, head, dk);
  int stride = shape.valueHeads * dk;
  auto keepProduct = [&](int i, int d, float sum) { product[i * (dk + 1) + d] = sum; };
  // dQ = (e^gamma dO) S' + (dP . D) K
  deltaProduct<4, 4>(
      n, dk, dv, [&](int i, int c) { return decay[i] * dOut(i, c); }, [&](int c, int d) { return state[d * dv + c]; },
      keepProduct);
  __syncthreads();
  deltaRowDots(n, dk, product, query, reads);
  deltaProduct<4, 4>(
      n, dk, n, [&](int i, int j) { return dScores[i * kDeltaPitch + j]; }, key,
      [&](int i, int d, float sum) { dQ[static_cast<i64>(i) * stride + d] = sum + product[i * (dk + 1) + d]; });
  __syncthreads();
  // dK = Y S' + K^'s gradient + (dP . D)' Q + (M + M') K, Y = -e^gamma beta dX
  deltaProduct<4, 4>(
      n, dk, dv, [&](int i, int c) { return -decay[i] * beta[i] * dX(i, c); },
      [&](int c, int d) { return state[d * dv + c]; }, keepProduct);
  __syncthreads();
  deltaRowDots(n, dk, product, key, reads);
  deltaProduct<4, 4>(
      n, dk, 2 * n,
      [&](int i, int t) {
        return t < n ? dScores[t * kDeltaPitch + i] : m[i * kDeltaPitch + t - n] + m[(t - n) * kDeltaPitch + i];
      },
      [&](int t, int d) { return t < n ? query(t, d) : key(t - n, d); },
      [&](int i, int d, float sum) { dK[static_cast<i64>(i) * stride + d] = sum + product[i * (dk + 1) + d]; });
  __syncthreads();
  deltaProduct<4, 4>(
      n, dk, dv, [&](int i, int c) { return toEnd[i] * value(i, c); }, [&](int c, int d) { return dState[d * dv + c]; },
      [&](int i, int d, float sum) {
        product[i * (dk + 1) + d] = sum;
        dK[static_cast<i64>(i) * stride + d] += sum;
      });
  __syncthreads();
  deltaRowDots(n, dk, product, key, writes);
  float through = 0.0f;
  for (int i = threadIdx.x; i < dk * dv; i += kDeltaThreads)
    through = fmaf(dState[i], state[i], through);
  through = decay[n - 1] * blockSum<kDeltaThreads>(through, sums);

  // E is the gradient of gamma_i - gamma_j for each pair, and g_t is in the pairs j < t <= i alone: summing just those
  // leaves no differences of large numbers. e becomes its own sums over the rows from i on.
  if (threadIdx.x < n)
    for (int i = n - 1; i-- > 0;)
      e[i * kDeltaPitch + threadIdx.x] += e[(i + 1) * kDeltaPitch + threadIdx.x];
  __syncthreads();
  for (int t = warp; t < n; t += kDeltaThreads / 32) {
    float sum = 0.0f;
    for (int j = lane; j < n; j += 32)
      sum += (j < t ? e[t * kDeltaPitch + j] + writes[j] : 0.0f) + (j >= t ? reads[j] : 0.0f);
    sum = warpSum(sum);
    if (lane == 0) {
      *rowOfHead<float>(p.dG, row + t, head) = sum + through;
      *rowOfHead<TDBeta>(p.dBeta, row + t, head) = fromFloat<TDBeta>(dBeta[t]);
    }
  }
}

/// dQ and dK as sums over the value heads of a key head, in their order. Blocks take tokens in turn.
template <typename T>
__global__ void __launch_bounds__(kDeltaThreads) gatedDeltaReduce(const __grid_constant__ DeltaReduceParams p) {
  awaitEarlierGrids();
  const DeltaShape &shape = p.shape;
  int ratio = shape.valueHeads / shape.keyHeads, tokens = segmentTokens(shape.docs), width = shape.keyHeads * shape.dk;
  for (int t = blockIdx.x; t < shape.docs.tokens; t += gridDim.x)
    for (int i = threadIdx.x; i < width; i += kDeltaThreads) {
      int head = i / shape.dk, d = i % shape.dk;
      float dQ = 0.0f, dK = 0.0f;
      for (int h = head * ratio; t < tokens && h < (head + 1) * ratio; ++h) {
        dQ += deltaRow(p.workspace.dQ, shape, t, h, shape.dk)[d];
        dK += deltaRow(p.workspace.dK, shape, t, h, shape.dk)[d];
      }
      rowOfHead<T>(p.dQ, t, head)[d] = fromFloat<T>(shape.scale * dQ);
      rowOfHead<T>(p.dK, t, head)[d] = fromFloat<T>(dK);
    }
}

} // namespace qrt::device
