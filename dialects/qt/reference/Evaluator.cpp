// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/reference/Evaluator.h"

#include "dialects/qt/reference/Registry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qt::reference {

template <typename Scalar> const Registry<Scalar> &Registry<Scalar>::get() {
  static const Registry registry = [] {
    Registry all;
    registerTensorOps(all);
    registerModelOps(all);
    registerCompoundOps(all);
    registerGradOps(all);
    registerStateOps(all);
    return all;
  }();
  return registry;
}

bool hasReference(OperationName name) { return Registry<double>::get().find(name) != nullptr; }

//===----------------------------------------------------------------------===//
// Whether a value fits its type
//===----------------------------------------------------------------------===//

template <typename Scalar>
LogicalResult checkFits(const Datum<Scalar> &value, Type type, std::optional<int64_t> rows,
                        function_ref<InFlightDiagnostic()> emitError) {
  if (auto *docs = std::get_if<Segments>(&value)) {
    auto segments = dyn_cast<SegmentsType>(type);
    if (!segments)
      return emitError() << "expected " << type << ", got documents";
    if (docs->offsets.empty() || docs->offsets.front() != 0 || !llvm::is_sorted(docs->offsets) ||
        docs->used() > docs->tokens || !llvm::is_sorted(docs->trainedRows) ||
        (!docs->trainedRows.empty() && (docs->trainedRows.front() < 0 || docs->trainedRows.back() >= docs->used())))
      return emitError() << "expected offsets that ascend from 0 to at most " << docs->tokens
                         << " and trained rows inside them";
    if (!segments.isStatic())
      return success();
    if (docs->tokens != segments.getTokens() || docs->documents() > segments.getDocuments() ||
        docs->longest() > segments.getLongest() || docs->trained() > segments.getTrained())
      return emitError() << "expected documents of the bucket " << type << ", got " << docs->tokens << " tokens, "
                         << docs->documents() << " documents, the longest of " << docs->longest() << ", and "
                         << docs->trained() << " trained rows";
    return success();
  }
  auto *integers = std::get_if<IntTensor>(&value);
  ArrayRef<int64_t> shape = integers ? integers->shape() : std::get<Tensor<Scalar>>(value).shape();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || isa<IntegerType>(tensor.getElementType()) != (integers != nullptr))
    return emitError() << "expected " << type << ", got a tensor of " << (integers ? "integers" : "numbers");
  bool fits = tensor.getRank() == static_cast<int64_t>(shape.size());
  for (int64_t i = 0; fits && i < tensor.getRank(); ++i)
    fits = tensor.isDynamicDim(i) ? !rows || shape[i] == *rows : shape[i] == tensor.getDimSize(i);
  if (!fits) {
    InFlightDiagnostic diagnostic = emitError() << "expected " << type;
    if (rows && !tensor.hasStaticShape())
      diagnostic << " of " << *rows << " rows";
    return diagnostic << ", got a tensor of shape " << shape;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops and blocks
//===----------------------------------------------------------------------===//

/// What a value has where its type has a dynamic extent; of documents, their tokens.
template <typename Scalar> static std::optional<int64_t> dynamicExtent(const Datum<Scalar> &value, Type type) {
  if (auto *docs = std::get_if<Segments>(&value))
    return docs->tokens;
  auto shape = cast<RankedTensorType>(type).getShape();
  auto *integers = std::get_if<IntTensor>(&value);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (ShapedType::isDynamic(shape[axis]))
      return integers ? integers->dim(axis) : std::get<Tensor<Scalar>>(value).dim(axis);
  return std::nullopt;
}

template <typename Scalar> LogicalResult evaluateIn(Operation *op, Frame<Scalar> &frame) {
  const EvaluateFn<Scalar> *function = Registry<Scalar>::get().find(op->getName());
  if (!function)
    return op->emitOpError() << "has no reference";
  // The dynamic extents of an op are one number, that of the tokens where it sees the documents; but gathering makes
  // trained rows of tokens, and a barrier has nothing to do with what it waits for.
  bool oneExtent = !isa<GatherRowsOp, ScatterRowsOp, BarrierOp>(op);
  std::optional<int64_t> rows;
  for (OpOperand &operand : op->getOpOperands()) {
    const Datum<Scalar> *value = frame.find(operand.get());
    auto emitError = [&] { return op->emitOpError() << "operand " << operand.getOperandNumber() << ": "; };
    if (!value)
      return emitError() << "no value was given for it";
    if (failed(checkFits(*value, operand.get().getType(), rows, emitError)))
      return failure();
    if (oneExtent && !rows)
      rows = dynamicExtent(*value, operand.get().getType());
  }
  if (failed((*function)(op, frame)))
    return failure();
  for (OpResult result : op->getResults()) {
    auto emitError = [&] { return op->emitOpError() << "result " << result.getResultNumber() << ": "; };
    if (failed(checkFits(frame.datum(result), result.getType(), rows, emitError)))
      return failure();
  }
  return success();
}

/// The values of a block that no op after the given one reads, by that op.
static DenseMap<Operation *, SmallVector<Value>> lastUses(Block &block) {
  DenseMap<Operation *, SmallVector<Value>> dead;
  DenseSet<Value> seen;
  for (Operation &op : llvm::reverse(block)) {
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block && seen.insert(operand).second)
          dead[&op].push_back(operand);
    });
    for (Value result : op.getResults())
      if (!seen.contains(result))
        dead[&op].push_back(result);
  }
  return dead;
}

