// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/GraphFills.h"

namespace qrt::cuda {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

/// The bytes that a node fills with zeros in units that kernelFill takes; 0 if it is no such node.
StatusOr<size_t> smallFillOf(const Driver &driver, CUgraphNode node, DevicePtr &data) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  QRT_CUDA_CHECK(driver, cuGraphNodeGetType(node, &type));
  if (type != CU_GRAPH_NODE_TYPE_MEMSET)
    return size_t{0};
  CUDA_MEMSET_NODE_PARAMS params{};
  QRT_CUDA_CHECK(driver, cuGraphMemsetNodeGetParams(node, &params));
  data = params.dst;
  size_t bytes = params.width * params.elementSize;
  bool small = params.height == 1 && params.value == 0 && params.width <= kMostBytes && bytes <= kMostBytes;
  return small && data % kKernelFillUnit == 0 && bytes % kKernelFillUnit == 0 ? bytes : 0;
}

/// What a fill waits for (`get` is cuGraphNodeGetDependencies), or what waits for it: by full edges, since only two
/// kernels can be joined by others.
template <typename Get> StatusOr<std::vector<CUgraphNode>> neighbours(const Driver &driver, CUgraphNode node, Get get) {
  size_t count = 0;
  QRT_RETURN_IF_ERROR(driver.check(get(node, nullptr, nullptr, &count), "neighbours of a graph's node"));
  std::vector<CUgraphNode> nodes(count);
  std::vector<CUgraphEdgeData> edges(count);
  QRT_RETURN_IF_ERROR(driver.check(get(node, nodes.data(), edges.data(), &count), "neighbours of a graph's node"));
  return nodes;
}

} // namespace

Status launchSmallFills(const WorkContext &context, CUgraph graph) {
  const Driver &driver = context.driver;
  size_t count = 0;
  QRT_CUDA_CHECK(driver, cuGraphGetNodes(graph, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  QRT_CUDA_CHECK(driver, cuGraphGetNodes(graph, nodes.data(), &count));
  for (CUgraphNode node : nodes) {
    DevicePtr data = 0;
    QRT_ASSIGN_OR_RETURN(size_t bytes, smallFillOf(driver, node, data));
    if (bytes == 0)
      continue;
    QRT_ASSIGN_OR_RETURN(PreparedLaunch launch, PreparedLaunch::prepare(driver, context.modules,
                                                                        kernelFill(data, static_cast<int64_t>(bytes))));
    QRT_ASSIGN_OR_RETURN(std::vector<CUgraphNode> before, neighbours(driver, node, driver->cuGraphNodeGetDependencies));
    QRT_ASSIGN_OR_RETURN(std::vector<CUgraphNode> after,
                         neighbours(driver, node, driver->cuGraphNodeGetDependentNodes));
    QRT_ASSIGN_OR_RETURN(CUgraphNode added, launch.addTo(driver, graph, before));
    std::vector<CUgraphNode> from(after.size(), added);
    QRT_CUDA_CHECK(driver, cuGraphAddDependencies(graph, from.data(), after.data(), nullptr, after.size()));
    QRT_CUDA_CHECK(driver, cuGraphDestroyNode(node));
  }
  return Status();
}

} // namespace qrt::cuda
