// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From when to when each buffer of a step program is in use.
#ifndef COMPILER_PLAN_LIFETIMES_H
#define COMPILER_PLAN_LIFETIMES_H

#include "dialects/step/Step.h"

#include "llvm/ADT/MapVector.h"

namespace qcc {

/// The first and the last instruction that use a buffer; instructions count from 0 in the order of the program. A watch
/// belongs to the instruction before it.
struct Lifetime {
  int64_t first;
  int64_t last;
};

/// Of each buffer that is used at all, in the order of first use.
llvm::MapVector<mlir::Value, Lifetime> lifetimesOf(step::EntryOp entry);

} // namespace qcc

#endif // COMPILER_PLAN_LIFETIMES_H
