// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_SWIGLU_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_SWIGLU_H

#include "Types.h"

namespace qrt::device {

constexpr int kSwigluThreads = 128;
/// Rows that a thread has in flight.
constexpr int kSwigluRows = 4, kSwigluGradRows = 2;

/// [rows, cols] each; strides between rows in elements.
struct SwigluParams {
  Ptr gate, up, y;
  i64 gateStride, upStride, yStride;
  int rows, cols;
};

/// dgate and dup may be gate and up themselves.
struct SwigluGradParams {
  Ptr gate, up, dy, dgate, dup;
  i64 gateStride, upStride, dyStride, dgateStride, dupStride;
  int rows, cols;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_SWIGLU_H
