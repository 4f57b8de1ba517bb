// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the dynamic dimensions of a function's values count.
#ifndef COMPILER_BUCKETS_EXTENTS_H
#define COMPILER_BUCKETS_EXTENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace qcc {

enum class Extent { Tokens, Trained };

/// The extent of each value of a function's body that has a dynamic dimension; all dynamic dimensions of a value are
/// the same.
using ExtentMap = llvm::DenseMap<mlir::Value, Extent>;

/// Follows the extents from the arguments (tokens) through the function: gathering makes trained rows of tokens,
/// scattering tokens of trained rows, any other op keeps what its operands have. What comes from nothing (zeros) has
/// what its users have. Fails with a diagnostic at an op that mixes the two.
mlir::FailureOr<ExtentMap> inferExtents(mlir::func::FuncOp function);

/// `type` with its dynamic dimensions set to `size`.
mlir::Type withExtent(mlir::Type type, int64_t size);

} // namespace qcc

#endif // COMPILER_BUCKETS_EXTENTS_H
