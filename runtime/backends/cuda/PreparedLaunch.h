// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_PREPAREDLAUNCH_H
#define RUNTIME_BACKENDS_CUDA_PREPAREDLAUNCH_H

#include "runtime/backends/cuda/KernelModules.h"

namespace qrt::cuda {

/// A device launch with everything looked up: function, encoded tensor maps.
class PreparedLaunch {
public:
  static StatusOr<PreparedLaunch> prepare(const Driver &driver, KernelModules &modules, const DeviceLaunch &launch);

  /// Puts it on a stream. While that is being captured, and the work before it is a kernel (of ours or a library's),
  /// the two are joined by a programmatic edge: the grid's blocks may take their places while those of the other end,
  /// and wait there (awaitEarlierGrids in device/Common.cuh). Between other works an edge must be a full one; outside a
  /// graph a launch is for finding errors, and waits.
  Status launch(const Driver &driver, CUstream stream) const;

  /// Adds it to a graph, after the nodes `before`, joined to those that are kernels by programmatic edges.
  StatusOr<CUgraphNode> addTo(const Driver &driver, CUgraph graph, std::span<const CUgraphNode> before) const;

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
