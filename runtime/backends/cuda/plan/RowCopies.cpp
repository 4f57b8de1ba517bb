// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/RowCopies.h"

#include "runtime/backends/cuda/plan/Plans.h"
#include "runtime/base/IgnoredLabel.h"

#include <fmt/format.h>

namespace qrt::cuda {
namespace {

constexpr uint32_t kThreads = device::kRowCopyThreads;
static_assert(device::kIgnoredLabel == kIgnoredLabel);

/// Moves rows of argument `from` to rows of argument `to`, of the same width, `rowsPerBlock` a block.
Status planRows(const Call &call, std::string_view function, int from, int to, device::Ptr ids, int64_t rowsPerBlock,
                KernelPlan &plan) {
  const Tensor &source = call.args[static_cast<size_t>(from)], &target = call.args[static_cast<size_t>(to)];
  int64_t size = byteSize(target.shape.dtype);
  QRT_ASSIGN_OR_RETURN(int64_t elements, pieceWidth(call, target.shape.dtype, {&source, &target}));
  device::RowCopyParams params{segmentsOf(call, 0),
                               ids,
                               source.data,
                               target.data,
                               source.stride(0) / elements,
                               target.stride(0) / elements,
                               int32(target.dim(0)),
                               int32(target.dim(1) / elements)};
  std::string_view unit = elements > 1 ? "uint4" : size == 4 ? "unsigned" : "unsigned short";
  plan.launch("RowCopies.cuh", fmt::format("{}<{}>", function, unit), {ceilDiv(target.dim(0), rowsPerBlock)},
              {kThreads}, 0, params);
  return Status();
}

} // namespace

Status planEmbedding(const Call &call, KernelPlan &plan) {
  return planRows(call, "embedding", 2, 3, call.args[1].data, 1, plan);
}

Status planGatherRows(const Call &call, KernelPlan &plan) {
  const Tensor &x = call.args[1], &out = call.args[2];
  if (x.shape.dtype != DType::I32)
    return planRows(call, "gatherRows", 1, 2, 0, 1, plan);
  device::RowCopyParams params{segmentsOf(call, 0), 0, x.data, out.data, 0, 0, int32(out.dim(0)), 1};
  plan.launch("RowCopies.cuh", "gatherLabels", {ceilDiv(out.dim(0), kThreads)}, {kThreads}, 0, params);
  return Status();
}

Status planScatterRows(const Call &call, KernelPlan &plan) {
  return planRows(call, "scatterRows", 1, 2, 0, device::kScatterRows, plan);
}

} // namespace qrt::cuda
