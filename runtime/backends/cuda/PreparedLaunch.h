// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_PREPAREDLAUNCH_H
#define RUNTIME_BACKENDS_CUDA_PREPAREDLAUNCH_H

#include "runtime/backends/cuda/KernelModules.h"

namespace qrt::cuda {

/// A device launch with everything looked up: function, encoded tensor maps.
class PreparedLaunch {
public:
  static StatusOr<PreparedLaunch> prepare(const Driver &driver, KernelModules &modules, const DeviceLaunch &launch);

  /// Puts it on a stream; also while the stream is being captured.
  Status launch(const Driver &driver, CUstream stream) const;

  const std::string &name() const { return name_; }

private:
  PreparedLaunch() = default;

  std::string name_;
  CUfunction function_ = nullptr;
  Dim3 grid_, block_;
  uint32_t cluster_ = 1, sharedBytes_ = 0;
  /// Aligned for tensor maps.
  struct alignas(128) Line {
    std::byte bytes[128];
  };
  std::vector<Line> params_;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_PREPAREDLAUNCH_H
