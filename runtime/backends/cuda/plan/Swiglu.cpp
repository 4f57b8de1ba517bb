// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/Swiglu.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {
namespace {

Dim3 gridOf(const Tensor &tensor, int64_t width, int64_t rows) {
  return {ceilDiv(tensor.dim(1), width * device::kSwigluThreads), gridRows(ceilDiv(tensor.dim(0), rows))};
}

} // namespace

Status planSwiglu(const Call &call, KernelPlan &plan) {
  const Tensor &gate = call.args[0], &up = call.args[1], &y = call.args[2];
  QRT_ASSIGN_OR_RETURN(int64_t width, pieceWidth(call, y.shape.dtype, {&gate, &up, &y}));
  device::SwigluParams params{gate.data,    up.data,     y.data,          gate.stride(0),
                              up.stride(0), y.stride(0), int32(y.dim(0)), int32(y.dim(1))};
  plan.launch("Swiglu.cuh", instance("swiglu", {y.shape.dtype}, {width}), gridOf(y, width, device::kSwigluRows),
              {device::kSwigluThreads}, 0, params);
  return Status();
}

Status planSwigluGrad(const Call &call, KernelPlan &plan) {
  const Tensor &gate = call.args[0], &up = call.args[1], &dy = call.args[2], &dgate = call.args[3], &dup = call.args[4];
  QRT_ASSIGN_OR_RETURN(int64_t width, pieceWidth(call, dy.shape.dtype, {&gate, &up, &dy, &dgate, &dup}));
  device::SwigluGradParams params{gate.data,       up.data,        dy.data,          dgate.data,
                                  dup.data,        gate.stride(0), up.stride(0),     dy.stride(0),
                                  dgate.stride(0), dup.stride(0),  int32(dy.dim(0)), int32(dy.dim(1))};
  plan.launch("Swiglu.cuh", instance("swigluGrad", {dy.shape.dtype}, {width}),
              gridOf(dy, width, device::kSwigluGradRows), {device::kSwigluThreads}, 0, params);
  return Status();
}

} // namespace qrt::cuda
