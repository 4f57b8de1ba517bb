// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_GPU_H
#define RUNTIME_BACKENDS_CUDA_GPU_H

#include "runtime/backends/cuda/DeviceMemory.h"
#include "runtime/backends/cuda/PreparedWorks.h"

#include <memory>

namespace qrt::cuda {

/// One GPU in use by this process: its context, one stream, workspace of the matrix
/// products. The context is current to the thread that opened it.
class Gpu {
public:
  /// `ordinal` among those that the driver sees. Unsupported, naming what is missing, if there is no driver, cuBLASLt,
  /// such a GPU, or one that is not of compute capability 9.0 (whose machine code is in the programs).
  static StatusOr<std::unique_ptr<Gpu>> open(int ordinal);
  ~Gpu();
  Gpu(const Gpu &) = delete;

  const Driver &driver() const { return driver_; }
  const CublasLt &cublasLt() const { return cublasLt_; }
  CUstream stream() const { return stream_; }
  WorkContext works(KernelModules &modules) const { return {driver_, cublasLt_, modules, gemmWorkspace_.data()}; }
  DevicePtr gemmWorkspace() const { return gemmWorkspace_.data(); }
  DeviceLimits limits() const { return limits_; }

  /// "NVIDIA H200".
  const std::string &name() const { return name_; }
  /// "0000:1b:00.0".
  const std::string &pciBusId() const { return pciBusId_; }
  int64_t totalBytes() const { return totalBytes_; }
  /// What was free when the context and the library were there, and nothing else of this process.
  int64_t freeAtStart() const { return freeAtStart_; }
  /// What the driver says is free now.
  StatusOr<int64_t> freeBytes() const;

  StatusOr<DeviceMemory> allocate(int64_t bytes) const { return DeviceMemory::allocate(driver_, bytes); }
  /// Return when the copy is done. Any thread may call them, also several at once.
  Status write(DevicePtr to, std::span<const std::byte> bytes) const;
  Status read(DevicePtr from, std::span<std::byte> bytes) const;
  Status fill(DevicePtr to, uint8_t value, int64_t bytes) const;
  Status synchronize() const;

private:
  Gpu(const Driver &driver, const CublasLt &cublasLt) : driver_(driver), cublasLt_(cublasLt) {}

  const Driver &driver_;
  const CublasLt &cublasLt_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  DeviceMemory gemmWorkspace_;
  DeviceLimits limits_;
  std::string name_, pciBusId_;
  int64_t totalBytes_ = 0, freeAtStart_ = 0;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_GPU_H
