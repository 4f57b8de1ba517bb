// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/ColumnSums.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {

void planColumnSums(DevicePtr lines, int64_t stride, int64_t count, std::initializer_list<ColumnSum> sums,
                    KernelPlan &plan) {
  // Neighbours of one type share a launch.
  for (const ColumnSum *sum = sums.begin(); sum != sums.end();) {
    DType dtype = sum->result.shape.dtype;
    int64_t cols = sum->result.dim(sum->result.shape.rank - 1);
    device::ColumnSumsParams params{lines, {}, stride, int32(count), int32(cols), {}};
    uint32_t results = 0;
    for (; sum != sums.end() && results < 2 && sum->result.shape.dtype == dtype; ++sum, ++results) {
      assert(sum->result.dim(sum->result.shape.rank - 1) == cols);
      params.results[results] = sum->result.data;
      params.accumulate[results] = sum->accumulate;
    }
    plan.launch("ColumnSums.cuh", instance("columnSums", {dtype}), {ceilDiv(cols, device::kColumnSumColumns), results},
                {device::kColumnSumThreads}, 0, params);
    lines += static_cast<DevicePtr>(results * cols * 4);
  }
}

} // namespace qrt::cuda
