// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof beside the pattern: what is replaced and what replaces it give the same numbers on random rows.
#ifndef COMPILER_RAISE_CHECKRAISED_H
#define COMPILER_RAISE_CHECKRAISED_H

#include "dialects/qt/Qt.h"

#include "llvm/ADT/StringSet.h"

#include <string>

namespace qcc {

/// Evaluates values before and after raising with the reference evaluator. A computation that was checked once (the
/// next layer's, say) is not evaluated again.
class RaisedCheck {
public:
  /// Gives `inputs` random rows of a few short documents `docs` and compares `before` with `after`, both computed from
  /// them in one block. A difference is an error at `at`.
  mlir::LogicalResult operator()(mlir::Operation *at, mlir::Value before, mlir::Value after, mlir::Value docs,
                                 llvm::ArrayRef<mlir::Value> inputs);

private:
  llvm::StringSet<> passed_;
};

} // namespace qcc

#endif // COMPILER_RAISE_CHECKRAISED_H
