// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_CUPTI_ACTIVITYRECORDER_H
#define RUNTIME_BACKENDS_CUDA_CUPTI_ACTIVITYRECORDER_H

#include "runtime/backends/cuda/cupti/Cupti.h"
#include "runtime/device/ExecutionTrace.h"

#include <memory>
#include <optional>

namespace qrt::cuda {

/// Records the kernels, copies and fills that the process's GPUs do while it lives. One at a time.
class ActivityRecorder {
public:
  /// Begins. Unsupported, naming what is missing, where there is no CUPTI or it may not look.
  static StatusOr<std::unique_ptr<ActivityRecorder>> start();
  ~ActivityRecorder();
  ActivityRecorder(const ActivityRecorder &) = delete;

  /// What was done since the last call, or since the beginning, in no order; the GPU must be idle. Works have no
  /// instructions yet. Unsupported if records were lost.
  StatusOr<std::vector<TracedWork>> take();

private:
  explicit ActivityRecorder(const Cupti &cupti) : cupti_(cupti) {}

  const Cupti &cupti_;
};

/// The work of a record: nothing of one that is of another kind, or that has no times.
std::optional<TracedWork> tracedWork(const CuptiActivity &record);

/// "addRmsNorm<bf16, float>": a mangled name without namespaces of ours, return type and parameters; other names as
/// they are.
std::string functionName(const char *mangled);

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_CUPTI_ACTIVITYRECORDER_H
