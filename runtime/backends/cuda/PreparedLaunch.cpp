// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/PreparedLaunch.h"

namespace qrt::cuda {
namespace {

StatusOr<bool> isKernel(const Driver &driver, CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  QRT_CUDA_CHECK(driver, cuGraphNodeGetType(node, &type));
  return type == CU_GRAPH_NODE_TYPE_KERNEL;
}

/// Whether the next work on the stream waits for a kernel and nothing else. False where it is not being captured.
StatusOr<bool> followsKernel(const Driver &driver, CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode *before = nullptr;
  const CUgraphEdgeData *edges = nullptr;
  size_t count = 0;
  QRT_CUDA_CHECK(driver, cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &before, &edges, &count));
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1)
    return false;
  return isKernel(driver, before[0]);
}

Status encode(const Driver &driver, const TensorMapSpec &spec, std::byte *params, const std::string &name) {
  CUtensorMap map;
  cuuint64_t dims[5], strides[5];
  cuuint32_t box[5], steps[5] = {1, 1, 1, 1, 1};
  for (int i = 0; i < spec.rank; ++i) {
    dims[i] = spec.dims[static_cast<size_t>(i)];
    box[i] = spec.box[static_cast<size_t>(i)];
    if (i + 1 < spec.rank)
      strides[i] = spec.strides[static_cast<size_t>(i)];
  }
  QRT_RETURN_IF_ERROR(driver.check(
      driver->cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, static_cast<cuuint32_t>(spec.rank),
                                     reinterpret_cast<void *>(spec.base), dims, strides, box, steps,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE,
                                     spec.swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
      fmt::format("tensor map at parameter byte {} of {}", spec.paramOffset, name)));
  std::memcpy(params + spec.paramOffset, &map, sizeof(map));
  return Status();
}

} // namespace

StatusOr<PreparedLaunch> PreparedLaunch::prepare(const Driver &driver, KernelModules &modules,
                                                 const DeviceLaunch &launch) {
  PreparedLaunch prepared;
  prepared.name_ = launch.function;
  QRT_ASSIGN_OR_RETURN(prepared.function_, modules.function(launch));
  prepared.grid_ = launch.grid;
  prepared.block_ = launch.block;
  prepared.cluster_ = launch.cluster;
  prepared.sharedBytes_ = launch.sharedBytes;
  prepared.params_.resize((launch.params.size() + sizeof(Line) - 1) / sizeof(Line));
  std::byte *params = reinterpret_cast<std::byte *>(prepared.params_.data());
  std::memcpy(params, launch.params.data(), launch.params.size());
  for (const TensorMapSpec &spec : launch.tensorMaps)
    QRT_RETURN_IF_ERROR(encode(driver, spec, params, launch.function));
  return prepared;
}

Status PreparedLaunch::launch(const Driver &driver, CUstream stream) const {
  CUlaunchAttribute attributes[2];
  unsigned count = 0;
  if (cluster_ > 1) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count].value.clusterDim = {cluster_, 1, 1};
    ++count;
  }
  QRT_ASSIGN_OR_RETURN(bool early, followsKernel(driver, stream));
  if (early) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count].value.programmaticStreamSerializationAllowed = 1;
    ++count;
  }
  CUlaunchConfig config{};
  config.gridDimX = grid_.x, config.gridDimY = grid_.y, config.gridDimZ = grid_.z;
  config.blockDimX = block_.x, config.blockDimY = block_.y, config.blockDimZ = block_.z;
  config.sharedMemBytes = sharedBytes_;
  config.hStream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  void *params[] = {const_cast<Line *>(params_.data())};
  return driver.check(driver->cuLaunchKernelEx(&config, function_, params, nullptr), name_);
}

StatusOr<CUgraphNode> PreparedLaunch::addTo(const Driver &driver, CUgraph graph,
                                            std::span<const CUgraphNode> before) const {
  assert(cluster_ == 1);
  std::vector<CUgraphEdgeData> edges(before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    QRT_ASSIGN_OR_RETURN(bool early, isKernel(driver, before[i]));
    if (early) {
      edges[i].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
      edges[i].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    }
  }
  void *params[] = {const_cast<Line *>(params_.data())};
  CUgraphNodeParams node{};
  node.type = CU_GRAPH_NODE_TYPE_KERNEL;
  node.kernel.func = function_;
  node.kernel.gridDimX = grid_.x, node.kernel.gridDimY = grid_.y, node.kernel.gridDimZ = grid_.z;
  node.kernel.blockDimX = block_.x, node.kernel.blockDimY = block_.y, node.kernel.blockDimZ = block_.z;
  node.kernel.sharedMemBytes = sharedBytes_;
  node.kernel.kernelParams = params;
  CUgraphNode added = nullptr;
  QRT_RETURN_IF_ERROR(
      driver.check(driver->cuGraphAddNode(&added, graph, before.data(), edges.data(), before.size(), &node), name_));
  return added;
}

} // namespace qrt::cuda
