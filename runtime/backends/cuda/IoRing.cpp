// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/IoRing.h"

namespace qrt::cuda {

IoRing::~IoRing() {
  // Copies of a run that nobody waited for must not outlive their memory.
  (void)gpu_.synchronize().ok();
  for (Slot &slot : slots_)
    if (slot.done)
      gpu_.driver()->cuEventDestroy(slot.done);
}

Status IoRing::allocate(int64_t bytes) {
  for (Slot &slot : slots_) {
    QRT_ASSIGN_OR_RETURN(slot.memory, PinnedMemory::allocate(gpu_.driver(), bytes));
    // A thread that waits leaves the processor to others: the next run is queued already.
    QRT_CUDA_CHECK(gpu_.driver(), cuEventCreate(&slot.done, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
  }
  return Status();
}

Status IoRing::started() {
  assert(underWay() < kSlots && "the slot belongs to a run under way");
  QRT_CUDA_CHECK(gpu_.driver(), cuEventRecord(slots_[started_ % kSlots].done, gpu_.stream()));
  ++started_;
  return Status();
}

Status IoRing::finish() {
  assert(underWay() > 0 && "no run was started");
  QRT_CUDA_CHECK(gpu_.driver(), cuEventSynchronize(slots_[finished_ % kSlots].done));
  ++finished_;
  return Status();
}

} // namespace qrt::cuda
