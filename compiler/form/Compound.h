// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What forming passes share: putting a compound where all it needs is known and nothing reads too early.
#ifndef COMPILER_FORM_COMPOUND_H
#define COMPILER_FORM_COMPOUND_H

#include "compiler/Match.h"
#include "compiler/Report.h"
#include "compiler/Scope.h"

#include "mlir/IR/Builders.h"

#include <string>

namespace qcc {

/// Why a compound was not formed: "expected ...; got ...".
using Why = std::string;

/// A builder at a place where `operands` are known, ahead of every reader of the `replaced` values, all in one block.
/// Parameter reads among the operands are moved up, watches of replaced values are moved down. Fails where there is no
/// such place.
mlir::FailureOr<mlir::OpBuilder> placeFor(llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Value> replaced,
                                          Why &why);

/// `value` itself if it has element type `element`, or the one cast to it that is all that reads the value; null
/// otherwise.
mlir::Value roundedTo(mlir::Type element, mlir::Value value);

/// Forms a compound at every op of a kind for which `isMeant` holds, all found before the first is formed, and reports
/// why one was missed. `form` replaces what the op gives; what nothing reads any more is erased at the end.
template <typename Op>
void formAtEach(mlir::ModuleOp module, llvm::StringRef compound, llvm::function_ref<bool(Op)> isMeant,
                llvm::function_ref<mlir::LogicalResult(Op, Why &)> form) {
  llvm::SmallVector<Op> ops;
  module.walk([&](Op op) {
    if (isMeant(op))
      ops.push_back(op);
  });
  for (Op op : ops) {
    Why why;
    if (mlir::failed(form(op, why)))
      reportMissed(op, compound, why);
  }
  eraseDeadOps(module);
}

/// The other factor of a product, casts aside, if `factor` is one of the two; null otherwise.
mlir::Value otherFactor(qt::MulOp mul, mlir::Value factor);

} // namespace qcc

#endif // COMPILER_FORM_COMPOUND_H
