// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens of one head on their way to a warp that walks through them: the copy engine brings a group of them at a time,
// so that nothing of what is in flight is held in registers, and a warp waits for no other.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_HEADSTAGES_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_HEADSTAGES_CUH

#include "Common.cuh"
#include "HeadStages.h"
#include "Hopper.cuh"

namespace qrt::device {

/// A head of a tensor [tokens, heads, 128] of bf16.
struct HeadSource {
  const TensorMap *map;
  int head;
};

/// A ring of kStages groups of kTensors tensors, headStageBytes(kTensors, kStages) of the block's dynamic shared memory
/// a warp. Groups are numbered from 0 and fetched, waited for and released in this order. Whoever
/// fetches a group waits for it before the block ends.
template <int kTensors, int kStages> class HeadStages {
public:
  /// `barriers`: kStages of this warp alone. By all of its lanes.
  __device__ __forceinline__ HeadStages(Barrier *barriers, int warp)
      : boxes_(sharedMemory<unsigned char>() + warp * headStageBytes(kTensors, kStages)), barriers_(barriers) {
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int i = 0; i < kStages; ++i)
        initBarrier(barriers + i, 1);
      fenceBarriers();
    }
    __syncwarp();
  }

  /// Group `group`, the tokens from `token`; by one lane. Tokens past the tensor's last are zero.
  __device__ __forceinline__ void fetch(int group, const HeadSource (&sources)[kTensors], int token) {
    Barrier *barrier = barriers_ + group % kStages;
    arriveAndExpect(barrier, kTensors * kHeadBoxBytes);
#pragma unroll
    for (int i = 0; i < kTensors; ++i)
      copyBox(box(group, i), *sources[i].map, barrier, 0, sources[i].head, token);
  }
  __device__ __forceinline__ void wait(int group) const {
    device::wait(barriers_ + group % kStages, group / kStages & 1);
  }
  /// This lane's four channels of a group's token as they are stored.
  __device__ __forceinline__ uint2 take(int group, int tensor, int token) const {
    return reinterpret_cast<const uint2 *>(box(group, tensor))[token * (kHeadWidth / 4) + threadIdx.x % 32];
  }

  /// The same, read again: what take() gave need not have stayed in registers.
  __device__ __forceinline__ uint2 takeAgain(int group, int tensor, int token) const {
    return loadSharedAgain(box(group, tensor) + token * (kHeadWidth * 2) + threadIdx.x % 32 * 8);
  }

private:
  __device__ __forceinline__ unsigned char *box(int group, int tensor) const {
    return boxes_ + (group % kStages * kTensors + tensor) * kHeadBoxBytes;
  }

  unsigned char *boxes_;
  Barrier *barriers_;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_HEADSTAGES_CUH
