// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the optimizer updates: packs, and parameters that are in no pack; and what depends on it.
#ifndef COMPILER_AUTODIFF_TRAINEDSYMBOLS_H
#define COMPILER_AUTODIFF_TRAINEDSYMBOLS_H

#include "dialects/qt/Qt.h"

#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/BuiltinOps.h"

namespace qcc {

/// The pack of each parameter that is in one; of several the first.
llvm::DenseMap<mlir::StringAttr, qt::ParameterPackOp> packsOfMembers(mlir::ModuleOp module);

/// The parameters that a parameter or pack consists of, in order.
llvm::SmallVector<qt::ParameterOp> membersOf(mlir::Operation *parameterOrPack, const mlir::SymbolTable &symbols);

/// Packs and single parameters that are trained, in the module's order.
llvm::SmallVector<mlir::Operation *> trainedSymbols(mlir::ModuleOp module, const mlir::SymbolTable &symbols);

/// The numbers of a function's body that depend on a trained parameter, read by itself or in its pack.
llvm::DenseSet<mlir::Value> trainedValues(mlir::Region &body, const mlir::SymbolTable &symbols);

/// Checks that a function of a tensor phase updates each buffer at most once, and reads none after its update. A pack
/// and its members are one buffer.
llvm::LogicalResult verifyStateEffects(mlir::Operation *function,
                                       const llvm::DenseMap<mlir::StringAttr, qt::ParameterPackOp> &packs);

} // namespace qcc

#endif // COMPILER_AUTODIFF_TRAINEDSYMBOLS_H
