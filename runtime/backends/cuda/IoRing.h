// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RUNTIME_BACKENDS_CUDA_IORING_H
#define RUNTIME_BACKENDS_CUDA_IORING_H

#include "runtime/backends/cuda/Gpu.h"
#include "runtime/backends/cuda/PinnedMemory.h"

namespace qrt::cuda {

/// The host's views of the space Io: pinned memory for each run that may be under way, taken in turn, so that the
/// arguments of the next run are filled in and queued while one runs. A run's copies from and to its slot and its end
/// are in order on the GPU's stream.
class IoRing {
public:
  static constexpr int kSlots = 2;

  explicit IoRing(const Gpu &gpu) : gpu_(gpu) {}
  ~IoRing();
  IoRing(const IoRing &) = delete;

  /// Once. ResourceExhausted where the host has no such memory.
  Status allocate(int64_t bytes);

  /// The slot of the run that is started next. It must be in no run under way: finish() as many as it takes.
  std::span<std::byte> next() const { return bytesOf(started_ % kSlots); }
  /// That run is on the stream, with its copies.
  Status started();
  /// Waits for the earliest run that was started and not finished.
  Status finish();
  /// The slot of the run that was finished last.
  std::span<const std::byte> finished() const { return bytesOf((finished_ + kSlots - 1) % kSlots); }

  int64_t underWay() const { return started_ - finished_; }

private:
  struct Slot {
    PinnedMemory memory;
    CUevent done = nullptr;
  };
  std::span<std::byte> bytesOf(int64_t slot) const {
    const PinnedMemory &memory = slots_[slot].memory;
    return {memory.data(), static_cast<size_t>(memory.bytes())};
  }

  const Gpu &gpu_;
  Slot slots_[kSlots];
  /// Runs so far.
  int64_t started_ = 0, finished_ = 0;
};

} // namespace qrt::cuda

#endif // RUNTIME_BACKENDS_CUDA_IORING_H
