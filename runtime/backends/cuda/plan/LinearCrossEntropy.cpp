// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The head's product and the cross-entropy of its result, the logits in the call's workspace.
#include "runtime/backends/cuda/device/CrossEntropy.h"
#include "runtime/backends/cuda/plan/Plans.h"

namespace qrt::cuda {
namespace {

constexpr uint32_t kThreads = device::kCrossEntropyThreads;

/// Rows of a tile where only the losses are wanted: enough to keep the product busy.
constexpr int64_t kTileRows = 2048;

/// Columns from which on a cluster shares a row. Rows of fewer stay in the second-level cache between two readings.
constexpr int64_t kClusterCols = 65536;
constexpr int64_t kVectorCols = int64_t{8} * device::kCrossEntropyBlocks * device::kCrossEntropyThreads;

/// Rows [start, start + rows) of a matrix or a vector.
Tensor rowsOf(Tensor tensor, int64_t start, int64_t rows) {
  tensor.data += static_cast<DevicePtr>(start * tensor.stride(0) * byteSize(tensor.shape.dtype));
  tensor.shape.dims[0] = rows;
  return tensor;
}

Tensor denseTensor(DType dtype, std::initializer_list<int64_t> dims, DevicePtr data) {
  return {denseShape(dtype, std::span(dims.begin(), dims.size())), data};
}

/// Losses of some rows, and dlogits unless absent.
void planRows(const Tensor &logits, const Tensor &dlogits, const Tensor &labels, const Tensor &losses, DevicePtr dloss,
              KernelPlan &plan) {
  int64_t rows = logits.dim(0), cols = logits.dim(1);
  DType md = logits.shape.dtype;
  device::CrossEntropyParams params{logits.data,
                                    dlogits.data,
                                    labels.data,
                                    losses.data,
                                    dloss,
                                    logits.stride(0),
                                    dlogits ? dlogits.stride(0) : 0,
                                    int32(rows),
                                    int32(cols),
                                    0};
  bool vectors = hasVectors(logits) && (!dlogits || hasVectors(dlogits));
  if (dlogits && vectors && md == DType::BF16 && cols >= kClusterCols &&
      cols <= kVectorCols * device::kCrossEntropyVectors) {
    int vectors = int32(ceilDiv(cols, kVectorCols));
    params.slice = int32(ceilDiv(cols, 8 * device::kCrossEntropyBlocks) * int64_t{8});
    plan.launch("CrossEntropy.cuh", instance("crossEntropyCluster", {}, {vectors}),
                {ceilDiv(rows, device::kCrossEntropyRows) * device::kCrossEntropyBlocks}, {kThreads},
                static_cast<uint32_t>(device::kCrossEntropyStages * vectors * device::kCrossEntropyVectorBytes), params)
        .cluster = device::kCrossEntropyBlocks;
    return;
  }
  int64_t width = vectors ? 16 / byteSize(md) : 1;
  plan.launch("CrossEntropy.cuh", instance("crossEntropy", {md}, {width, dlogits ? 1 : 0}),
              {static_cast<uint32_t>(int32(rows))}, {kThreads}, 0, params);
}

void planSum(const Tensor &losses, const Tensor &loss, KernelPlan &plan) {
  device::SumLossesParams params{losses.data, loss.data, int32(losses.dim(0))};
  plan.launch("CrossEntropy.cuh", "sumLosses", {1}, {kThreads}, 0, params);
}

} // namespace

Status planLinearCrossEntropy(const Call &call, KernelPlan &plan) {
  const Tensor &x = call.args[0], &weight = call.args[1], &labels = call.args[2], &loss = call.args[3],
               &rowLoss = call.args[4];
  // Nothing is kept of a tile but its losses.
  int64_t rows = x.dim(0), vocabulary = weight.dim(0), tile = std::min(kTileRows, rows);
  DType md = x.shape.dtype;
  Tensor logits = denseTensor(md, {tile, vocabulary}, plan.workspace(tile * vocabulary * byteSize(md)));
  Tensor losses = rowLoss ? rowLoss : denseTensor(DType::F32, {rows}, plan.workspace(rows * 4));
  for (int64_t start = 0; start < rows; start += tile) {
    int64_t n = std::min(tile, rows - start);
    Tensor tileLogits = rowsOf(logits, 0, n);
    plan.gemm({.a = rowsOf(x, start, n), .b = weight, .c = tileLogits, .transposeB = true});
    planRows(tileLogits, Tensor(), rowsOf(labels, start, n), rowsOf(losses, start, n), 0, plan);
  }
  planSum(losses, loss, plan);
  return Status();
}

Status planLinearCrossEntropyGrad(const Call &call, KernelPlan &plan) {
  const Tensor &x = call.args[0], &weight = call.args[1], &labels = call.args[2], &dloss = call.args[3],
               &loss = call.args[4], &dx = call.args[5], &dweight = call.args[6];
  int64_t rows = x.dim(0), vocabulary = weight.dim(0);
  DType md = x.shape.dtype;
  // All rows at once: a further tile would read and write the weight's gradient again. dlogits lie over the logits.
  Tensor losses = denseTensor(DType::F32, {rows}, plan.workspace(rows * 4));
  Tensor logits = denseTensor(md, {rows, vocabulary}, plan.workspace(rows * vocabulary * byteSize(md)));
  plan.gemm({.a = x, .b = weight, .c = logits, .transposeB = true});
  planRows(logits, logits, labels, losses, dloss.data, plan);
  plan.gemm({.a = logits, .b = weight, .c = dx});
  if (dweight)
    plan.gemm({.a = logits, .b = x, .c = dweight, .transposeA = true, .accumulate = call.accumulates(6)});
  planSum(losses, loss, plan);
  return Status();
}

} // namespace qrt::cuda
