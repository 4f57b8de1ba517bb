// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/remat/BudgetSearch.h"

#include "compiler/plan/ArenaPacker.h"
#include "compiler/remat/Backward.h"
#include "compiler/remat/Recomputation.h"

#include "mlir/IR/IRMapping.h"

#include <algorithm>

using namespace mlir;

namespace qcc {
namespace {

/// A copy of the function in which some candidates are computed again, its plan, and who is who in it.
struct Rewritten {
  OwningOpRef<func::FuncOp> function;
  EntryPlan plan;
  /// Of each candidate in the copy. Without a second run if it is not chosen.
  SmallVector<Runs> runs;
};

FailureOr<Rewritten> rewrite(func::FuncOp function, ArrayRef<Operation *> candidates, const llvm::BitVector &chosen,
                             const StateLayout &layout, PlanCall planCall) {
  Rewritten out;
  IRMapping copies;
  out.function = cast<func::FuncOp>(function->clone(copies));
  SmallVector<Operation *> ops;
  for (auto [i, op] : llvm::enumerate(candidates)) {
    out.runs.push_back({copies.lookup(op)});
    if (chosen[i])
      ops.push_back(copies.lookup(op));
  }
  SmallVector<Runs> runs = recompute(*out.function, ops);
  for (auto [i, run] : llvm::zip_equal(chosen.set_bits(), runs))
    out.runs[i] = run;
  FailureOr<EntryPlan> plan = planEntry(*out.function, layout, planCall);
  if (failed(plan))
    return failure();
  out.plan = std::move(*plan);
  return out;
}

/// Who writes what where in a plan, and who uses it.
class PlanIndex {
public:
  explicit PlanIndex(const EntryPlan &plan) : plan_(plan), uses_(plan.buffers.size()) {
    for (auto [i, instruction] : llvm::enumerate(plan.instructions)) {
      auto index = static_cast<int64_t>(i);
      instructions_.try_emplace(instruction.op, index);
      for (const PlannedAccess &access : instruction.accesses)
        if (access.view && (uses_[access.view->buffer].empty() || uses_[access.view->buffer].back() != index))
          uses_[access.view->buffer].push_back(index);
      if (instruction.kind == InstructionKind::Gemm)
        buffers_[instruction.op->getResult(0)] = instruction.accesses[0].view->buffer;
      if (instruction.kind == InstructionKind::Kernel)
        for (auto [argument, access] :
             llvm::zip(qt::kernelArguments(cast<qt::KernelBackedOpInterface>(instruction.op)), instruction.accesses))
          if (argument.write)
            buffers_[argument.write] = access.view->buffer;
    }
  }

