// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/RandomFill.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace qrt::cuda {

Status fillRepeating(const Gpu &gpu, DevicePtr data, int64_t bytes, std::span<const std::byte> block) {
  int64_t done = std::min<int64_t>(bytes, static_cast<int64_t>(block.size()));
  QRT_RETURN_IF_ERROR(gpu.write(data, block.first(static_cast<size_t>(done))));
  // Doubling: what is there is copied behind itself.
  for (int64_t count; done < bytes; done += count) {
    count = std::min(done, bytes - done);
    QRT_CUDA_CHECK(gpu.driver(), cuMemcpyDtoDAsync(data + static_cast<DevicePtr>(done), data,
                                                   static_cast<size_t>(count), gpu.stream()));
  }
  return gpu.synchronize();
}

/// What is repeated.
static std::vector<uint16_t> makeBlock() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> block(size_t{1} << 20);
  for (uint16_t &value : block) {
    float x = normal(random);
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    value = static_cast<uint16_t>(bits >> 16);
  }
  return block;
}

Status fillWithRandom(const Gpu &gpu, DevicePtr data, int64_t bytes) {
  static const std::vector<uint16_t> block = makeBlock();
  return fillRepeating(gpu, data, bytes, std::as_bytes(std::span(block)));
}

} // namespace qrt::cuda
