// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops of a forward pass to compute again so that an entry function's transient memory stays within a budget, at
// the least predicted time.
#ifndef COMPILER_REMAT_BUDGETSEARCH_H
#define COMPILER_REMAT_BUDGETSEARCH_H

#include "compiler/cost/CostModel.h"
#include "compiler/plan/EntryPlan.h"

#include "llvm/ADT/BitVector.h"

namespace qcc {

/// Where most bytes are alive, the op that frees most of them for a predicted second of its second run comes first; of
/// equals the earliest, whose results would wait longest. Then what has become unnecessary is taken back, dearest
/// first. Estimates come of the lifetimes of the last plan, and every set is planned before it counts; a search makes a
/// few plans, however many layers there are. The same function and budget give the same set.
class BudgetSearch {
public:
  /// `function`: an entry function with a backward pass, which nothing is recomputed in yet.
  BudgetSearch(mlir::func::FuncOp function, const StateLayout &layout, PlanCall planCall, const CostModel &costs);

  /// Ops to compute again, and the transient bytes (placed) of the function's plan then.
  struct Choice {
    llvm::SmallVector<mlir::Operation *> ops;
    int64_t transientBytes = 0;
  };

  /// A choice whose transient bytes are at most `budget`; where there is none, the one with the fewest bytes that was
  /// found, which does not depend on the budget. Failure: the function cannot be planned, as was diagnosed.
  mlir::FailureOr<Choice> choose(int64_t budget) const;

private:
  /// Bytes that are not alive from instruction `begin` to `end` (excluded) if an op is computed again.
  struct Gap {
    int64_t bytes, begin, end;
  };
  /// What a plan says about one candidate.
  struct Estimate {
    llvm::SmallVector<Gap, 5> gaps;
    double seconds = 0; // of its second run
  };
  /// The plan with a set of candidates computed again.
  struct Trial {
    int64_t bound = 0;         // see EntryPlan::transientBound
    std::vector<int64_t> live; // bytes alive at each instruction
    std::vector<Estimate> estimates;
  };

  mlir::FailureOr<Trial> plan(const llvm::BitVector &chosen) const;
  mlir::FailureOr<Choice> place(const llvm::BitVector &chosen) const;
  /// Adds candidates until the bound is at most `limit`, or nothing more helps.
  mlir::FailureOr<Trial> grow(llvm::BitVector &chosen, int64_t limit) const;
  /// Takes candidates away as far as the bound stays at most `limit`.
  mlir::LogicalResult shrink(llvm::BitVector &chosen, Trial trial, int64_t limit) const;
  /// A choice of at most `budget` bytes, if one is found.
  mlir::FailureOr<std::optional<Choice>> within(int64_t budget) const;
  mlir::FailureOr<Choice> least() const;

  mlir::func::FuncOp function_;
  const StateLayout &layout_;
  PlanCall planCall_;
  const CostModel &costs_;
  llvm::SmallVector<mlir::Operation *> candidates_; // in program order
};

} // namespace qcc

#endif // COMPILER_REMAT_BUDGETSEARCH_H
