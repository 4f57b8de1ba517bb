// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the passes share that look for a subgraph and replace it.
#ifndef COMPILER_MATCH_H
#define COMPILER_MATCH_H

#include "dialects/qt/TypeChecks.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace qcc {

/// The value before any casts: the same numbers, up to rounding.
mlir::Value withoutCasts(mlir::Value value);

/// The op of the given kind that computes a value, casts aside; null if it is another.
template <typename Op> Op producerOf(mlir::Value value) { return withoutCasts(value).getDefiningOp<Op>(); }

/// The ops that compute with a value, each once and in program order. A `qt.watch` only looks at it.
llvm::SmallVector<mlir::Operation *> readersOf(mlir::Value value);

/// A value in a message: the op that computes it, or the argument that it is.
std::string describe(mlir::Value value);

/// Erases the ops of a block, or of all functions, that have no effect and no users.
void eraseDeadOps(mlir::Block &block);
void eraseDeadOps(mlir::ModuleOp module);

} // namespace qcc

#endif // COMPILER_MATCH_H
