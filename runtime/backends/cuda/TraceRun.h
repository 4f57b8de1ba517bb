// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_TRACERUN_H
#define RUNTIME_BACKENDS_CUDA_TRACERUN_H

#include "runtime/backends/cuda/Gpu.h"
#include "runtime/device/ExecutionTrace.h"

#include <functional>

namespace qrt::cuda {

/// A run as it is to be traced.
struct TracedRun {
  /// By instruction.
  std::span<const PreparedWorks> works;
  /// Whether arguments are copied before the first instruction, and results after the last.
  bool copiesIn = false, copiesOut = false;
  /// Captures what `launch` will replay: after CUPTI has begun to look, which tells of graphs that it has seen made.
  std::function<Status()> prepare;
  /// Puts the run on the GPU's stream, once, with its copies.
  std::function<Status()> launch;
};

/// Runs it and says what the GPU did when, by CUPTI (Unsupported where there is none).
StatusOr<ExecutionTrace> trace(const Gpu &gpu, const WorkContext &context, const TracedRun &run);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_TRACERUN_H
