// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/Accumulation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace qt {

SmallVector<OpResult> accumulatingResults(Operation *op) {
  if (auto product = dyn_cast<LinearWeightGradOp>(op))
    return {cast<OpResult>(product.getDweight())};
  SmallVector<OpResult> results;
  auto kernelOp = dyn_cast<KernelBackedOpInterface>(op);
  if (!kernelOp)
    return results;
  for (auto [info, argument] : llvm::zip(qrt::kernelInfo(kernelOp.getKernel()).args, kernelArguments(kernelOp)))
    if (qrt::isAccumulate(info.effect) && argument.write)
      results.push_back(cast<OpResult>(argument.write));
  return results;
}

MutableOperandRange intoOperands(Operation *op) {
  return TypeSwitch<Operation *, MutableOperandRange>(op)
      .Case<EmbeddingGradOp, LinearWeightGradOp, RmsNormGradOp, AddRmsNormGradOp, GatedDeltaInputsGradOp,
            GatedRmsNormGradOp, QkNormRopeGradOp, LinearCrossEntropyGradOp>(
          [](auto grad) { return grad.getIntoMutable(); });
}

} // namespace qt
