// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between tensors of any strides, in units of 1 to 16 bytes; and zeros.
#include "Common.cuh"
#include "CopyRows.h"

namespace qrt::device {

/// Where unit `unit` lies, in units.
__device__ __forceinline__ i64 placeOf(unsigned unit, const Divisor (&dims)[3], const i64 (&strides)[4]) {
  i64 place = 0;
#pragma unroll
  for (int axis = 3; axis > 0; --axis) {
    unsigned outer = quotient(unit, dims[axis - 1]);
    place += (unit - outer * dims[axis - 1].value) * strides[axis];
    unit = outer;
  }
  return place + unit * strides[0];
}

template <typename Unit>
__global__ void __launch_bounds__(kCopyThreads) copyRows(const __grid_constant__ CopyRowsParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  unsigned first = blockIdx.x * (kCopyThreads * kCopyUnits) + threadIdx.x;
  Unit units[kCopyUnits];
#pragma unroll
  for (int i = 0; i < kCopyUnits; ++i)
    if (unsigned unit = first + i * kCopyThreads; unit < p.units)
      units[i] = as<const Unit>(p.source)[placeOf(unit, p.dims, p.sourceStrides)];
#pragma unroll
  for (int i = 0; i < kCopyUnits; ++i)
    if (unsigned unit = first + i * kCopyThreads; unit < p.units)
      as<Unit>(p.target)[placeOf(unit, p.dims, p.targetStrides)] = units[i];
}

template <typename Unit>
__global__ void __launch_bounds__(kCopyThreads) zeroRows(const __grid_constant__ CopyRowsParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  unsigned first = blockIdx.x * (kCopyThreads * kCopyUnits) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kCopyUnits; ++i)
    if (unsigned unit = first + i * kCopyThreads; unit < p.units)
      as<Unit>(p.target)[placeOf(unit, p.dims, p.targetStrides)] = Unit{};
}

} // namespace qrt::device
