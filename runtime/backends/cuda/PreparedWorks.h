// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_PREPAREDWORKS_H
#define RUNTIME_BACKENDS_CUDA_PREPAREDWORKS_H

#include "runtime/backends/cuda/Gemm.h"
#include "runtime/backends/cuda/PreparedLaunch.h"

namespace qrt::cuda {

/// What works need besides their arguments. The libraries are shared, the modules and the workspace of matrix products
/// belong to the device.
struct WorkContext {
  const Driver &driver;
  const CublasLt &cublasLt;
  KernelModules &modules;
  DevicePtr gemmWorkspace;
};

/// The works of one instruction, with everything looked up.
class PreparedWorks {
public:
  static StatusOr<PreparedWorks> prepare(const WorkContext &context, std::span<const DeviceWork> works);

  /// Puts them on a stream, in order; also while it is being captured.
  Status launch(const WorkContext &context, CUstream stream) const;

  using Work = std::variant<PreparedLaunch, PreparedGemm, FillLaunch>;
  std::span<Work> works() { return works_; }
  std::span<const Work> works() const { return works_; }

private:
  std::vector<Work> works_;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_PREPAREDWORKS_H
