// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_POINTWISE_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_POINTWISE_H

#include "Types.h"

namespace qrt::device {

constexpr int kPointwiseThreads = 256;
constexpr int kPointwiseTensors = 20;

/// Strides in elements, those of all dimensions but the last; 0 where the tensor is repeated.
struct PointwiseTensor {
  Ptr data;
  i64 strides[3];
};

/// `pieces` pieces, numbered in row-major order of four dimensions, of which `dims` are the last three, the last in
/// pieces. The inputs come first, then the results.
struct PointwiseParams {
  PointwiseTensor tensors[kPointwiseTensors];
  Divisor dims[3];
  unsigned pieces;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_POINTWISE_H
