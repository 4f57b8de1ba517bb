// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of rows: N neighbours that a thread loads at once and keeps as they are stored, whole vectors of 16 bytes; or
// one element, where rows are not made of such vectors.
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_PIECES_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_PIECES_CUH

#include "Common.cuh"

namespace qrt::device {

template <typename T, int N> struct Piece {
  static_assert(N * sizeof(T) % 16 == 0);
  uint4 raw[N * sizeof(T) / 16];
};
template <typename T> struct Piece<T, 1> {
  T raw;
};

/// A piece that is read more than once, by this block or by others.
template <int N, typename T> __device__ __forceinline__ Piece<T, N> loadPiece(const T *from) {
  Piece<T, N> piece;
  if constexpr (N == 1) {
    piece.raw = *from;
  } else {
#pragma unroll
    for (int i = 0; i < static_cast<int>(N * sizeof(T) / 16); ++i)
      piece.raw[i] = reinterpret_cast<const uint4 *>(from)[i];
  }
  return piece;
}

/// A piece that is read once: the caches drop it first.
template <int N, typename T> __device__ __forceinline__ Piece<T, N> streamPiece(const T *from) {
  Piece<T, N> piece;
  if constexpr (N == 1) {
    piece.raw = *from;
  } else {
#pragma unroll
    for (int i = 0; i < static_cast<int>(N * sizeof(T) / 16); ++i)
      piece.raw[i] = __ldcs(reinterpret_cast<const uint4 *>(from) + i);
  }
  return piece;
}

/// To global memory. The instruction is named, for the compiler would rather store four words where the store is
/// conditional.
template <typename T, int N> __device__ __forceinline__ void storePiece(T *to, const Piece<T, N> &piece) {
  if constexpr (N == 1) {
    *to = piece.raw;
  } else {
#pragma unroll
    for (int i = 0; i < static_cast<int>(N * sizeof(T) / 16); ++i)
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(reinterpret_cast<uint4 *>(to) + i),
                   "r"(piece.raw[i].x), "r"(piece.raw[i].y), "r"(piece.raw[i].z), "r"(piece.raw[i].w)
                   : "memory");
  }
}

template <int N> __device__ __forceinline__ void unpack(const Piece<bf16, N> &piece, float (&to)[N]) {
  if constexpr (N == 1) {
    to[0] = toFloat(piece.raw);
  } else {
#pragma unroll
    for (int i = 0; i < N / 8; ++i) {
      unsigned words[4] = {piece.raw[i].x, piece.raw[i].y, piece.raw[i].z, piece.raw[i].w};
#pragma unroll
      for (int j = 0; j < 4; ++j)
        to[8 * i + 2 * j] = lowBf16(words[j]), to[8 * i + 2 * j + 1] = highBf16(words[j]);
    }
  }
}
template <int N> __device__ __forceinline__ void unpack(const Piece<float, N> &piece, float (&to)[N]) {
  if constexpr (N == 1) {
    to[0] = piece.raw;
  } else {
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      to[4 * i] = __uint_as_float(piece.raw[i].x), to[4 * i + 1] = __uint_as_float(piece.raw[i].y);
      to[4 * i + 2] = __uint_as_float(piece.raw[i].z), to[4 * i + 3] = __uint_as_float(piece.raw[i].w);
    }
  }
}

/// Before a piece is unpacked a second time: keeps the compiler from holding what it unpacked the first time in
/// registers.
template <typename T, int N> __device__ __forceinline__ void keepPacked(Piece<T, N> &piece) {
  if constexpr (N > 1 && sizeof(T) < 4) {
#pragma unroll
    for (uint4 &raw : piece.raw)
      asm volatile("" : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w));
  }
}

/// Rounds to what T stores.
template <typename T, int N> __device__ __forceinline__ Piece<T, N> pack(const float (&from)[N]) {
  Piece<T, N> piece;
  if constexpr (N == 1) {
    piece.raw = fromFloat<T>(from[0]);
  } else if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int i = 0; i < N / 8; ++i)
      piece.raw[i] = make_uint4(packBf16(from[8 * i], from[8 * i + 1]), packBf16(from[8 * i + 2], from[8 * i + 3]),
                                packBf16(from[8 * i + 4], from[8 * i + 5]), packBf16(from[8 * i + 6], from[8 * i + 7]));
  } else {
#pragma unroll
    for (int i = 0; i < N / 4; ++i)
      piece.raw[i] = make_uint4(__float_as_uint(from[4 * i]), __float_as_uint(from[4 * i + 1]),
                                __float_as_uint(from[4 * i + 2]), __float_as_uint(from[4 * i + 3]));
  }
  return piece;
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_PIECES_CUH