template <typename Scalar> LogicalResult evaluateOps(Block &block, Frame<Scalar> &frame, bool dropDead) {
  DenseMap<Operation *, SmallVector<Value>> dead;
  if (dropDead)
    dead = lastUses(block);
  for (Operation &op : block.without_terminator()) {
    if (failed(evaluateIn(&op, frame)))
      return failure();
    if (dropDead)
      for (Value value : dead.lookup(&op))
        frame.drop(value);
  }
  return success();
}

/// T, if there are documents among the values.
template <typename Scalar> static std::optional<int64_t> tokensOf(const ValueMap<Scalar> &values) {
  for (auto &[value, datum] : values)
    if (auto *docs = std::get_if<Segments>(&datum))
      return docs->tokens;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

template <typename Scalar> LogicalResult evaluateOp(Operation *op, ValueMap<Scalar> &values) {
  Frame<Scalar> frame(values, tokensOf(values), nullptr);
  return evaluateIn(op, frame);
}

template <typename Scalar> FailureOr<Datum<Scalar>> evaluateValue(Value value, ValueMap<Scalar> &values) {
  auto known = values.find(value);
  if (known != values.end())
    return known->second;
  if (!value.getDefiningOp())
    return emitError(value.getLoc()) << "no value was given for a block argument of type " << value.getType();
  Frame<Scalar> frame(values, tokensOf(values), nullptr);
  // Operands before the ops that read them, without recursion: models are deep.
  Block *block = value.getParentBlock();
  SmallVector<std::pair<Operation *, bool>> work{{value.getDefiningOp(), false}};
  DenseSet<Operation *> done;
  while (!work.empty()) {
    auto [op, ready] = work.pop_back_val();
    if (done.contains(op))
      continue;
    if (ready) {
      if (failed(evaluateIn(op, frame)))
        return failure();
      done.insert(op);
      continue;
    }
    work.push_back({op, true});
    op->walk([&, op = op](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (producer && producer->getBlock() == block && !values.contains(operand) && !op->isAncestor(producer))
          work.push_back({producer, false});
      }
    });
  }
  return values.at(value);
}

template <typename Scalar> FailureOr<std::vector<Datum<Scalar>>> evaluateBlock(Block &block, ValueMap<Scalar> &values) {
  Frame<Scalar> frame(values, tokensOf(values), nullptr);
  if (failed(evaluateOps(block, frame, /*dropDead=*/false)))
    return failure();
  std::vector<Datum<Scalar>> results;
  for (Value operand : block.getTerminator()->getOperands()) {
    const Datum<Scalar> *value = frame.find(operand);
    if (!value)
      return block.getTerminator()->emitOpError() << "no value was given for an operand";
    results.push_back(*value);
  }
  return results;
}

template <typename Scalar>
FailureOr<Outputs<Scalar>> evaluateFunction(ModuleOp module, StringRef name, const Inputs<Scalar> &inputs) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return module.emitError() << "has no function @" << name;
  if (function.getNumArguments() != inputs.arguments.size())
    return function.emitOpError() << "expected " << function.getNumArguments() << " arguments, got "
                                  << inputs.arguments.size();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "expected one block";

  std::optional<int64_t> tokens;
  for (const Datum<Scalar> &argument : inputs.arguments)
    if (auto *docs = std::get_if<Segments>(&argument)) {
      if (tokens && *tokens != docs->tokens)
        return function.emitOpError() << "expected segments of as many tokens, got " << *tokens << " and "
                                      << docs->tokens;
      tokens = docs->tokens;
    }
  ValueMap<Scalar> values;
  for (BlockArgument argument : function.getArguments()) {
    const Datum<Scalar> &value = inputs.arguments[argument.getArgNumber()];
    auto emitError = [&] { return function.emitOpError() << "argument " << argument.getArgNumber() << ": "; };
    if (failed(checkFits(value, argument.getType(), tokens, emitError)))
      return failure();
    values[argument] = value;
  }

  Environment<Scalar> environment{module, inputs.symbols, {}, {}, {}, {}};
  Frame<Scalar> frame(values, tokens, &environment);
  Block &body = function.getBody().front();
  if (failed(evaluateOps(body, frame, /*dropDead=*/true)))
    return failure();
  Outputs<Scalar> outputs;
  for (Value operand : body.getTerminator()->getOperands())
    outputs.results.push_back(frame.datum(operand));
  outputs.symbols = inputs.symbols;
  for (auto &[symbol, value] : environment.updates)
    outputs.symbols[symbol] = std::move(value);
  outputs.hidden = std::move(environment.hidden);
  outputs.gradients = std::move(environment.gradients);
  outputs.hiddenGradients = std::move(environment.hiddenGradients);
  return outputs;
}

#define QT_INSTANTIATE(Scalar)                                                                                         \
  template class Registry<Scalar>;                                                                                     \
  template LogicalResult checkFits(const Datum<Scalar> &, Type, std::optional<int64_t>,                                \
                                   function_ref<InFlightDiagnostic()>);                                                \
  template LogicalResult evaluateIn(Operation *, Frame<Scalar> &);                                                     \
  template LogicalResult evaluateOps(Block &, Frame<Scalar> &, bool);                                                  \
  template LogicalResult evaluateOp(Operation *, ValueMap<Scalar> &);                                                  \
  template FailureOr<Datum<Scalar>> evaluateValue(Value, ValueMap<Scalar> &);                                          \
  template FailureOr<std::vector<Datum<Scalar>>> evaluateBlock(Block &, ValueMap<Scalar> &);                           \
  template FailureOr<Outputs<Scalar>> evaluateFunction(ModuleOp, StringRef, const Inputs<Scalar> &);
QT_INSTANTIATE(double)
QT_INSTANTIATE(Dual)

} // namespace qt::reference
