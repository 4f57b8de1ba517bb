// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cluster of pointwise ops: what its body may be, and the table that a kernel takes for it.
#include "dialects/qt/TypeChecks.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace qt {

std::optional<qrt::ExpressionOp> expressionOp(Operation *op) {
  using Result = std::optional<qrt::ExpressionOp>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<AddOp>([](auto) { return qrt::ExpressionOp::Add; })
      .Case<SubOp>([](auto) { return qrt::ExpressionOp::Sub; })
      .Case<MulOp>([](auto) { return qrt::ExpressionOp::Mul; })
      .Case<ScaleOp>([](auto) { return qrt::ExpressionOp::Scale; })
      .Case<NegOp>([](auto) { return qrt::ExpressionOp::Neg; })
      .Case<ExpOp>([](auto) { return qrt::ExpressionOp::Exp; })
      .Case<SigmoidOp>([](auto) { return qrt::ExpressionOp::Sigmoid; })
      .Case<SiluOp>([](auto) { return qrt::ExpressionOp::Silu; })
      .Case<SoftplusOp>([](auto) { return qrt::ExpressionOp::Softplus; })
      .Default([](Operation *) { return Result(); });
}

LogicalResult PointwiseOp::verify() {
  if (getOutputs().empty())
    return emitOpError("expected at least one result");
  ArrayRef<int64_t> shape = shapeOf(getOutputs().front());
  for (Value output : getOutputs())
    if (shapeOf(output) != shape)
      return emitOpError("expected results of one shape, got ")
             << getOutputs().front().getType() << " and " << output.getType();
  for (Value input : getInputs()) {
    ArrayRef<int64_t> its = shapeOf(input);
    bool fits = its.size() <= shape.size();
    if (fits)
      for (auto [size, whole] : llvm::zip_equal(its, shape.take_back(its.size())))
        fits &= size == 1 || size == whole;
    if (!fits)
      return emitOpError("expected operands of the last dimensions of ")
             << getOutputs().front().getType() << ", or 1 in their place, got " << input.getType();
  }
  return success();
}

LogicalResult PointwiseOp::verifyRegions() {
  auto elements = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) -> Type {
      return RankedTensorType::get({}, cast<RankedTensorType>(type).getElementType());
    });
  };
  SmallVector<Type> arguments = elements(getInputs().getTypes()), yielded = elements(getOutputs().getTypes());
  Block &body = getBody().front();
  if (body.getArgumentTypes() != TypeRange(arguments))
    return emitOpError("expected a body of (") << arguments << "), got (" << body.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError("expected the body to end in qt.yield, got ") << body.getTerminator()->getName();
  if (yield->getOperandTypes() != TypeRange(yielded))
    return emitOpError("expected the body to yield (") << yielded << "), got (" << yield->getOperandTypes() << ")";
  for (Operation &op : body.without_terminator())
    if (!expressionOp(&op) && !isa<CastOp>(op))
      return op.emitOpError("expected an op that an expression has in the body of qt.pointwise");
  // Of how much it may be: as the kernel has it.
  qrt::Status status = qrt::checkExpression(*getExpression(), getNumOperands(), getNumResults());
  if (!status.ok())
    return emitOpError() << status.message();
  return success();
}

std::optional<qrt::Expression> PointwiseOp::getExpression() {
  Block &body = getBody().front();
  // A value that is used before it is computed has no number: 0 stands for it, until the verifier of dominance, which
  // comes after this op's, says so.
  DenseMap<Value, uint16_t> numbers;
  for (BlockArgument argument : body.getArguments())
    numbers[argument] = static_cast<uint16_t>(argument.getArgNumber());
  qrt::Expression expression;
  for (Operation &op : body.without_terminator()) {
    uint16_t first = numbers.lookup(op.getOperand(0));
    if (isa<CastOp>(op)) {
      numbers[op.getResult(0)] = first;
      continue;
    }
    qrt::ExpressionStep step{*expressionOp(&op), first};
    if (op.getNumOperands() == 2)
      step.b = numbers.lookup(op.getOperand(1));
    if (auto scale = dyn_cast<ScaleOp>(op))
      step.constant = scale.getFactor().convertToDouble();
    numbers[op.getResult(0)] = static_cast<uint16_t>(body.getNumArguments() + expression.steps.size());
    expression.steps.push_back(step);
  }
  for (Value value : body.getTerminator()->getOperands())
    expression.results.push_back(numbers.lookup(value));
  return expression;
}

} // namespace qt
