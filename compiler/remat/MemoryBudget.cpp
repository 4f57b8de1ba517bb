// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/remat/MemoryBudget.h"

#include "compiler/plan/UnreadResiduals.h"
#include "compiler/remat/Backward.h"
#include "compiler/remat/BudgetSearch.h"
#include "compiler/remat/Recomputation.h"
#include "runtime/base/Digits.h"
#include "runtime/program/Memory.h"

using namespace mlir;

namespace qcc {
namespace {

class MemoryBudget {
public:
  MemoryBudget(ModuleOp module, int64_t budget, const Target &target, const CostModel &costs)
      : module_(module), budget_(budget), target_(target), costs_(costs), layout_(layoutState(module)) {
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
    return tooLarge_ == 0 ? success() : refuse(transient);
  }

private:
  /// What nothing that is computed again changes.
  int64_t fixedBytes() const { return layout_.stateBytes + ioBytes_ + overheadBytes(target_); }

  /// Recomputes what `function` needs for `transient` bytes, what a run of one micro-batch a step has for them; notes
  /// where that is too little. Failure: diagnosed.
  LogicalResult keep(func::FuncOp function, const EntryPlan &plan, int64_t transient) {
    qt::EntryKind kind = *qt::entryKind(function);
    if (kind == qt::EntryKind::Apply) // only after @accumulate, and it keeps nothing
      return success();
    if (!hasBackward(function)) {
      compare(function, plan, plan.transientBytes, transient);
      return success();
    }
    BudgetSearch search(function, layout_, planCall_, costs_);
    bool accumulates = kind == qt::EntryKind::Accumulate;
    int64_t within = accumulates ? transient - layout_.gradientBytes : transient;
    FailureOr<BudgetSearch::Choice> choice = search.choose(within);
    if (succeeded(choice) && accumulates && choice->transientBytes > within)
      choice = search.choose(transient);
    if (failed(choice))
      return failure();
    if (!accumulates)
      compare(function, plan, choice->transientBytes, transient);
    recompute(function, choice->ops);
    return success();
  }

  void compare(func::FuncOp function, const EntryPlan &plan, int64_t least, int64_t transient) {
    if (least <= transient)
      return;
    ++tooLarge_;
    if (least <= most_.least)
      return;
    most_ = {function, least, 0};
    for (const PlannedInstruction &instruction : plan.instructions)
      if (instruction.hasWorkspace)
        most_.documentBytes = std::max(most_.documentBytes, documentBytes(callOf(plan, instruction), target_));
  }

  LogicalResult refuse(int64_t transient) {
    InFlightDiagnostic error = module_.emitError() << "--memory: " << qrt::printBytes(budget_) << " are "
                                                   << qrt::printBytes(most_.least - transient) << " too little for @"
                                                   << most_.function.getName();
    if (hasBackward(most_.function))
      error << ", with all computed again that helps";
    if (tooLarge_ > 1)
      error << "; of " << tooLarge_ << " functions that do not fit it needs the most";
    error.attachNote() << "at least " << qrt::printBytes(fixedBytes() + most_.least) << ": state "
                       << qrt::printBytes(layout_.stateBytes) << ", transient " << qrt::printBytes(most_.least)
                       << ", batch and tables " << qrt::printBytes(ioBytes_)
                       << ", context, libraries and room for machine code " << qrt::printBytes(overheadBytes(target_))
                       << "; " << qrt::lessMemory(leastMemory(), budget_, /*budget=*/false);
    // Where rows of fewer documents would make up for much of what is missing.
    if (most_.documentBytes > (most_.least - transient) / 2 && leastMemory().total() < budget_)
      error.attachNote() << "up to " << qrt::printBytes(most_.documentBytes) << " of transient are for "
                         << qrt::countOf(qt::bucketOf(most_.function)->documents, "document")
                         << " in a row: a bucket TOKENSxDOCUMENTSxLONGESTxTRAINED of fewer, as --data makes it, needs "
                            "less";
    return error;
  }

  /// As the runtime knows it of a program.
  qrt::LeastMemory leastMemory() {
    qrt::LeastMemory least;
    least.masters = llvm::any_of(module_.getOps<qt::StateOp>(),
                                 [](qt::StateOp state) { return state.getKind() == qt::StateKind::Master; });
    least.state = layout_.stateBytes;
    for (auto parameter : module_.getOps<qt::ParameterOp>())
      if (!parameter.getFrozen())
        least.gradients += step::bytesOf(step::memoryType(parameter.getType()));
    least.overhead = overheadBytes(target_);
    return least;
  }

  /// A function that does not fit.
  struct TooLarge {
    func::FuncOp function;
    int64_t least = 0;         // transient bytes
    int64_t documentBytes = 0; // of these at most: what rows of a single document would not take
  };

  ModuleOp module_;
  int64_t budget_;
  const Target &target_;
  const CostModel &costs_;
  StateLayout layout_;
  std::function<FailureOr<CallNeeds>(Operation *, const KernelCall &)> planCall_ =
      [this](Operation *op, const KernelCall &call) { return planCall(op, call, target_); };
  SmallVector<func::FuncOp> functions_;
  std::vector<EntryPlan> plans_;
  int64_t ioBytes_ = 0;
  int64_t tooLarge_ = 0; // how many functions are
  TooLarge most_;        // the first of those that need the most
};

} // namespace

LogicalResult keepWithin(ModuleOp module, int64_t budget, const Target &target, const CostModel &costs) {
  return MemoryBudget(module, budget, target, costs).run();
}

} // namespace qcc
