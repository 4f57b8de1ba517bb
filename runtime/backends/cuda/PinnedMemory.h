// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_PINNEDMEMORY_H
#define RUNTIME_BACKENDS_CUDA_PINNEDMEMORY_H

#include "runtime/backends/cuda/driver/Driver.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace qrt::cuda {

/// Memory of the host that the device copies from and to without the processor's help; freed with the object.
class PinnedMemory {
public:
  PinnedMemory() = default;
  /// Undefined contents. ResourceExhausted if there is not as much.
  static StatusOr<PinnedMemory> allocate(const Driver &driver, int64_t bytes) {
    PinnedMemory memory;
    memory.driver_ = &driver;
    void *data = nullptr;
    QRT_RETURN_IF_ERROR(driver.check(driver->cuMemHostAlloc(&data, static_cast<size_t>(bytes > 0 ? bytes : 1), 0),
                                     fmt::format("{} bytes of pinned host memory", bytes)));
    memory.data_ = static_cast<std::byte *>(data);
    memory.bytes_ = bytes;
    return memory;
  }
  PinnedMemory(PinnedMemory &&other) noexcept { swap(other); }
  PinnedMemory &operator=(PinnedMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedMemory() {
    if (data_)
      (*driver_)->cuMemFreeHost(data_);
  }

  std::byte *data() const { return data_; }
  int64_t bytes() const { return bytes_; }

private:
  void swap(PinnedMemory &other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  const Driver *driver_ = nullptr;
  std::byte *data_ = nullptr;
  int64_t bytes_ = 0;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_PINNEDMEMORY_H
