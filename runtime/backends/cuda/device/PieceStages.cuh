// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces on their way from memory while a thread works on others: slots in the block's shared memory that belong to one
// thread, so that nothing waits for other threads. Kernels that take one row after the other keep as many bytes in
// flight as the memory needs without holding them in registers.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_PIECESTAGES_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_PIECESTAGES_CUH

#include "Hopper.cuh"
#include "Pieces.cuh"

namespace qrt::device {

/// kStages stages of kSlots pieces a thread, in the block's dynamic shared memory (plan: pieceStageBytes). Before it
/// works on stage s a thread fetches stage s + kStages - 1 and waits; stages go round, and each ends, even if it is
/// empty. Pieces of one element are loaded when they are taken.
template <typename T, int N, int kThreads, int kSlots, int kStages> class PieceStages {
  static_assert(N == 1 || N * sizeof(T) == 16);
  static_assert((kStages & (kStages - 1)) == 0, "a power of two, for the remainder");

public:
  __device__ __forceinline__ PieceStages() : slots_(sharedMemory<uint4>() + threadIdx.x) {}

  __device__ __forceinline__ void fetch(int stage, int slot, const T *from) {
    if constexpr (N > 1)
      copyChunk(slots_ + (stage % kStages * kSlots + slot) * kThreads, from);
  }
  __device__ __forceinline__ void end() {
    if constexpr (N > 1)
      endChunks();
  }
  /// Until the oldest of kStages stages that ended is there.
  __device__ __forceinline__ void wait() {
    if constexpr (N > 1)
      waitChunks<kStages - 1>();
  }
  /// `from` as it was fetched.
  __device__ __forceinline__ Piece<T, N> take(int stage, int slot, const T *from) const {
    Piece<T, N> piece;
    if constexpr (N > 1)
      piece.raw[0] = slots_[(stage % kStages * kSlots + slot) * kThreads];
    else
      piece.raw = *from;
    return piece;
  }

private:
  uint4 *slots_;
};

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_PIECESTAGES_CUH
