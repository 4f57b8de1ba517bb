// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_EMBEDDINGGRAD_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_EMBEDDINGGRAD_H

#include "Types.h"

namespace qrt::device {

constexpr int kEmbeddingGradThreads = 128;
/// Positions of `order` that a block takes.
constexpr int kEmbeddingGradPositions = 32;

/// `partials`: [blocks, 2, cols] of f32 (see EmbeddingGrad.cuh); strides between rows in elements.
struct EmbeddingGradParams {
  Segments docs;
  Ptr ids, order, dout, dweight, partials;
  i64 doutStride, dweightStride;
  int cols, accumulate;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_EMBEDDINGGRAD_H
