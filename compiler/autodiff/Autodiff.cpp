// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/autodiff/Autodiff.h"

#include "compiler/autodiff/TrainedSymbols.h"
#include "dialects/qt/Accumulation.h"
#include "dialects/qt/Residuals.h"
#include "dialects/qt/TypeChecks.h"

using namespace mlir;

namespace qcc {
namespace {

/// Gives every op that is inserted the scope of the op it is the adjoint of.
struct ScopeListener : OpBuilder::Listener {
  Attribute scope;
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (scope && !op->hasAttr(qt::kScopeAttr))
      op->setAttr(qt::kScopeAttr, scope);
  }
};

class ReversePass {
public:
  explicit ReversePass(func::FuncOp function)
      : block_(function.getBody().front()), builder_(block_.getTerminator(), &listener_),
        active_(trainedValues(function.getBody(), SymbolTable(function->getParentOfType<ModuleOp>()))) {}

  LogicalResult run(Value loss, Value seed) {
    if (active_.contains(loss))
      add(loss, seed);
    SmallVector<Operation *> forward;
    for (Operation &op : block_.without_terminator())
      forward.push_back(&op);
    for (Operation *op : llvm::reverse(forward))
      if (failed(visit(op)))
        return failure();
    return success();
  }

  Contributions contributions;

private:
  void add(Value value, Value cotangent) {
    assert(cotangent.getType() == value.getType() && "a cotangent has the type of its value");
    Value &sum = cotangents_[value];
    sum = sum ? Value(qt::AddOp::create(builder_, cotangent.getLoc(), sum, cotangent)) : cotangent;
  }

  LogicalResult visit(Operation *op) {
    SmallVector<Value> cotangents;
    for (Value result : op->getResults())
      cotangents.push_back(cotangents_.lookup(result));
    if (llvm::none_of(cotangents, [](Value cotangent) { return static_cast<bool>(cotangent); }))
      return success();
    auto differentiable = dyn_cast<qt::DifferentiableOpInterface>(op);
    if (!differentiable)
      return op->emitOpError(
          "expected an op with an adjoint between a trained parameter and the loss; form compounds before autodiff");
    listener_.scope = op->getAttr(qt::kScopeAttr);
    if (isa<qt::ResidualOpInterface>(op)) {
      op = withResiduals(op);
      differentiable = cast<qt::DifferentiableOpInterface>(op);
      cotangents.resize(op->getNumResults());
    }
    SmallVector<Value> operandCotangents = differentiable.buildAdjoint(builder_, cotangents);
    assert(operandCotangents.size() == op->getNumOperands() && "an adjoint gives one value an operand");
    watchCotangents(op, cotangents, operandCotangents);
    if (auto crossEntropy = dyn_cast<qt::LinearCrossEntropyOp>(op)) {
      finish(crossEntropy, operandCotangents);
      return success();
    }
    addToOperands(op, operandCotangents);
    return success();
  }

  /// Names the cotangents of results that are watched, as gradients of the same name.
  void watchCotangents(Operation *op, ArrayRef<Value> cotangents, ArrayRef<Value> operandCotangents) {
    for (OpResult result : op->getResults())
      for (Operation *user : llvm::to_vector(result.getUsers()))
        if (auto watch = dyn_cast<qt::WatchOp>(user); watch && !watch.getGradient()) {
          // What reaches a sum through its norm is added inside the adjoint: the sum's whole cotangent is that of its
          // terms.
          auto addNorm = dyn_cast<qt::AddRmsNormOp>(op);
          bool isSum = addNorm && result == addNorm.getSum();
          Value cotangent = isSum ? operandCotangents[0] : cotangents[result.getResultNumber()];
          if (cotangent)
            qt::WatchOp::create(builder_, cotangent.getLoc(), cotangent, watch.getNameAttr(), builder_.getUnitAttr());
        }
  }

  void addToOperands(Operation *op, ArrayRef<Value> cotangents) {
    for (auto [operand, cotangent] : llvm::zip_equal(op->getOperands(), cotangents)) {
      if (!cotangent || !active_.contains(operand))
        continue;
      if (auto read = operand.getDefiningOp<qt::ReadOp>())
        contributions[read.getSymbolAttr().getAttr()].push_back(cotangent);
      else
        add(operand, cotangent);
    }
  }

  /// The same op with all its residual results; `op` itself if it has them.
  Operation *withResiduals(Operation *op) {
    SmallVector<Type> residuals = cast<qt::ResidualOpInterface>(op).getResidualTypes();
    unsigned primals = qt::numPrimals(op);
    if (op->getNumResults() == primals + residuals.size())
      return op;
    SmallVector<Type> types(TypeRange(op->getResultTypes()).take_front(primals));
    llvm::append_range(types, residuals);
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(op);
    Operation *complete = qt::cloneWithResults(builder_, op, op->getOperands(), types);
    for (auto [before, after] : llvm::zip(op->getResults(), complete->getResults()))
      before.replaceAllUsesWith(after);
    op->erase();
    return complete;
  }

  /// The gradient op gives the loss as well, and no weight gradient where the head is frozen.
  void finish(qt::LinearCrossEntropyOp op, ArrayRef<Value> cotangents) {
    auto grad = cotangents[0].getDefiningOp<qt::LinearCrossEntropyGradOp>();
    SmallVector<Value> used(cotangents);
    if (!active_.contains(op.getWeight())) {
      auto frozen = qt::LinearCrossEntropyGradOp::create(builder_, grad.getLoc(), grad.getLoss().getType(),
                                                         grad.getDx().getType(), Type(), grad.getX(), grad.getWeight(),
                                                         grad.getLabels(), grad.getDloss(), ValueRange());
      grad.erase();
      grad = frozen;
      used = {grad.getDx(), Value(), Value()};
    }
    addToOperands(op, used);
    bool onlyReturned =
        llvm::all_of(op->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
    if (onlyReturned && !op.getRowLoss()) {
      op.getLoss().replaceAllUsesWith(grad.getLoss());
      op.erase();
    }
  }

  Block &block_;
  ScopeListener listener_;
  OpBuilder builder_;
  DenseSet<Value> active_; // what depends on a trained parameter
  DenseMap<Value, Value> cotangents_;
};

} // namespace

FailureOr<Contributions> appendReversePass(func::FuncOp function, Value loss, Value seed) {
  ReversePass pass(function);
  if (failed(pass.run(loss, seed)))
    return failure();
  return std::move(pass.contributions);
}

Value asAccumulator(OpBuilder &builder, Value gradient) {
  auto type = cast<RankedTensorType>(gradient.getType());
  auto wide = RankedTensorType::get(type.getShape(), qt::accumulatorType(type.getElementType()));
  if (type == wide)
    return gradient;
  if (auto result = dyn_cast<OpResult>(gradient);
      result && result.use_empty() && llvm::is_contained(qt::accumulatingResults(result.getOwner()), result)) {
    gradient.setType(wide);
    return gradient;
  }
  if (auto cast = gradient.getDefiningOp<qt::CastOp>(); cast && cast.getX().getType() == wide)
    return cast.getX();
  return qt::CastOp::create(builder, gradient.getLoc(), wide, gradient);
}

} // namespace qcc
