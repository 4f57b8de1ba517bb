// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_HEADSTAGES_H
#define RUNTIME_BACKENDS_CUDA_DEVICE_HEADSTAGES_H

#include "Types.h"

namespace qrt::device {

/// Heads that travel (HeadStages.cuh) have so many channels, of bf16, and so many tokens travel at once: the box of the
/// tensor's map, [tokens, 1 head, channels].
constexpr int kHeadWidth = 128, kHeadGroup = 8;
constexpr int kHeadBoxBytes = kHeadGroup * kHeadWidth * 2;

/// Shared memory that a warp has for `stages` groups of `tensors` tensors.
constexpr int headStageBytes(int tensors, int stages) { return tensors * stages * kHeadBoxBytes; }

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_HEADSTAGES_H
