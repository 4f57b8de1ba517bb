// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/Gpu.h"

namespace qrt::cuda {
namespace {

/// The device's context, made current; released with the object.
struct RetainedContext {
  const Driver &driver;
  CUdevice device;
  bool keep = false;
  ~RetainedContext() {
    if (!keep)
      driver->cuDevicePrimaryCtxRelease(device);
  }
};

} // namespace

StatusOr<std::unique_ptr<Gpu>> Gpu::open(int ordinal) {
  QRT_ASSIGN_OR_RETURN(const Driver *found, Driver::open());
  const Driver &driver = *found;
  int count = 0;
  QRT_CUDA_CHECK(driver, cuDeviceGetCount(&count));
  if (ordinal >= count)
    return error(StatusCode::Unsupported, "GPU {} is asked for, but the driver sees {}", ordinal, count);
  CUdevice device = 0;
  QRT_CUDA_CHECK(driver, cuDeviceGet(&device, ordinal));
  char name[256] = {};
  QRT_CUDA_CHECK(driver, cuDeviceGetName(name, sizeof(name), device));
  auto attribute = [&](CUdevice_attribute which, int &value) -> Status {
    QRT_CUDA_CHECK(driver, cuDeviceGetAttribute(&value, which, device));
    return Status();
  };
  int major = 0, minor = 0, multiprocessors = 0;
  QRT_RETURN_IF_ERROR(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major));
  QRT_RETURN_IF_ERROR(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor));
  QRT_RETURN_IF_ERROR(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, multiprocessors));
  if (major != 9 || minor != 0)
    return error(StatusCode::Unsupported, "GPU {} ({}) has compute capability {}.{}, but programs for sm_90a need 9.0",
                 ordinal, name, major, minor);

  CUcontext context = nullptr;
  QRT_CUDA_CHECK(driver, cuDevicePrimaryCtxRetain(&context, device));
  RetainedContext retained{driver, device};
  QRT_CUDA_CHECK(driver, cuCtxSetCurrent(context));
  QRT_ASSIGN_OR_RETURN(const CublasLt *cublasLt, CublasLt::open());

  std::unique_ptr<Gpu> gpu(new Gpu(driver, *cublasLt));
  gpu->device_ = device;
  gpu->context_ = context;
  retained.keep = true;
  gpu->name_ = name;
  char pciBusId[32] = {};
  QRT_CUDA_CHECK(driver, cuDeviceGetPCIBusId(pciBusId, sizeof(pciBusId), device));
  gpu->pciBusId_ = pciBusId;
  gpu->limits_ = {multiprocessors};
  size_t free = 0, total = 0;
  QRT_CUDA_CHECK(driver, cuMemGetInfo(&free, &total));
  gpu->totalBytes_ = static_cast<int64_t>(total);
  gpu->freeAtStart_ = static_cast<int64_t>(free);
  QRT_CUDA_CHECK(driver, cuStreamCreate(&gpu->stream_, CU_STREAM_NON_BLOCKING));
  QRT_ASSIGN_OR_RETURN(gpu->gemmWorkspace_, gpu->allocate(kGemmWorkspaceBytes));
  return gpu;
}

Gpu::~Gpu() {
  gemmWorkspace_ = DeviceMemory();
  if (stream_)
    driver_->cuStreamDestroy(stream_);
  driver_->cuDevicePrimaryCtxRelease(device_);
}

StatusOr<int64_t> Gpu::freeBytes() const {
  size_t free = 0, total = 0;
  QRT_CUDA_CHECK(driver_, cuMemGetInfo(&free, &total));
  return static_cast<int64_t>(free);
}

Status Gpu::write(DevicePtr to, std::span<const std::byte> bytes) const {
  if (bytes.empty())
    return Status();
  QRT_CUDA_CHECK(driver_, cuCtxSetCurrent(context_));
  QRT_CUDA_CHECK(driver_, cuMemcpyHtoDAsync(to, bytes.data(), bytes.size(), stream_));
  return synchronize();
}

Status Gpu::read(DevicePtr from, std::span<std::byte> bytes) const {
  if (bytes.empty())
    return Status();
  QRT_CUDA_CHECK(driver_, cuCtxSetCurrent(context_));
  QRT_CUDA_CHECK(driver_, cuMemcpyDtoHAsync(bytes.data(), from, bytes.size(), stream_));
  return synchronize();
}

Status Gpu::fill(DevicePtr to, uint8_t value, int64_t bytes) const {
  if (bytes == 0)
    return Status();
  QRT_CUDA_CHECK(driver_, cuCtxSetCurrent(context_));
  QRT_CUDA_CHECK(driver_, cuMemsetD8Async(to, value, static_cast<size_t>(bytes), stream_));
  return synchronize();
}

Status Gpu::synchronize() const {
  QRT_CUDA_CHECK(driver_, cuStreamSynchronize(stream_));
  return Status();
}

} // namespace qrt::cuda
