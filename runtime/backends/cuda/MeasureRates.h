// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_MEASURERATES_H
#define RUNTIME_BACKENDS_CUDA_MEASURERATES_H

#include "runtime/backends/cuda/Gpu.h"
#include "runtime/device/Device.h"

namespace qrt::cuda {

/// Measures what the GPU can do, in `scratch`, whose contents are lost: copyRate by the driver's copy of half of it, at
/// most 4 GiB, to the other half; gemmRate by a product of 8,192^3 of operands in `dtype`. A rate stays 0 where there
/// is too little memory.
Status measureRates(const Gpu &gpu, const WorkContext &context, DType dtype, DevicePtr scratch, int64_t scratchBytes,
                    ExecutionTimes &times);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_MEASURERATES_H
