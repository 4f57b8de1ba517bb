// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target can compute. There is no second choice: what it cannot compute fails the build.
#ifndef COMPILER_LOWER_TARGET_H
#define COMPILER_LOWER_TARGET_H

#include "dialects/qt/Qt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

struct Target {
  std::string name;
  /// A kernel that the target is to be taken not to have.
  std::optional<qrt::Kernel> disabled;
};

/// The target of this name, without the kernel named `disabledKernel` (empty: with all). Reports unknown names at
/// `location`.
mlir::FailureOr<Target> findTarget(mlir::Location location, llvm::StringRef name, llvm::StringRef disabledKernel);

/// Checks that the target has an instruction for each op of the entry functions. Reports each kind of op that it has
/// none for once, with the reason, at the first of them in the file.
mlir::LogicalResult checkKernels(llvm::ArrayRef<mlir::func::FuncOp> functions, const Target &target);

} // namespace qcc

#endif // COMPILER_LOWER_TARGET_H
