// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Residuals that the target's kernels rebuild faster than they would read them.
#ifndef COMPILER_PLAN_UNREADRESIDUALS_H
#define COMPILER_PLAN_UNREADRESIDUALS_H

#include "compiler/plan/EntryPlan.h"

namespace qcc {

/// Plans an entry function as planEntry does, once no op is given a residual any more that its kernel on the target
/// does not read: such operands are taken away, and the ops that computed them no longer do.
mlir::FailureOr<EntryPlan> planWithoutUnread(mlir::func::FuncOp function, const StateLayout &layout, PlanCall planCall);

} // namespace qcc

#endif // COMPILER_PLAN_UNREADRESIDUALS_H
