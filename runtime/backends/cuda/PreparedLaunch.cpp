// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/PreparedLaunch.h"

namespace qrt::cuda {
namespace {

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
  CUlaunchAttribute attributes[1];
  unsigned count = 0;
  if (cluster_ > 1) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count].value.clusterDim = {cluster_, 1, 1};
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

} // namespace qrt::cuda
