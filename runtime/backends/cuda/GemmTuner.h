// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_GEMMTUNER_H
#define RUNTIME_BACKENDS_CUDA_GEMMTUNER_H

#include "runtime/backends/cuda/Gpu.h"

#include <map>

namespace qrt::cuda {

/// Chooses the algorithm of each matrix product by timing the library's candidates on the device, once for products of
/// one name (PreparedGemm::name). Choices are kept in a file for each GPU and version of the library, so that later
/// runs make the same.
class GemmTuner {
public:
  /// `folder`: where the file of choices lies; empty: nowhere.
  GemmTuner(const Gpu &gpu, std::string folder);

  /// Sets the algorithm of `gemm`. `scratch` is device memory for operands, whose contents are lost; where it is too
  /// small, the library's first candidate stays.
  Status choose(PreparedGemm &gemm, DevicePtr scratch, int64_t scratchBytes);

  /// Writes the choices made since the file was read. A folder that cannot be written is no error.
  void save();

  /// Products timed so far.
  int64_t timed() const { return timed_; }

private:
  void load();
  Status time(PreparedGemm &gemm, DevicePtr scratch, int64_t scratchBytes, size_t &best);

  const Gpu &gpu_;
  std::string path_;
  std::map<std::string, LtAlgorithm> choices_;
  /// Scratch that holds random numbers already.
  DevicePtr filled_ = 0;
  int64_t filledBytes_ = 0;
  int64_t timed_ = 0;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_GEMMTUNER_H
