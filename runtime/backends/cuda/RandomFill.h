// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_RANDOMFILL_H
#define RUNTIME_BACKENDS_CUDA_RANDOMFILL_H

#include "runtime/backends/cuda/Gpu.h"

namespace qrt::cuda {

/// Fills memory with copies of `block`, which is not empty, the last of them cut off. Returns when it is done.
Status fillRepeating(const Gpu &gpu, DevicePtr data, int64_t bytes, std::span<const std::byte> block);

/// Fills memory with normally distributed bf16 numbers, for timing: products of zeros take less power, and so less
/// time, than real ones. Returns when it is done.
Status fillWithRandom(const Gpu &gpu, DevicePtr data, int64_t bytes);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_RANDOMFILL_H
