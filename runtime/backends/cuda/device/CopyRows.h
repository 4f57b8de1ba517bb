// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_COPYROWS_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_COPYROWS_H

#include "Types.h"

namespace qrt::device {

constexpr int kCopyThreads = 256;
/// Units that a thread has in flight.
constexpr int kCopyUnits = 4;

/// Copies (or makes zero, without a source) `units` units, numbered in row-major order of four dimensions, of which
/// `dims` are the last three; strides in units.
struct CopyRowsParams {
  Ptr source, target;
  i64 sourceStrides[4], targetStrides[4];
  Divisor dims[3];
  unsigned units;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_COPYROWS_H
