// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/EmbeddingGrad.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {

Status planEmbeddingGrad(const Call &call, KernelPlan &plan) {
  const Tensor &ids = call.args[1], &order = call.args[2], &dout = call.args[3], &dweight = call.args[4];
  QRT_ASSIGN_OR_RETURN(int64_t width, pieceWidth(call, dout.shape.dtype, {&dout, &dweight}));
  int64_t cols = dout.dim(1), chunks = ceilDiv(dout.dim(0), device::kEmbeddingGradPositions);
  bool accumulate = call.accumulates(4);
  if (!accumulate)
    QRT_RETURN_IF_ERROR(planZero(dweight, plan));
  DevicePtr partials = plan.workspace(chunks * 2 * cols * 4);
  device::EmbeddingGradParams params{segmentsOf(call, 0), ids.data,  order.data,     dout.data,
                                     dweight.data,        partials,  dout.stride(0), dweight.stride(0),
                                     int32(cols),         accumulate};
  Dim3 grid{gridExtent(chunks), ceilDiv(cols, width * device::kEmbeddingGradThreads)};
  Dim3 block{device::kEmbeddingGradThreads};
  plan.launch("EmbeddingGrad.cuh", instance("embeddingGrad", {dout.shape.dtype, dweight.shape.dtype}, {width}), grid,
              block, 0, params);
  plan.launch("EmbeddingGrad.cuh", instance("embeddingGradRuns", {dweight.shape.dtype}, {width}), grid, block, 0,
              params);
  return Status();
}

} // namespace qrt::cuda
