// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/buckets/Extents.h"

#include "dialects/qt/Qt.h"

using namespace mlir;

namespace qcc {

static bool isDynamic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.hasStaticShape();
}

namespace {

class ExtentInference {
public:
  explicit ExtentInference(func::FuncOp function) : block_(function.getBody().front()) {}

  FailureOr<ExtentMap> run() {
    for (Value argument : block_.getArguments())
      if (isDynamic(argument))
        extents_[argument] = Extent::Tokens;
    do {
      changed_ = false;
      for (Operation &op : block_)
        propagate(&op);
    } while (changed_);
    // Values that nothing with rows reads or gives.
    for (Operation &op : block_)
      for (Value result : op.getResults())
        if (isDynamic(result))
          extents_.try_emplace(result, Extent::Tokens);
    for (Operation &op : block_)
      if (failed(check(&op)))
        return failure();
    return std::move(extents_);
  }

private:
  /// The values of an op that have the same extent, which `extent` names if it is known.
  static SmallVector<Value> linked(Operation *op) {
    SmallVector<Value> values;
    if (isa<qt::GatherRowsOp, qt::ScatterRowsOp, func::ReturnOp>(op))
      return values;
    if (auto barrier = dyn_cast<qt::BarrierOp>(op))
      return {barrier.getX(), barrier.getResult()};
    for (ValueRange range : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      llvm::copy_if(range, std::back_inserter(values), isDynamic);
    return values;
  }

  void set(Value value, Extent extent) {
    if (isDynamic(value))
      changed_ |= extents_.try_emplace(value, extent).second;
  }

  void propagate(Operation *op) {
    if (auto gather = dyn_cast<qt::GatherRowsOp>(op)) {
      set(gather.getX(), Extent::Tokens);
      set(gather.getOut(), Extent::Trained);
    } else if (auto scatter = dyn_cast<qt::ScatterRowsOp>(op)) {
      set(scatter.getDout(), Extent::Trained);
      set(scatter.getDx(), Extent::Tokens);
    }
    SmallVector<Value> values = linked(op);
    for (Value value : values)
      if (auto known = extents_.find(value); known != extents_.end()) {
        Extent extent = known->second;
        for (Value other : values)
          set(other, extent);
        return;
      }
  }

  LogicalResult check(Operation *op) {
    auto has = [&](Value value, Extent extent) { return !isDynamic(value) || extents_.at(value) == extent; };
    auto gather = dyn_cast<qt::GatherRowsOp>(op);
    if (gather && !has(gather.getX(), Extent::Tokens))
      return op->emitOpError("expected x to have a row per token, got trained rows");
    auto scatter = dyn_cast<qt::ScatterRowsOp>(op);
    if (scatter && !has(scatter.getDout(), Extent::Trained))
      return op->emitOpError("expected dout to have the trained rows, got a row per token");
    SmallVector<Value> values = linked(op);
    for (Value value : values)
      if (!has(value, extents_.at(values.front())))
        return op->emitOpError("expected either tokens or trained rows, got both");
    return success();
  }

  Block &block_;
  ExtentMap extents_;
  bool changed_ = false;
};

} // namespace

FailureOr<ExtentMap> inferExtents(func::FuncOp function) { return ExtentInference(function).run(); }

Type withExtent(Type type, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  for (int64_t &dim : shape)
    if (ShapedType::isDynamic(dim))
      dim = size;
  return RankedTensorType::get(shape, tensor.getElementType());
}

} // namespace qcc
