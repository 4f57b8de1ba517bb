// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of catalog.def as an enumeration with tables: what the compiler checks and lowers to, and what a backend
// implements.
#ifndef RUNTIME_KERNELS_KERNEL_H
#define RUNTIME_KERNELS_KERNEL_H

#include "runtime/base/BucketShape.h"
#include "runtime/base/DType.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace qrt {

struct Expression;

enum class Kernel : uint16_t {
#define QRT_KERNEL(Name, text) Name,
#include "runtime/kernels/catalog.def"
};

constexpr int kNumKernels = 0
#define QRT_KERNEL(Name, text) +1
#include "runtime/kernels/catalog.def"
    ;

/// What a kernel does to an argument. In a program an argument's effect is one of Read, Write and InOut.
enum class ArgEffect : uint8_t {
  Read,
  ReadOptional,
  ReadVariadic,
  /// Read; and where a program updates the state that it reads, then before the call. All other reads of a state mean
  /// its value at entry.
  ReadUpdated,
  Write,
  WriteOptional,
  InOut,
  InOutOptional,
  /// Write; or InOut (added to) where the op was given a value to accumulate into.
  Accumulate,
  AccumulateOptional,
};

/// What the elements of an integer argument point at. A kernel follows them unchecked, so a program must prove where
/// they come from.
enum class IndexKind : uint8_t {
  None,
  /// The segment table of the bucket.
  Segments,
  /// Rows of the embedding.
  Ids,
  /// Positions of tokens, or -1.
  Order,
  /// Rows of the head, or -100.
  Labels,
};

struct ArgInfo {
  std::string_view name;
  ArgEffect effect;
  /// Element types and extents, as the catalog spells them.
  std::string_view type;
};

enum class ParamType : uint8_t { Int, Float };

struct ParamInfo {
  std::string_view name;
  ParamType type;
};

struct KernelInfo {
  std::string_view name;
  std::span<const ArgInfo> args;
  std::span<const ParamInfo> params;
  /// Whether further integer parameters follow `params`.
  bool hasParamList;

  /// Of the argument at this place of a call: all after the last are variadic ones like it.
  const ArgInfo &arg(size_t i) const { return args[i < args.size() ? i : args.size() - 1]; }
};

const KernelInfo &kernelInfo(Kernel kernel);
std::optional<Kernel> kernelByName(std::string_view name);

constexpr bool isOptional(ArgEffect effect) {
  return effect == ArgEffect::ReadOptional || effect == ArgEffect::WriteOptional ||
         effect == ArgEffect::InOutOptional || effect == ArgEffect::AccumulateOptional;
}
constexpr bool isRead(ArgEffect effect) {
  return effect == ArgEffect::Read || effect == ArgEffect::ReadOptional || effect == ArgEffect::ReadVariadic ||
         effect == ArgEffect::ReadUpdated;
}
constexpr bool isInOut(ArgEffect effect) { return effect == ArgEffect::InOut || effect == ArgEffect::InOutOptional; }
constexpr bool isAccumulate(ArgEffect effect) {
  return effect == ArgEffect::Accumulate || effect == ArgEffect::AccumulateOptional;
}

/// What a call that adds to none of its Accumulate arguments does to an argument: Read, Write or InOut.
constexpr ArgEffect callEffect(ArgEffect declared) {
  return isRead(declared) ? ArgEffect::Read : isInOut(declared) ? ArgEffect::InOut : ArgEffect::Write;
}

/// A tensor of at most four dimensions in memory. Strides count elements; the last dimension's is 1 for every kernel.
struct TensorShape {
  DType dtype = DType::F32;
  int rank = 0;
  int64_t dims[4] = {};
  int64_t strides[4] = {};

  int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i)
      n *= dims[i];
    return n;
  }
};

/// A tensor without gaps, row-major, of at most four dimensions.
TensorShape denseShape(DType dtype, std::span<const int64_t> dims);

/// Whether a tensor has no gaps; the stride of a dimension of 1 says nothing.
bool isDense(const TensorShape &shape);

/// One parameter of a call: 64 bits, an integer or a floating-point number as the catalog says.
union ParamValue {
  int64_t i;
  double f;
};

/// The arguments of a call by shape; an absent optional argument is nullopt. Variadic arguments follow one another.
using ArgShapes = std::span<const std::optional<TensorShape>>;

/// Floating-point operations of one call, by the catalog's formula; `expression` is that of a call of `pointwise`.
double kernelFlops(Kernel kernel, ArgShapes args, std::span<const ParamValue> params, const BucketShape &bucket,
                   const Expression *expression = nullptr);

/// Bytes of workspace that a call takes on the CPU: memory of the program, without meaning before and after the call.
/// (What the CPU's kernels need for each thread is theirs: a program does not know the threads.)
int64_t cpuWorkspaceBytes(Kernel kernel, ArgShapes args);

/// The scalars of the optimizer as they lie in device memory (f32 [8]), written before each step.
struct Hyperparameters {
  float learningRate;
  float beta1;
  float beta2;
  float eps;
  float weightDecay;
  /// Gradients are scaled to this global norm where they exceed it; infinity: never.
  float clip;
  float reserved[2];
};
static_assert(sizeof(Hyperparameters) == 32);

} // namespace qrt

#endif // RUNTIME_KERNELS_KERNEL_H
