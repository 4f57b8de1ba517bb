// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a function a device has to compute, and what the plan does without.
#ifndef COMPILER_KERNELS_H
#define COMPILER_KERNELS_H

#include "dialects/qt/Qt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

/// Whether a kernel of the catalog or a matrix product computes the op.
inline bool isComputed(mlir::Operation *op) {
  return mlir::isa<qt::KernelBackedOpInterface>(op) || op->hasTrait<qt::MatrixProduct>();
}

/// Whether nothing has to: a view, the value of a symbol at entry or at the end, zeros, a note, the return. The plan
/// makes copies and fills of these at most.
inline bool needsNoKernel(mlir::Operation *op) {
  return mlir::isa<qt::ViewOpInterface, qt::ReadOp, qt::UpdateOp, qt::ZerosOp, qt::WatchOp, mlir::func::ReturnOp>(op);
}

/// Whether a cluster (qt.pointwise) can take the op in: expressions have it, and kernels such tensors.
inline bool isPointwise(mlir::Operation *op) {
  auto fits = [](mlir::Type type) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && tensor.getRank() <= 4 && (tensor.getElementType().isF32() || tensor.getElementType().isBF16());
  };
  return (qt::expressionOp(op) || mlir::isa<qt::CastOp>(op)) && llvm::all_of(op->getOperandTypes(), fits) &&
         llvm::all_of(op->getResultTypes(), fits);
}

} // namespace qcc

#endif // COMPILER_KERNELS_H
