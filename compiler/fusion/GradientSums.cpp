// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of gradients go into the ops that compute a term of them: a product adds with its beta, a kernel to what it
// finds in its output.
#include "compiler/Passes.h"
#include "compiler/Scope.h"
#include "dialects/qt/Accumulation.h"
#include "dialects/qt/Entries.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FUSEGRADIENTSUMS
#include "compiler/Passes.h.inc"

namespace {

/// Whether `value` is there before `op` runs.
bool isKnownBefore(Value value, Operation *op) {
  Operation *source = value.getDefiningOp();
  return !source || source->isBeforeInBlock(op);
}

Value otherTerm(qt::AddOp add, Value term) { return add.getLhs() == term ? add.getRhs() : add.getLhs(); }

/// The sum that alone reads `term` and adds it to something of the same type that is known before `op`; null if there
/// is none.
qt::AddOp sumOf(Value term, Operation *op) {
  if (!term.hasOneUse())
    return {};
  auto add = dyn_cast<qt::AddOp>(*term.user_begin());
  if (!add || add.getLhs().getType() != add.getRhs().getType() || add.getLhs() == add.getRhs())
    return {};
  return isKnownBefore(otherTerm(add, term), op) ? add : qt::AddOp();
}

/// Gives a gradient op its `into`, if at least one of its weight gradients is added to a value that nothing else reads.
/// Gradients that are not summed are added to zeros.
void fuseWeightGradients(Operation *op) {
  SmallVector<OpResult> results = qt::accumulatingResults(op);
  if (results.empty() || !qt::intoOperands(op).empty())
    return;
  SmallVector<qt::AddOp> sums;
  for (OpResult result : results) {
    qt::AddOp sum = sumOf(result, op);
    // The kernel overwrites what it adds to.
    bool fusible = sum && otherTerm(sum, result).hasOneUse();
    sums.push_back(fusible ? sum : qt::AddOp());
  }
  if (llvm::none_of(sums, [](qt::AddOp sum) { return static_cast<bool>(sum); }))
    return;
  OpBuilder builder(op);
  SmallVector<Value> into;
  for (auto [result, sum] : llvm::zip_equal(results, sums)) {
    if (sum) {
      into.push_back(otherTerm(sum, result));
      continue;
    }
    auto zeros = qt::ZerosOp::create(builder, op->getLoc(), result.getType());
    copyScope(op, zeros);
    into.push_back(zeros);
  }
  for (auto [result, sum] : llvm::zip_equal(results, sums)) {
    if (!sum)
      continue;
    sum.getResult().replaceAllUsesWith(result);
    sum.erase();
  }
  qt::intoOperands(op).assign(into);
}

/// A norm whose input is read elsewhere too (the first of a residual stream): its gradient takes the other cotangent
/// along.
void fuseResidualGradient(qt::RmsNormGradOp op) {
  qt::AddOp sum = sumOf(op.getDx(), op);
  if (!sum)
    return;
  OpBuilder builder(op);
  auto fused = qt::AddRmsNormGradOp::create(builder, op.getLoc(), op.getDx().getType(), op.getDweight().getType(),
                                            op.getX(), op.getWeight(), op.getRstd(), otherTerm(sum, op.getDx()),
                                            op.getDy(), op.getInto(), op.getEpsAttr());
  fused->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  sum.getResult().replaceAllUsesWith(fused.getDx());
  sum.erase();
  op.getDweight().replaceAllUsesWith(fused.getDweight());
  op.erase();
}

struct FuseGradientSums : impl::FuseGradientSumsBase<FuseGradientSums> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!qt::entryKind(function) || qt::isGeneric(function))
        continue;
      // In order, so that a sum of several terms is built up from the first.
      SmallVector<Operation *> gradients;
      for (Operation &op : function.getBody().front())
        if (!qt::accumulatingResults(&op).empty())
          gradients.push_back(&op);
      for (Operation *op : gradients) {
        fuseWeightGradients(op);
        if (auto norm = dyn_cast<qt::RmsNormGradOp>(op))
          fuseResidualGradient(norm);
      }
    }
  }
};

} // namespace
} // namespace qcc
