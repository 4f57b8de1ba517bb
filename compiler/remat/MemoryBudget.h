// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_REMAT_MEMORYBUDGET_H
#define COMPILER_REMAT_MEMORYBUDGET_H

#include "compiler/cost/CostModel.h"
#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace qcc {

/// Has the entry functions of a module compute again what they must so that a run of one micro-batch a step takes at
/// most `budget` bytes: state, the transient memory of @step and @eval, batch and tables, what the device takes beside
/// these. An
/// error that names the function, and the least that it takes, where that cannot be. A run that accumulates keeps to
/// the budget too where that can be; if not, its @accumulate takes no more transient memory than @step may.
mlir::LogicalResult keepWithin(mlir::ModuleOp module, int64_t budget, const Target &target, const CostModel &costs);

} // namespace qcc

#endif // COMPILER_REMAT_MEMORYBUDGET_H
