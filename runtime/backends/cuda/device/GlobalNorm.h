// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_GLOBALNORM_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_GLOBALNORM_H

#include "Types.h"

namespace qrt::device {

/// Threads of a block of squaredNorm, and of normOfSums.
constexpr int kNormThreads = 256, kNormSumThreads = 1024;

/// Elements of a chunk: a piece of one row of one gradient, summed by one block. The order of the sum follows from it,
/// so it is the same on every device.
constexpr int kNormChunk = 65536;

/// A gradient as rows of `cols` elements, `stride` apart.
struct NormPart {
  Ptr data;
  i64 cols, stride;
  /// Its first chunk, of those of the launch.
  int firstChunk;
  /// 2: bf16; 4: f32.
  short elementBytes;
  /// Whether rows start on 16 bytes.
  short hasVectors;
};
/// Gradients of one launch: the parameters stay below 4 KiB.
constexpr int kNormParts = 120;

struct SquaredNormParams {
  /// f64, one a chunk of this launch.
  Ptr sums;
  int parts;
  NormPart part[kNormParts];
};
static_assert(sizeof(SquaredNormParams) <= 4096);

/// norm = square root of the sum of `count` sums.
struct NormOfSumsParams {
  Ptr sums, norm;
  int count;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_GLOBALNORM_H
