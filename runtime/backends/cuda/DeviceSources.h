// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICESOURCES_H
#define RUNTIME_BACKENDS_CUDA_DEVICESOURCES_H

#include "runtime/nvrtc/Nvrtc.h"

namespace qrt::cuda {

/// The files of device/, as they were when this program was built.
std::span<const SourceFile> deviceSources();

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_DEVICESOURCES_H
