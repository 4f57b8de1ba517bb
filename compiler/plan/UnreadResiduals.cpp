// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/UnreadResiduals.h"

#include "dialects/qt/Residuals.h"

using namespace mlir;

namespace qcc {

FailureOr<EntryPlan> planWithoutUnread(func::FuncOp function, const StateLayout &layout, PlanCall planCall) {
  while (true) {
    FailureOr<EntryPlan> plan = planEntry(function, layout, planCall);
    if (failed(plan) || plan->unread.empty())
      return plan;
    llvm::DenseSet<Operation *> replaced; // a second operand of an op waits for the next round
    for (const UnreadOperand &unread : plan->unread) {
      if (!replaced.insert(unread.op).second)
        continue;
      auto operand = llvm::find(unread.op->getOperands(), unread.value);
      qt::replaceWithoutOperand(unread.op, operand.getIndex());
      if (Operation *source = unread.value.getDefiningOp())
        qt::dropUnusedResiduals(source);
    }
  }
}

} // namespace qcc
