// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/Residuals.h"

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
  return builder.create(state);
}

} // namespace qt
