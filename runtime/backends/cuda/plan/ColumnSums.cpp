// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/ColumnSums.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {

void planColumnSums(DevicePtr lines, int64_t stride, int64_t count, std::initializer_list<ColumnSum> sums,
                    KernelPlan &plan) {
  assert(sums.size() <= device::kColumnSumResults);
  device::ColumnSumsParams params{lines, stride, int32(count), 0, {}};
  uint32_t blocks = 0;
  for (const ColumnSum &sum : sums) {
    const TensorShape &shape = sum.result.shape;
    assert(isDense(shape));
    params.result[params.results++] = {sum.result.data, int32(shape.elements()), int32(byteSize(shape.dtype)),
                                       sum.accumulate, int32(blocks)};
    blocks += ceilDiv(shape.elements(), device::kColumnSumColumns);
  }
  plan.launch("ColumnSums.cuh", "columnSums", {blocks}, {device::kColumnSumThreads}, 0, params);
}

} // namespace qrt::cuda
