// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the backward pass computes again. A value that it reads from the forward pass costs its memory in between; where
// the op that made it moves bytes and little else, and its inputs are kept anyway, a second run is cheaper than keeping
// it (docs/kernels.md, bytes freed per recomputed millisecond).
#include "compiler/Passes.h"
#include "compiler/Scope.h"
#include "compiler/remat/Backward.h"
#include "dialects/qt/Entries.h"
#include "dialects/qt/Residuals.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_REMAT
#include "compiler/Passes.h.inc"

namespace {

class MemoryBoundRemat {
public:
  explicit MemoryBoundRemat(func::FuncOp function)
      : block_(function.getBody().front()), backward_(backwardOps(function)) {}

  void run() {
    SmallVector<Operation *> readers;
    for (Operation &op : block_)
      if (backward_.contains(&op))
        readers.push_back(&op);
    for (Operation *reader : readers)
      for (OpOperand &operand : reader->getOpOperands())
        if (isRecomputed(operand.get()))
          operand.set(recompute(operand.get(), reader));
  }

private:
  /// Whether the policy computes this value of the forward pass again. The sum of an add_rms_norm is the residual
  /// stream: its gradient reads it, so it is kept, and the norm is computed from it. Residuals are small.
  bool isRecomputed(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || backward_.contains(result.getOwner()))
      return false;
    Operation *op = result.getOwner();
    if (auto view = dyn_cast<qt::ViewOpInterface>(op))
      return llvm::any_of(view.getViewed(), [&](Value operand) { return isRecomputed(operand); });
    if (auto norm = dyn_cast<qt::AddRmsNormOp>(op))
      return value == norm.getY();
    return isa<qt::RmsNormOp, qt::GatedDeltaInputsOp, qt::SwigluOp, qt::GatedRmsNormOp, qt::QkNormRopeOp>(op) &&
           result.getResultNumber() < qt::numPrimals(op);
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
      return recomputed_[value] = y.getY();
    }
    for (Value operand : op->getOperands())
      operands.push_back(again(operand, reader, builder));
    unsigned primals = qt::numPrimals(op);
    Operation *copy = qt::cloneWithResults(builder, op, operands, TypeRange(op->getResultTypes()).take_front(primals));
    // A view computes nothing.
    if (!isa<qt::ViewOpInterface>(op))
      copy->setAttr(qt::kRecomputedAttr, builder.getUnitAttr());
    for (auto [result, copied] : llvm::zip(op->getResults().take_front(primals), copy->getResults()))
      recomputed_[result] = copied;
    return recomputed_.lookup(value);
  }

  /// An operand of a recomputation: recomputed itself, a parameter read again, or a value that was kept, from now on.
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
  llvm::DenseSet<Operation *> backward_;
  DenseMap<Value, Value> recomputed_;
};

struct Remat : impl::RematBase<Remat> {
  using RematBase::RematBase;
  void runOnOperation() override {
    if (policy == qt::RematPolicy::None)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (hasBackward(function) && !qt::isGeneric(function))
        MemoryBoundRemat(function).run();
  }
};

} // namespace
} // namespace qcc
