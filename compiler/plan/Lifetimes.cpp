// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/Lifetimes.h"

using namespace mlir;

namespace qcc {

llvm::MapVector<Value, Lifetime> lifetimesOf(step::EntryOp entry) {
  llvm::MapVector<Value, Lifetime> lifetimes;
  int64_t index = -1;
  for (Operation &op : *entry.getBody()) {
    bool instruction = isa<step::InstructionOpInterface>(op);
    index += instruction;
    if (instruction || isa<step::WatchOp>(op))
      for (Value operand : op.getOperands())
        lifetimes.try_emplace(step::viewOf(operand).buffer, Lifetime{index, index}).first->second.last = index;
  }
  return lifetimes;
}

} // namespace qcc
