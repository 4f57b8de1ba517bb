// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters of pointwise operations (runtime/kernels/Expression.h). The plan prints an expression as the arguments of
// `pointwise`, a struct for each step, so that the compiler sees straight-line code over registers:
//
//   pointwise<8, 2, Reads<Element<bf16>, Repeated<float>>, Writes<Result<bf16, 3>>, Silu<0>, Mul<2, 1>>
//
// writes silu(x) * c of bf16 rows x and f32 scalars c, one a row. A thread takes pieces of N elements, all loaded
// before the first is used.
#include "Pieces.cuh"
#include "Pointwise.h"

namespace qrt::device {

/// Steps: what they make of the values v before them.
template <int a, int b> struct Add {
  static __device__ __forceinline__ float of(const float *v) { return v[a] + v[b]; }
};
template <int a, int b> struct Sub {
  static __device__ __forceinline__ float of(const float *v) { return v[a] - v[b]; }
};
template <int a, int b> struct Mul {
  static __device__ __forceinline__ float of(const float *v) { return v[a] * v[b]; }
};
/// The factor by its bits.
template <int a, unsigned factor> struct Scale {
  static __device__ __forceinline__ float of(const float *v) { return v[a] * __uint_as_float(factor); }
};
template <int a> struct Neg {
  static __device__ __forceinline__ float of(const float *v) { return -v[a]; }
};
template <int a> struct Exp {
  static __device__ __forceinline__ float of(const float *v) { return expf(v[a]); }
};
template <int a> struct Sigmoid {
  static __device__ __forceinline__ float of(const float *v) { return sigmoid(v[a]); }
};
template <int a> struct Silu {
  static __device__ __forceinline__ float of(const float *v) { return v[a] * sigmoid(v[a]); }
};
template <int a> struct Softplus {
  static __device__ __forceinline__ float of(const float *v) {
    return fmaxf(v[a], 0.0f) + log1pf(__expf(-fabsf(v[a])));
  }
};

/// An input with an element for each of the results; one that is repeated along the last dimension.
template <typename T> struct Element {
  template <int N> using Loaded = Piece<T, N>;
  template <int N> static __device__ __forceinline__ Loaded<N> load(Ptr data, i64 row, unsigned col) {
    return loadPiece<N>(as<const T>(data) + row + col);
  }
};
template <typename T> struct Repeated {
  template <int N> using Loaded = Piece<T, 1>;
  template <int N> static __device__ __forceinline__ Loaded<N> load(Ptr data, i64 row, unsigned) {
    return loadPiece<1>(as<const T>(data) + row);
  }
};

/// A result: where it is rounded to, and the number of its value.
template <typename T, int value> struct Result {
  using Type = T;
  static constexpr int kValue = value;
};

/// The pieces of the inputs as they were loaded.
template <int N, typename... Inputs> struct LoadedInputs;
template <int N> struct LoadedInputs<N> {
  __device__ __forceinline__ void load(const PointwiseTensor *, const i64 *, unsigned) {}
  template <int width> __device__ __forceinline__ void unpackTo(float (*)[width]) const {}
};
template <int N, typename First, typename... Rest> struct LoadedInputs<N, First, Rest...> {
  typename First::template Loaded<N> first;
  LoadedInputs<N, Rest...> rest;

  /// `rows`: where the row begins in each tensor.
  __device__ __forceinline__ void load(const PointwiseTensor *tensors, const i64 *rows, unsigned col) {
    first = First::template load<N>(tensors->data, *rows, col);
    rest.load(tensors + 1, rows + 1, col);
  }
  __device__ __forceinline__ void unpackTo(float (*values)[N]) const {
    unpackOne(first, *values);
    rest.unpackTo(values + 1);
  }

private:
  template <typename T, int M>
  static __device__ __forceinline__ void unpackOne(const Piece<T, M> &piece, float (&to)[N]) {
    float values[M];
    unpack(piece, values);
#pragma unroll
    for (int i = 0; i < N; ++i)
      to[i] = values[M == 1 ? 0 : i];
  }
};

template <typename... Inputs> struct Reads {
  static constexpr int kCount = sizeof...(Inputs);
  template <int N> using Loaded = LoadedInputs<N, Inputs...>;
};

template <typename... Results> struct Writes {
  static constexpr int kCount = sizeof...(Results);
  /// From the values of N elements.
  template <int N, int kValues>
  static __device__ __forceinline__ void store(const PointwiseTensor *tensors, const i64 *rows, unsigned col,
                                               const float (&values)[N][kValues]) {
    int i = 0;
    (storeOne<typename Results::Type, Results::kValue>(tensors[i].data, rows[i++], col, values), ...);
  }

private:
  template <typename T, int value, int N, int kValues>
  static __device__ __forceinline__ void storeOne(Ptr data, i64 row, unsigned col, const float (&values)[N][kValues]) {
    float piece[N];
#pragma unroll
    for (int i = 0; i < N; ++i)
      piece[i] = values[i][value];
    storePiece(as<T>(data) + row + col, pack<T>(piece));
  }
};

/// Units: the pieces that a thread has in flight.
template <int N, int kUnits, typename In, typename Out, typename... Steps>
__global__ void __launch_bounds__(kPointwiseThreads) pointwise(const __grid_constant__ PointwiseParams p) {
  awaitEarlierGrids();
  admitNextGrid();
  constexpr int kTensors = In::kCount + Out::kCount, kValues = In::kCount + sizeof...(Steps);
  unsigned first = blockIdx.x * (kPointwiseThreads * kUnits) + threadIdx.x;
  typename In::template Loaded<N> inputs[kUnits];
  i64 rows[kUnits][kTensors];
  unsigned cols[kUnits];
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    if (unsigned piece = first + u * kPointwiseThreads; piece < p.pieces) {
      unsigned row = quotient(piece, p.dims[2]);
      cols[u] = (piece - row * p.dims[2].value) * N;
      unsigned middle = quotient(row, p.dims[1]), outer = quotient(middle, p.dims[0]);
      unsigned inner = row - middle * p.dims[1].value;
      middle -= outer * p.dims[0].value;
#pragma unroll
      for (int t = 0; t < kTensors; ++t)
        rows[u][t] =
            outer * p.tensors[t].strides[0] + middle * p.tensors[t].strides[1] + inner * p.tensors[t].strides[2];
      inputs[u].load(p.tensors, rows[u], cols[u]);
    }
  }
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    if (first + u * kPointwiseThreads < p.pieces) {
      float loaded[In::kCount][N], values[N][kValues];
      inputs[u].unpackTo(loaded);
#pragma unroll
      for (int i = 0; i < N; ++i) {
#pragma unroll
        for (int t = 0; t < In::kCount; ++t)
          values[i][t] = loaded[t][i];
        int next = In::kCount;
        ((values[i][next] = Steps::of(values[i]), ++next), ...);
      }
      Out::store(p.tensors + In::kCount, rows[u] + In::kCount, cols[u], values);
    }
  }
}

} // namespace qrt::device
