// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes that look for a subgraph say about it, as remarks: what became what, and what did not and why.
#ifndef COMPILER_REPORT_H
#define COMPILER_REPORT_H

#include "mlir/IR/Operation.h"

namespace qcc {

/// Categories of the remarks.
inline constexpr llvm::StringLiteral kRaiseRemarks = "raise", kFormRemarks = "form";

/// Arguments of the remarks, beside `Reason` of what is missed or added.
inline constexpr llvm::StringLiteral kScopeArgument = "Scope"; ///< text: the scope of the op
inline constexpr llvm::StringLiteral kMadeOfArgument = "Of";   ///< array of text: the ops it was made of, in order
inline constexpr llvm::StringLiteral kPackArgument = "Pack";   ///< array of text: the members of a new pack

/// A passed remark: `compound` came to be in the place of the ops that compute `replaced`. What it was made of is what
/// these values need and the compound's operands do not, and readers of them that nothing reads any more; ops of
/// regions are listed after the op that they are in. To be called when the values are replaced, before dead ops go.
/// `members` are the parameters of a pack that was made for it.
void reportFormed(mlir::Operation *compound, llvm::ArrayRef<mlir::Value> replaced,
                  llvm::StringRef category = kFormRemarks, llvm::ArrayRef<llvm::StringRef> members = {});

/// A passed remark: `op` was added, which the model does not have, and why.
void reportAdded(mlir::Operation *op, llvm::StringRef why);

/// A missed remark at `anchor`, the op that promised a compound: it is not formed, and why. It is noted on the op, too
/// (qt.missed), for the warning about what is left over.
void reportMissed(mlir::Operation *anchor, llvm::StringRef compound, llvm::StringRef why);

} // namespace qcc

#endif // COMPILER_REPORT_H
