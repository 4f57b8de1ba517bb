// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/Schedule.h"

#include "compiler/Kernels.h"

using namespace mlir;

namespace qcc {

/// Whether the op overwrites one of its operands.
static bool overwrites(Operation *op) {
  if (auto grad = dyn_cast<qt::LinearWeightGradOp>(op))
    return static_cast<bool>(grad.getInto());
  auto kernel = dyn_cast<qt::KernelBackedOpInterface>(op);
  if (!kernel)
    return false;
  if (!kernel.getAccumulated().empty())
    return true;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (kernel.getTiedOperand(i))
      return true;
  return false;
}

namespace {
/// Where a value comes from, as far as recomputation goes.
enum class Origin {
  Once,    // computed by this step, the first time
  Outside, // an argument, a parameter, zeros: there at any time
  Again,   // a copy of a forward value that the backward pass asks for, or computed from such
};
} // namespace

/// The ops that wait until they are needed.
static DenseSet<Operation *> findLazy(func::FuncOp function) {
  DenseSet<Operation *> lazy;
  DenseMap<Value, Origin> origins;
  for (Value argument : function.getArguments())
    origins[argument] = Origin::Outside;
  for (Operation &op : function.getOps()) {
    Origin origin = Origin::Outside;
    for (Value operand : op.getOperands()) {
      Origin other = origins.lookup(operand);
      if (other == Origin::Once || (other == Origin::Again && origin == Origin::Outside))
        origin = other;
      if (origin == Origin::Once)
        break;
    }
    bool moved = needsNoKernel(&op) && isPure(&op);
    if (isa<qt::BarrierOp>(op))
      origin = Origin::Again;
    else if (!moved && (origin == Origin::Outside || overwrites(&op)))
      origin = Origin::Once;
    for (Value result : op.getResults())
      origins[result] = origin;
    if (moved || (origin == Origin::Again && isPure(&op)))
      lazy.insert(&op);
  }
  return lazy;
}

void Schedule::emit(Operation *op) {
  if (!positions_.try_emplace(op, 0).second)
    return;
  // Whatever an operand comes from precedes `op` in the program; if it is not there yet, it has waited for this.
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp())
      emit(def);
  positions_[op] = static_cast<int64_t>(ops_.size());
  ops_.push_back(op);
  for (Operation *user : op->getUsers()) {
    if (isa<qt::WatchOp>(user))
      emit(user);
    else if (isa<qt::ViewOpInterface>(user) && user->getNumOperands() == 1 &&
             llvm::any_of(user->getUsers(), [](Operation *next) { return isa<qt::WatchOp>(next); }))
      emit(user);
  }
}

Schedule::Schedule(func::FuncOp function) {
  DenseSet<Operation *> lazy = findLazy(function);
  SmallVector<Operation *> last;
  for (Operation &op : function.getOps()) {
    if (isa<func::ReturnOp, qt::UpdateOp>(op))
      last.push_back(&op);
    else if (!lazy.contains(&op) && (!op.use_empty() || !isPure(&op)))
      emit(&op);
  }
  for (Operation *op : last)
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        emit(def);
  for (Operation *op : last)
    if (isa<qt::UpdateOp>(op))
      emit(op);
}

int64_t Schedule::position(Operation *op) const {
  auto it = positions_.find(op);
  return it == positions_.end() ? static_cast<int64_t>(ops_.size()) : it->second;
}

} // namespace qcc
