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

/// Checks that the target has an instruction for each op of an entry function; reports each that it has none for, with
/// the reason.
mlir::LogicalResult checkKernels(mlir::func::FuncOp function, const Target &target);

} // namespace qcc

#endif // COMPILER_LOWER_TARGET_H
