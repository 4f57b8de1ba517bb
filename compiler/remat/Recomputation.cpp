// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/remat/Recomputation.h"

#include "compiler/Scope.h"
#include "compiler/remat/Backward.h"
#include "dialects/qt/Entries.h"
#include "dialects/qt/Residuals.h"

using namespace mlir;

namespace qcc {

/// Whether a reader of a cluster makes the cluster a part of the residual stream, for all that is known.
static bool goesOn(Operation *reader) { return isa<qt::AddRmsNormOp, qt::AddOp, qt::PointwiseOp>(reader); }

SmallVector<Value> recomputedValues(Operation *op) {
  if (auto norm = dyn_cast<qt::AddRmsNormOp>(op))
    return {norm.getY()};
  if (isa<qt::AttentionOp, qt::GatedDeltaRuleOp>(op))
    return op->getResults();
  if (isa<qt::LinearOp, qt::EmbeddingOp, qt::RmsNormOp, qt::GatedDeltaInputsOp, qt::SwigluOp, qt::GatedRmsNormOp,
          qt::QkNormRopeOp>(op))
    return op->getResults().take_front(qt::numPrimals(op));
  if (isa<qt::PointwiseOp>(op) && llvm::none_of(op->getUsers(), goesOn))
    return op->getResults();
  return {};
}

namespace {

class Recomputation {
public:
  Recomputation(func::FuncOp function, ArrayRef<Operation *> ops)
      : block_(function.getBody().front()), ops_(ops), backward_(backwardOps(function)) {
    for (Operation *op : ops)
      values_.insert_range(recomputedValues(op));
  }

  SmallVector<Runs> run() {
    SmallVector<Operation *> readers;
    for (Operation &op : block_)
      if (backward_.contains(&op))
        readers.push_back(&op);
    for (Operation *reader : readers)
      for (OpOperand &operand : reader->getOpOperands())
        if (isRecomputed(operand.get()))
          operand.set(recompute(operand.get(), reader));
    SmallVector<Runs> runs;
    for (Operation *op : ops_) {
      Operation *again = copies_.lookup(op);
      // Residuals that the copy gives the first run need not.
      runs.push_back({again ? qt::dropUnusedResiduals(op) : op, again});
    }
    return runs;
  }

private:
  /// Whether a reader in the backward pass is to read a copy.
  bool isRecomputed(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || backward_.contains(result.getOwner()))
      return false;
    if (auto view = dyn_cast<qt::ViewOpInterface>(result.getOwner()))
      return llvm::any_of(view.getViewed(), [&](Value operand) { return isRecomputed(operand); });
    return values_.contains(value);
  }

  /// The value computed again just before `reader`, the first op of the backward pass that needs it.
  Value recompute(Value value, Operation *reader) {
    if (Value known = recomputed_.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    OpBuilder builder(reader);
    SmallVector<Value> operands;
    if (auto norm = dyn_cast<qt::AddRmsNormOp>(op)) {
      operands = {again(norm.getSum(), reader, builder), again(norm.getWeight(), reader, builder)};
      auto y = qt::RmsNormOp::create(builder, op->getLoc(), norm.getY().getType(), Type(), operands[0], operands[1],
                                     norm.getEpsAttr());
      y->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      y->setAttr(qt::kRecomputedAttr, builder.getUnitAttr());
      copies_[op] = y;
      return recomputed_[value] = y.getY();
    }
    for (Value operand : op->getOperands())
      operands.push_back(again(operand, reader, builder));
    size_t count = isa<qt::ViewOpInterface>(op) ? op->getNumResults() : recomputedValues(op).size();
    Operation *copy = qt::cloneWithResults(builder, op, operands, TypeRange(op->getResultTypes()).take_front(count));
    // A view computes nothing.
    if (!isa<qt::ViewOpInterface>(op))
      copy->setAttr(qt::kRecomputedAttr, builder.getUnitAttr());
    copies_[op] = copy;
    for (auto [result, copied] : llvm::zip(op->getResults().take_front(count), copy->getResults()))
      recomputed_[result] = copied;
    return recomputed_.lookup(value);
  }

  /// An operand of a copy: recomputed itself, a parameter read again, or a value that was kept, from now on.
  Value again(Value value, Operation *reader, OpBuilder &builder) {
    if (isa<qt::SegmentsType>(value.getType()))
      return value;
    if (isRecomputed(value))
      return recompute(value, reader);
    if (auto read = value.getDefiningOp<qt::ReadOp>())
      return builder.clone(*read)->getResult(0);
    auto barrier = qt::BarrierOp::create(builder, value.getLoc(), value, latestCotangent(reader));
    copyScope(reader, barrier);
    return barrier;
  }

  /// Of what `reader` reads of the backward pass, the value that is known last.
  Value latestCotangent(Operation *reader) {
    Value latest;
    for (Value operand : reader->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (source && backward_.contains(source) && (!latest || latest.getDefiningOp()->isBeforeInBlock(source)))
        latest = operand;
    }
    // The first op of the backward pass reads its seed alone.
    for (Value operand : reader->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand);
          !latest && argument && isa<RankedTensorType>(argument.getType()))
        latest = operand;
    return latest;
  }

  Block &block_;
  ArrayRef<Operation *> ops_;
  llvm::DenseSet<Operation *> backward_;
  llvm::DenseSet<Value> values_;
  DenseMap<Value, Value> recomputed_;
  DenseMap<Operation *, Operation *> copies_;
};

} // namespace

SmallVector<Runs> recompute(func::FuncOp function, ArrayRef<Operation *> ops) {
  return Recomputation(function, ops).run();
}

} // namespace qcc
