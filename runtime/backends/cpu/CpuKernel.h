// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a CPU kernel is given and what it provides. A kernel writes every element of its outputs (the tail rows of the
// bucket included), reads nothing of the rows outside every document where it mixes tokens, allocates nothing, and adds
// in an order that does not depend on the threads.
#ifndef RUNTIME_BACKENDS_CPU_CPUKERNEL_H
#define RUNTIME_BACKENDS_CPU_CPUKERNEL_H

#include "runtime/base/SegmentTable.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/kernels/Expression.h"
#include "runtime/kernels/Kernel.h"

#include <cstddef>
#include <span>

namespace qrt::cpu {

/// One argument of a call. Absent optional arguments have no data.
struct Tensor {
  TensorShape shape;
  void *data = nullptr;

  explicit operator bool() const { return data != nullptr; }
  template <typename T> T *as() const { return static_cast<T *>(data); }
};

struct Call {
  Kernel kernel;
  /// In catalog order; variadic arguments follow one another.
  std::span<const Tensor> args;
  /// Of each argument: Read, Write or InOut. An Accumulate argument that is added to comes as InOut.
  std::span<const ArgEffect> effects;
  std::span<const ParamValue> params;
  BucketShape bucket;
  ThreadPool &threads;
  /// scratchBytes() bytes for each thread of the pool, one after another, 64-byte aligned.
  std::byte *scratch = nullptr;
  int64_t scratchPerThread = 0;
  /// Of the program, for this call alone: cpuWorkspaceBytes() bytes at least. The size is set when scratch is asked
  /// for.
  std::byte *workspace = nullptr;
  int64_t workspaceBytes = 0;
  /// Of a call of `pointwise`, else null.
  const Expression *expression = nullptr;

  bool accumulates(int arg) const { return effects[arg] == ArgEffect::InOut; }
  template <typename T> T *threadScratch(int thread) const {
    return reinterpret_cast<T *>(scratch + thread * scratchPerThread);
  }
  /// Argument `arg` as the segment table of the bucket.
  Segments segments(int arg) const { return {{bucket}, args[arg].as<const int32_t>()}; }
};

struct KernelImpl {
  /// Runs the call; its shapes were checked when the program was loaded.
  void (*run)(const Call &call);
  /// Bytes of scratch a thread needs for a call of these shapes (data and scratch are not set); null: none.
  int64_t (*scratchBytes)(const Call &call) = nullptr;
};

/// The implementation of every kernel of the catalog: `kNAME`, defined in the kernel's own file; KernelTable.cpp puts
/// them in the order of the catalog.
const KernelImpl &kernelImpl(Kernel kernel);

/// C = op(A) op(B), or C += op(A) op(B), all row-major with unit stride in the last dimension; f32 or bf16 operands,
/// f32 accumulation, C f32 or bf16. op transposes where asked. Bits do not depend on the number of threads.
struct GemmCall {
  Tensor a, b, c;
  bool transposeA = false, transposeB = false;
  bool accumulate = false;
  ThreadPool &threads;
  std::byte *scratch = nullptr;
  int64_t scratchPerThread = 0;
};
/// Runs the product; shapes and types fit (checked when the program was loaded), and the scratch is as large as
/// gemmScratchBytes says for each thread, 64-byte aligned.
void gemm(const GemmCall &call);
/// Bytes of scratch that a thread needs for a product of these shapes (data and scratch are not looked at).
int64_t gemmScratchBytes(const GemmCall &call);

} // namespace qrt::cpu

#endif // RUNTIME_BACKENDS_CPU_CPUKERNEL_H
