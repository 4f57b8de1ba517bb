// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An NVIDIA GPU as a device: spaces are device memory, an entry is one graph that a run launches once.
#ifndef RUNTIME_BACKENDS_CUDA_CUDADEVICE_H
#define RUNTIME_BACKENDS_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"

namespace qrt::cuda {

enum class LaunchMode {
  /// An entry is captured once and replayed.
  Graph,
  /// Instruction by instruction, in order: for debugging. The same bits.
  Eager,
};

struct CudaDeviceOptions {
  /// Among the GPUs that the driver sees.
  int ordinal = 0;
  LaunchMode launch = LaunchMode::Graph;
  /// Fills everything reserved with 0xFF (NaN, -1), and before every run the transient space and the results again.
  bool poison = false;
  /// Where the choices of algorithms are kept; empty: nowhere.
  std::string cacheFolder = {};
  /// A file of choices (ProductChoices.h) that products must have; empty: none.
  std::string products = {};
};

/// Unsupported, naming what is missing or too old, where there is no such GPU, driver or library, and naming both sides
/// where `products` are of another one.
StatusOr<std::unique_ptr<Device>> createCudaDevice(const CudaDeviceOptions &options = {});

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_CUDADEVICE_H
