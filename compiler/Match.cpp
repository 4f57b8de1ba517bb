// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Match.h"

#include "llvm/ADT/STLExtras.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace qcc {

Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<qt::CastOp>())
    value = cast.getX();
  return value;
}

SmallVector<Operation *> readersOf(Value value) {
  SmallVector<Operation *> readers;
  for (Operation *user : value.getUsers())
    if (!isa<qt::WatchOp>(user) && !llvm::is_contained(readers, user))
      readers.push_back(user);
  // Users are listed last first, and replacing values shuffles them.
  llvm::sort(readers, [](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() && a != b && a->isBeforeInBlock(b);
  });
  return readers;
}

std::string describe(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->getName().getStringRef().str();
  return "argument " + std::to_string(cast<BlockArgument>(value).getArgNumber());
}

void eraseDeadOps(Block &block) {
  // Users come after what they use, so that going backwards finds whole chains.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void eraseDeadOps(ModuleOp module) {
  module.walk([](FunctionOpInterface func) {
    for (Block &block : func.getFunctionBody())
      eraseDeadOps(block);
  });
}

} // namespace qcc
