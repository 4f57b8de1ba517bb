// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/ColumnSums.h"

#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {

/// From so many columns on the blocks of few columns would be more than run at once.
constexpr int64_t kManyFrom = kMultiprocessorsOfSums * device::kColumnSumBlocksOfOne * device::kColumnSumFew;

void planColumnSums(std::initializer_list<ColumnSum> sums, KernelPlan &plan) {
  assert(sums.size() <= device::kColumnSumResults);
  device::ColumnSumsParams params{};
  uint32_t blocks = 0;
  for (const ColumnSum &sum : sums) {
    const TensorShape &shape = sum.result.shape;
    assert(isDense(shape));
    bool many =
        shape.elements() >= kManyFrom && shape.elements() % 4 == 0 && sum.stride % 4 == 0 && sum.lines % 16 == 0;
    params.result[params.results++] = {sum.result.data,
                                       sum.lines,
                                       sum.stride,
                                       int32(sum.count),
                                       int32(shape.elements()),
                                       int32(byteSize(shape.dtype)),
                                       sum.accumulate,
                                       many,
                                       int32(blocks)};
    blocks += ceilDiv(shape.elements(), many ? device::kColumnSumMany : device::kColumnSumFew);
  }
  plan.launch("ColumnSums.cuh", "columnSums", {blocks}, {device::kColumnSumThreads}, 0, params);
}

} // namespace qrt::cuda
