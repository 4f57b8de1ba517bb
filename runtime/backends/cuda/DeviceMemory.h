// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_DEVICEMEMORY_H
#define RUNTIME_BACKENDS_CUDA_DEVICEMEMORY_H

#include "runtime/backends/cuda/driver/Driver.h"

#include <cstdint>
#include <utility>

namespace qrt::cuda {

/// Memory of the current context's device; freed with the object.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// Undefined contents, 256-byte aligned. ResourceExhausted if there is not as much.
  static StatusOr<DeviceMemory> allocate(const Driver &driver, int64_t bytes) {
    DeviceMemory memory;
    memory.driver_ = &driver;
    QRT_RETURN_IF_ERROR(driver.check(driver->cuMemAlloc(&memory.data_, static_cast<size_t>(bytes > 0 ? bytes : 1)),
                                     fmt::format("{} bytes of device memory", bytes)));
    memory.bytes_ = bytes;
    return memory;
  }
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory() {
    if (data_)
      (*driver_)->cuMemFree(data_);
  }

  uint64_t data() const { return data_; }
  int64_t bytes() const { return bytes_; }

private:
  void swap(DeviceMemory &other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  const Driver *driver_ = nullptr;
  CUdeviceptr data_ = 0;
  int64_t bytes_ = 0;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_DEVICEMEMORY_H
