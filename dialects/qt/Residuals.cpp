// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/Residuals.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace qt {

unsigned numPrimals(Operation *op) {
  if (!isa<ResidualOpInterface>(op))
    return op->getNumResults();
  return llvm::count_if(qrt::kernelInfo(cast<KernelBackedOpInterface>(op).getKernel()).args,
                        [](const qrt::ArgInfo &arg) { return arg.effect == qrt::ArgEffect::Write; });
}

Operation *cloneWithResults(OpBuilder &builder, Operation *op, ValueRange operands, TypeRange resultTypes) {
  NamedAttrList attributes(op->getAttrDictionary());
  if (auto segments = op->getAttrOfType<DenseI32ArrayAttr>("resultSegmentSizes")) {
    // No group of results has more than one.
    SmallVector<int32_t> sizes(segments.size(), 0);
    std::fill_n(sizes.begin(), resultTypes.size(), 1);
    attributes.set("resultSegmentSizes", DenseI32ArrayAttr::get(op->getContext(), sizes));
  }
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes, attributes.getAttrs());
  IRMapping mapping;
  for (Region &region : op->getRegions())
    region.cloneInto(state.addRegion(), mapping);
  return builder.create(state);
}

static void replace(Operation *op, Operation *replacement) {
  for (auto [result, other] : llvm::zip(op->getResults(), replacement->getResults()))
    result.replaceAllUsesWith(other);
  op->erase();
}

Operation *replaceWithoutOperand(Operation *op, unsigned operand) {
  NamedAttrList attributes(op->getAttrDictionary());
  if (auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes")) {
    SmallVector<int32_t> sizes(segments.asArrayRef());
    int64_t end = 0;
    auto group = llvm::find_if(sizes, [&](int32_t size) { return (end += size) > operand; });
    --*group;
    attributes.set("operandSegmentSizes", DenseI32ArrayAttr::get(op->getContext(), sizes));
  }
  SmallVector<Value> operands(op->getOperands());
  operands.erase(operands.begin() + operand);
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName(), operands, op->getResultTypes(), attributes.getAttrs());
  Operation *replacement = builder.create(state);
  replace(op, replacement);
  return replacement;
}

Operation *dropUnusedResiduals(Operation *op) {
  unsigned count = op->getNumResults();
  while (count > numPrimals(op) && op->getResult(count - 1).use_empty())
    --count;
  if (count == op->getNumResults())
    return op;
  OpBuilder builder(op);
  Operation *replacement =
      cloneWithResults(builder, op, op->getOperands(), TypeRange(op->getResultTypes()).take_front(count));
  replace(op, replacement);
  return replacement;
}

} // namespace qt