  /// The op's own instruction; -1: none.
  int64_t instructionOf(Operation *op) const {
    auto it = instructions_.find(op);
    return it == instructions_.end() ? -1 : it->second;
  }
  /// The transient buffers that the values lie in, each once.
  SmallVector<unsigned> buffersOf(ArrayRef<Value> values) const {
    SmallVector<unsigned> buffers;
    for (Value value : values)
      if (auto it = buffers_.find(value); it != buffers_.end() &&
                                          plan_.buffers[it->second].space == step::Space::Transient &&
                                          !llvm::is_contained(buffers, it->second))
        buffers.push_back(it->second);
    return buffers;
  }
  int64_t bytesOf(unsigned buffer) const { return alignToArena(step::bytesOf(plan_.buffers[buffer].type)); }
  /// Its last use before an instruction; -1: none.
  int64_t lastUseBefore(unsigned buffer, int64_t instruction) const {
    auto it = llvm::lower_bound(uses_[buffer], instruction);
    return it == uses_[buffer].begin() ? -1 : *std::prev(it);
  }
  /// Its first use from an instruction on; -1: none.
  int64_t firstUseFrom(unsigned buffer, int64_t instruction) const {
    auto it = llvm::lower_bound(uses_[buffer], instruction);
    return it == uses_[buffer].end() ? -1 : *it;
  }

private:
  const EntryPlan &plan_;
  DenseMap<Operation *, int64_t> instructions_;
  DenseMap<Value, unsigned> buffers_;
  std::vector<std::vector<int64_t>> uses_; // instructions, ascending
};

/// Bytes alive at each instruction.
std::vector<int64_t> liveBytes(const EntryPlan &plan) {
  std::vector<int64_t> live(plan.instructions.size() + 1);
  for (const PlannedBuffer &buffer : plan.buffers)
    if (buffer.space == step::Space::Transient && buffer.first >= 0) {
      int64_t bytes = alignToArena(step::bytesOf(buffer.type));
      live[buffer.first] += bytes;
      live[buffer.last + 1] -= bytes;
    }
  for (size_t i = 1; i < live.size(); ++i)
    live[i] += live[i - 1];
  live.pop_back();
  return live;
}

} // namespace

BudgetSearch::BudgetSearch(func::FuncOp function, const StateLayout &layout, PlanCall planCall, const CostModel &costs)
    : function_(function), layout_(layout), planCall_(planCall), costs_(costs) {
  llvm::DenseSet<Operation *> backward = backwardOps(function);
  for (Operation &op : function.getOps())
    if (!backward.contains(&op) && !recomputedValues(&op).empty())
      candidates_.push_back(&op);
}

FailureOr<BudgetSearch::Trial> BudgetSearch::plan(const llvm::BitVector &chosen) const {
  FailureOr<Rewritten> rewritten = rewrite(function_, candidates_, chosen, layout_, planCall_);
  if (failed(rewritten))
    return failure();
  const EntryPlan &plan = rewritten->plan;
  PlanIndex index(plan);
  Trial trial{plan.transientBound, liveBytes(plan), {}};

  llvm::DenseSet<Operation *> backward = backwardOps(*rewritten->function);
  auto first = llvm::find_if(plan.instructions, [&](const auto &i) { return backward.contains(i.op); });
  int64_t begin = first - plan.instructions.begin(); // of the backward pass
  for (const Runs &runs : rewritten->runs) {
    Estimate &estimate = trial.estimates.emplace_back();
    // The run that is measured: the second, or what would be its like.
    int64_t run = index.instructionOf(runs.again ? runs.again : runs.first);
    estimate.seconds = run < 0 ? 0 : costs_.seconds(plan, plan.instructions[run]);
    if (runs.again) {
      // From the first run's last reader to the second run, where what it writes would be alive.
      int64_t from = index.instructionOf(runs.first) + 1;
      for (unsigned buffer : index.buffersOf(recomputedValues(runs.first)))
        from = std::max(from, index.lastUseBefore(buffer, begin) + 1);
      for (unsigned buffer : index.buffersOf(SmallVector<Value>(runs.again->getResults())))
        estimate.gaps.push_back({index.bytesOf(buffer), from, run});
      continue;
    }
    for (unsigned buffer : index.buffersOf(recomputedValues(runs.first)))
      if (int64_t read = index.firstUseFrom(buffer, begin); read >= 0)
        estimate.gaps.push_back({index.bytesOf(buffer), index.lastUseBefore(buffer, begin) + 1, read});
  }
  return trial;
}

FailureOr<BudgetSearch::Choice> BudgetSearch::place(const llvm::BitVector &chosen) const {
  FailureOr<Rewritten> rewritten = rewrite(function_, candidates_, chosen, layout_, planCall_);
  if (failed(rewritten) || failed(placeBuffers(*rewritten->function, rewritten->plan)))
    return failure();
  Choice choice{{}, rewritten->plan.transientBytes};
  for (unsigned i : chosen.set_bits())
    choice.ops.push_back(candidates_[i]);
  return choice;
}

FailureOr<BudgetSearch::Trial> BudgetSearch::grow(llvm::BitVector &chosen, int64_t limit) const {
  FailureOr<Trial> trial = plan(chosen);
  if (failed(trial))
    return failure();
  // Two runs have more to keep for a while: more is not always better.
  llvm::BitVector best = chosen;
  Trial bestTrial = *trial;
  while (trial->bound > limit) {
    bool grown = false;
    while (true) {
      auto peak = std::max_element(trial->live.begin(), trial->live.end());
      if (*peak <= limit)
        break;
      int64_t at = peak - trial->live.begin();
      std::optional<unsigned> next;
      double nextRate = 0;
      for (unsigned i = 0; i < candidates_.size(); ++i) {
        int64_t freed = 0;
        for (const Gap &gap : trial->estimates[i].gaps)
          freed += gap.begin <= at && at < gap.end ? gap.bytes : 0;
        double rate = static_cast<double>(freed) / trial->estimates[i].seconds;
        if (!chosen[i] && freed > 0 && (!next || rate > nextRate)) {
          next = i;
          nextRate = rate;
        }
      }
      if (!next)
        break;
      chosen.set(*next);
      grown = true;
      for (const Gap &gap : trial->estimates[*next].gaps)
        for (int64_t i = gap.begin; i < gap.end; ++i)
          trial->live[i] -= gap.bytes;
    }
    if (!grown)
      break;
    trial = plan(chosen);
    if (failed(trial))
      return failure();
    if (trial->bound < bestTrial.bound) {
      best = chosen;
      bestTrial = *trial;
    }
  }
  chosen = best;
  return bestTrial;
}

LogicalResult BudgetSearch::shrink(llvm::BitVector &chosen, Trial trial, int64_t limit) const {
  // Dearest first; of equals the latest, which frees for the shortest time.
  SmallVector<unsigned> order(chosen.set_bits());
  std::reverse(order.begin(), order.end());
  llvm::stable_sort(order,
                    [&](unsigned a, unsigned b) { return trial.estimates[a].seconds > trial.estimates[b].seconds; });
  SmallVector<unsigned> unneeded;
  for (unsigned i : order) {
    std::vector<int64_t> live = trial.live;
    for (const Gap &gap : trial.estimates[i].gaps)
      for (int64_t at = gap.begin; at < gap.end; ++at)
        live[at] += gap.bytes;
    if (*llvm::max_element(live) > limit)
      continue;
    trial.live = std::move(live);
    unneeded.push_back(i);
  }
  // An estimate may be wrong: half as many, then.
  for (size_t count = unneeded.size(); count > 0; count /= 2) {
    llvm::BitVector fewer = chosen;
    for (unsigned i : ArrayRef(unneeded).take_front(count))
      fewer.reset(i);
    FailureOr<Trial> planned = plan(fewer);
    if (failed(planned))
      return failure();
    if (planned->bound <= limit) {
      chosen = fewer;
      break;
    }
  }
  return success();
}

FailureOr<std::optional<BudgetSearch::Choice>> BudgetSearch::within(int64_t budget) const {
  // Where the placement takes more than the bound, the bound has to be lower.
  constexpr int kPlacements = 4;
  int64_t limit = budget;
  for (int attempt = 0; attempt < kPlacements && limit > 0; ++attempt) {
    llvm::BitVector chosen(candidates_.size());
    FailureOr<Trial> trial = grow(chosen, limit);
    if (failed(trial))
      return failure();
    if (trial->bound > limit)
      break;
    if (failed(shrink(chosen, *trial, limit)))
      return failure();
    FailureOr<Choice> choice = place(chosen);
    if (failed(choice))
      return failure();
    if (choice->transientBytes <= budget)
      return choice;
    limit -= choice->transientBytes - budget;
  }
  return std::optional<Choice>();
}

FailureOr<BudgetSearch::Choice> BudgetSearch::least() const {
  llvm::BitVector chosen(candidates_.size());
  FailureOr<Trial> trial = grow(chosen, 0);
  if (failed(trial))
    return failure();
  FailureOr<Choice> best = place(chosen);
  if (failed(best))
    return failure();
  // A goal that is in reach leads to better choices than one that is not: ever smaller steps, and then single bytes.
  constexpr int64_t kFirstStep = 8, kLastStep = 512; // the amount is divided by
  for (int64_t part = kFirstStep;; part *= 2) {
    int64_t step = part <= kLastStep ? best->transientBytes / part : 1;
    FailureOr<std::optional<Choice>> better = within(best->transientBytes - step);
    if (failed(better))
      return failure();
    if (*better)
      best = std::move(**better);
    else if (part > kLastStep)
      return best;
  }
}

FailureOr<BudgetSearch::Choice> BudgetSearch::choose(int64_t budget) const {
  FailureOr<std::optional<Choice>> choice = within(budget);
  if (failed(choice))
    return failure();
  return *choice ? FailureOr<Choice>(std::move(**choice)) : least();
}

} // namespace qcc
