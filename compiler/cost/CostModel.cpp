// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/CostModel.h"

using namespace mlir;

namespace qcc {

double CostModel::seconds(const EntryPlan &plan, const PlannedInstruction &instruction) const {
  auto shape = [&](int access) { return shapeOf(plan, *instruction.accesses[access].view); };
  switch (instruction.kind) {
  case InstructionKind::Kernel: {
    KernelCall call = callOf(plan, instruction);
    return qrt::predictedSeconds(
        rates_, call.kernel, qrt::storageType(call.shapes),
        qrt::launchCost(call.kernel, call.shapes, call.effects, call.params, call.bucket, call.expressionOrNull()));
  }
  case InstructionKind::Gemm: {
    auto [transposeA, transposeB] = transposed(instruction.op);
    bool accumulates = instruction.accesses[0].effect == step::Effect::InOut;
    return qrt::predictedProductSeconds(rates_, qrt::productForm(transposeA, transposeB), shape(1).dtype,
                                        qrt::productCost(shape(1), shape(2), shape(0), transposeA, accumulates));
  }
  case InstructionKind::Copy:
    return qrt::predictedCopySeconds(rates_, qrt::copyCost(shape(0)));
  case InstructionKind::Fill:
    return qrt::predictedCopySeconds(rates_, qrt::fillCost(shape(0)));
  }
  llvm_unreachable("an instruction of no kind");
}

} // namespace qcc
