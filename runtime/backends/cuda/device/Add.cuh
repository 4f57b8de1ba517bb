// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sum += term, of tensors of any strides: the units of CopyRows.cuh are pieces.
#include "CopyRows.cuh"
#include "Pieces.cuh"

namespace qrt::device {

template <typename T, int N>
__global__ void __launch_bounds__(kCopyThreads) add(const __grid_constant__ CopyRowsParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  unsigned first = blockIdx.x * (kCopyThreads * kCopyUnits) + threadIdx.x;
  Piece<T, N> sums[kCopyUnits], terms[kCopyUnits];
  T *places[kCopyUnits];
#pragma unroll
  for (int i = 0; i < kCopyUnits; ++i) {
    if (unsigned unit = first + i * kCopyThreads; unit < p.units) {
      places[i] = as<T>(p.target) + placeOf(unit, p.dims, p.targetStrides) * N;
      sums[i] = streamPiece<N>(places[i]);
      terms[i] = streamPiece<N>(as<const T>(p.source) + placeOf(unit, p.dims, p.sourceStrides) * N);
    }
  }
#pragma unroll
  for (int i = 0; i < kCopyUnits; ++i) {
    if (first + i * kCopyThreads < p.units) {
      float sum[N], term[N];
      unpack(sums[i], sum);
      unpack(terms[i], term);
#pragma unroll
      for (int j = 0; j < N; ++j)
        sum[j] += term[j];
      storePiece(places[i], pack<T>(sum));
    }
  }
}

} // namespace qrt::device
