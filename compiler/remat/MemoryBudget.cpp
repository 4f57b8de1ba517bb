// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/remat/MemoryBudget.h"

#include "compiler/plan/UnreadResiduals.h"
#include "compiler/remat/Backward.h"
#include "compiler/remat/BudgetSearch.h"
#include "compiler/remat/Recomputation.h"
#include "runtime/base/Digits.h"

using namespace mlir;

namespace qcc {
namespace {

class MemoryBudget {
public:
  MemoryBudget(ModuleOp module, int64_t budget, const Target &target, const CostModel &costs)
      : budget_(budget), target_(target), costs_(costs), layout_(layoutState(module)) {
    for (auto function : module.getOps<func::FuncOp>())
      if (auto kind = qt::entryKind(function); kind && *kind != qt::EntryKind::Model && !qt::isGeneric(function))
        functions_.push_back(function);
  }

  LogicalResult run() {
    if (failed(checkKernels(functions_, target_)))
      return failure();
    for (func::FuncOp function : functions_) {
      FailureOr<EntryPlan> plan = planWithoutUnread(function, layout_, planCall_);
      if (failed(plan) || failed(placeBuffers(function, *plan)))
        return failure();
      ioBytes_ = std::max(ioBytes_, plan->ioBytes);
      plans_.push_back(std::move(*plan));
    }
    int64_t transient = budget_ - fixedBytes();
    for (auto [function, plan] : llvm::zip_equal(functions_, plans_))
      if (failed(keep(function, plan, transient)))
        return failure();
    return success();
  }

private:
  /// What nothing that is computed again changes.
  int64_t fixedBytes() const { return layout_.stateBytes + ioBytes_ + overheadBytes(target_); }

  /// `transient`: what a run of one micro-batch a step has for it.
  LogicalResult keep(func::FuncOp function, const EntryPlan &plan, int64_t transient) {
    qt::EntryKind kind = *qt::entryKind(function);
    if (kind == qt::EntryKind::Apply) // only after @accumulate, and it keeps nothing
      return success();
    if (!hasBackward(function))
      return check(function, plan.transientBytes, transient);
    BudgetSearch search(function, layout_, planCall_, costs_);
    bool accumulates = kind == qt::EntryKind::Accumulate;
    int64_t within = accumulates ? transient - layout_.gradientBytes : transient;
    FailureOr<BudgetSearch::Choice> choice = search.choose(within);
    if (succeeded(choice) && accumulates && choice->transientBytes > within)
      choice = search.choose(transient);
    if (failed(choice) || (!accumulates && failed(check(function, choice->transientBytes, transient))))
      return failure();
    recompute(function, choice->ops);
    return success();
  }

  LogicalResult check(func::FuncOp function, int64_t least, int64_t transient) const {
    if (least <= transient)
      return success();
    InFlightDiagnostic error = function.emitError()
                               << "--memory: " << qrt::printBytes(budget_) << " are "
                               << qrt::printBytes(least - transient) << " too little for @" << function.getName();
    if (hasBackward(function))
      error << ", with all computed again that helps";
    error.attachNote() << "at least " << qrt::printBytes(fixedBytes() + least) << ": state "
                       << qrt::printBytes(layout_.stateBytes) << ", transient " << qrt::printBytes(least)
                       << ", batch and tables " << qrt::printBytes(ioBytes_) << ", context and libraries "
                       << qrt::printBytes(overheadBytes(target_)) << "; --states bf16 or a smaller bucket needs less";
    return error;
  }

  int64_t budget_;
  const Target &target_;
  const CostModel &costs_;
  StateLayout layout_;
  std::function<FailureOr<CallNeeds>(Operation *, const KernelCall &)> planCall_ =
      [this](Operation *op, const KernelCall &call) { return planCall(op, call, target_); };
  SmallVector<func::FuncOp> functions_;
  std::vector<EntryPlan> plans_;
  int64_t ioBytes_ = 0;
};

} // namespace

LogicalResult keepWithin(ModuleOp module, int64_t budget, const Target &target, const CostModel &costs) {
  return MemoryBudget(module, budget, target, costs).run();
}

} // namespace qcc
