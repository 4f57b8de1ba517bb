// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/raise/CheckRaised.h"

#include "dialects/qt/TypeChecks.h"
#include "dialects/qt/reference/RandomInputs.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using qt::reference::Datum;
using qt::reference::Segments;
using qt::reference::Tensor;

namespace qcc {
namespace {

/// Both sides are the same sums of f64 products in another order.
constexpr double kTolerance = 1e-9;

/// A few documents, one of them empty, and a tail.
const Segments &someDocuments() {
  static const Segments documents = Segments::ofLengths({3, 0, 1, 2}, /*tail=*/1);
  return documents;
}

SmallVector<int64_t> shapeOf(Value value) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  llvm::replace(shape, ShapedType::kDynamic, someDocuments().tokens);
  return shape;
}

/// Writes down how a value is computed from the inputs: two values of the same text are the same function of them.
class Recipe {
public:
  explicit Recipe(ArrayRef<Value> inputs) : stream_(text_) {
    for (Value input : inputs)
      number(input);
  }
  void add(Value value) {
    if (numbers_.contains(value))
      return;
    if (Operation *op = value.getDefiningOp())
      add(*op);
    else
      number(value);
  }
  std::string take() { return std::move(text_); }

private:
  void number(Value value) {
    int id = static_cast<int>(numbers_.size());
    numbers_.try_emplace(value, id);
    stream_ << '%' << id << ':' << value.getType() << ' ';
  }
  void add(Operation &op) {
    for (Value operand : op.getOperands())
      add(operand);
    for (Value result : op.getResults())
      number(result);
    stream_ << op.getName() << '(';
    for (Value operand : op.getOperands())
      stream_ << '%' << numbers_.lookup(operand) << ' ';
    NamedAttrList attributes(op.getAttrDictionary());
    attributes.erase(qt::kScopeAttr);
    stream_ << ')' << attributes.getDictionary(op.getContext());
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        for (Value argument : block.getArguments())
          number(argument);
        for (Operation &inner : block)
          add(inner);
      }
    stream_ << '\n';
  }

  llvm::DenseMap<Value, int> numbers_;
  std::string text_;
  llvm::raw_string_ostream stream_;
};

} // namespace

LogicalResult RaisedCheck::operator()(Operation *at, Value before, Value after, Value docs, ArrayRef<Value> inputs) {
  SmallVector<Value> given(inputs);
  given.push_back(docs);
  Recipe recipe(given);
  recipe.add(before);
  recipe.add(after);
  std::string text = recipe.take();
  if (passed_.contains(text))
    return success();

  qt::reference::Random random(1);
  qt::reference::ValueMap<double> values;
  values[docs] = someDocuments();
  for (Value input : inputs)
    if (!values.contains(input))
      values[input] = qt::reference::randomNormal(shapeOf(input), random);
  FailureOr<Datum<double>> expected = qt::reference::evaluateValue<double>(before, values);
  if (failed(expected))
    return failure();
  FailureOr<Datum<double>> actual = qt::reference::evaluateValue<double>(after, values);
  if (failed(actual))
    return failure();
  double difference =
      qt::reference::relativeDifference(std::get<Tensor<double>>(*actual), std::get<Tensor<double>>(*expected));
  if (!(difference <= kTolerance))
    return at->emitError()
           << "expected the raised op to give the same numbers on random rows, up to a relative difference of "
           << qt::printNumber(kTolerance) << "; got "
           << (std::isfinite(difference) ? qt::printNumber(difference) : "numbers that are not finite");
  passed_.insert(text);
  return success();
}

} // namespace qcc
