// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/PreparedWorks.h"

namespace qrt::cuda {

StatusOr<PreparedWorks> PreparedWorks::prepare(const WorkContext &context, std::span<const DeviceWork> works) {
  PreparedWorks prepared;
  for (const DeviceWork &work : works) {
    if (const DeviceLaunch *launch = std::get_if<DeviceLaunch>(&work)) {
      QRT_ASSIGN_OR_RETURN(PreparedLaunch ready, PreparedLaunch::prepare(context.driver, context.modules, *launch));
      prepared.works_.emplace_back(std::move(ready));
    } else if (const GemmLaunch *gemm = std::get_if<GemmLaunch>(&work)) {
      QRT_ASSIGN_OR_RETURN(PreparedGemm ready, PreparedGemm::prepare(context.cublasLt, *gemm));
      prepared.works_.emplace_back(std::move(ready));
    } else {
      prepared.works_.emplace_back(std::get<FillLaunch>(work));
    }
  }
  return prepared;
}

Status PreparedWorks::launch(const WorkContext &context, CUstream stream) const {
  for (const Work &work : works_) {
    if (const PreparedLaunch *launch = std::get_if<PreparedLaunch>(&work)) {
      QRT_RETURN_IF_ERROR(launch->launch(context.driver, stream));
    } else if (const PreparedGemm *gemm = std::get_if<PreparedGemm>(&work)) {
      QRT_RETURN_IF_ERROR(gemm->launch(stream, context.gemmWorkspace));
    } else {
      const FillLaunch &fill = std::get<FillLaunch>(work);
      QRT_CUDA_CHECK(context.driver, cuMemsetD8Async(fill.data, 0, static_cast<size_t>(fill.bytes), stream));
    }
  }
  return Status();
}

} // namespace qrt::cuda
