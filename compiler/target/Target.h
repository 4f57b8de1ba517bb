// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target can compute. There is no second choice: what it cannot compute fails the build.
#ifndef COMPILER_TARGET_TARGET_H
#define COMPILER_TARGET_TARGET_H

#include "compiler/target/KernelCall.h"
#include "dialects/qt/Qt.h"
#include "runtime/backends/cuda/plan/KernelPlan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

struct Target {
  qt::Target kind;
  /// A kernel that the target is to be taken not to have.
  std::optional<qrt::Kernel> disabled;

  llvm::StringRef name() const { return qt::stringifyTarget(kind); }
};

/// The target without the kernel named `disabledKernel` (empty: with all). Reports unknown names at `location`.
mlir::FailureOr<Target> findTarget(mlir::Location location, qt::Target kind, llvm::StringRef disabledKernel);

/// Checks that the target has an instruction for each op of the entry functions. Reports each kind of op that it has
/// none for once, with the reason, at the first of them in the file.
mlir::LogicalResult checkKernels(llvm::ArrayRef<mlir::func::FuncOp> functions, const Target &target);

/// What the target's kernel needs for a call; an error at `op` if it has none for such shapes.
mlir::FailureOr<CallNeeds> planCall(mlir::Operation *op, const KernelCall &call, const Target &target);

/// Bytes of a call's workspace that it would not need in a bucket of a single document; 0 where it has none for that.
int64_t documentBytes(const KernelCall &call, const Target &target);

/// Bytes that a run takes on the target's device beside the spaces of its program, the machine code of its kernels
/// taken for more than that of any model.
int64_t overheadBytes(const Target &target);

/// A tensor at an address that means nothing but has the alignment of the real one: `offset` bytes from the aligned
/// start of the memory at `place`. Places are far apart, as buffers are.
qrt::cuda::Tensor placedTensor(const qrt::TensorShape &shape, int64_t offset, size_t place);

/// What a GPU does for a call, with addresses of no meaning; an error at `op` if it cannot.
mlir::FailureOr<qrt::cuda::KernelPlan> planOnGpu(mlir::Operation *op, const KernelCall &call, const Target &target);

} // namespace qcc

#endif // COMPILER_TARGET_TARGET_H
