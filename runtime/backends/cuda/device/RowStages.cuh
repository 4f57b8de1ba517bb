// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows on their way to shared memory while a block works on others: the copy engine brings whole rows, so that nothing
// of what is in flight is held in registers.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_ROWSTAGES_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_ROWSTAGES_CUH

#include "Hopper.cuh"
#include "Pieces.cuh"

namespace qrt::device {

/// kStages stages of one row of each of kTensors tensors, kRow elements of room each, in the block's dynamic shared
/// memory (plan: rowStageBytes). Stages go round. Pieces of one element do not travel: they are loaded where they are
/// taken.
template <typename T, int N, int kRow, int kTensors, int kStages> class RowStages {
  static constexpr bool kTravel = N > 1;

public:
  /// `barriers`: kStages of them, in shared memory. By all threads of the block.
  __device__ __forceinline__ RowStages(Barrier *barriers, int cols)
      : rows_(sharedMemory<T>()), barriers_(barriers), bytes_(cols * sizeof(T)) {
    if constexpr (kTravel) {
      if (threadIdx.x == 0) {
#pragma unroll
        for (int stage = 0; stage < kStages; ++stage)
          initBarrier(barriers + stage, 1);
        fenceBarriers();
      }
      __syncthreads();
    }
  }

  /// By one thread, once no thread will take from the row that had the stage before.
  __device__ __forceinline__ void fetch(int stage, const T *const (&rows)[kTensors]) {
    if constexpr (kTravel) {
      arriveAndExpect(barriers_ + stage, kTensors * bytes_);
#pragma unroll
      for (int i = 0; i < kTensors; ++i)
        copyBytes(rows_ + (stage * kTensors + i) * kRow, rows[i], bytes_, barriers_ + stage);
    }
  }
  /// Until the rows of a stage are there, by all threads, stage by stage.
  __device__ __forceinline__ void wait(int stage, unsigned parity) {
    if constexpr (kTravel)
      device::wait(barriers_ + stage, parity);
  }
  static __device__ __forceinline__ void next(int &stage, unsigned &parity) {
    if (++stage == kStages)
      stage = 0, parity ^= 1;
  }
  /// The piece at a column of row `from`.
  __device__ __forceinline__ Piece<T, N> take(int stage, int tensor, const T *from, i64 col) const {
    if constexpr (kTravel)
      return loadPiece<N>(rows_ + (stage * kTensors + tensor) * kRow + col);
    return loadPiece<N>(from + col);
  }

private:
  T *rows_;
  Barrier *barriers_;
  unsigned bytes_;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_ROWSTAGES_CUH
