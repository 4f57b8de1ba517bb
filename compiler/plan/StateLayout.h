// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where weights, masters, moments, counters and accumulated gradients lie. It follows from the module's table of
// parameters and states alone, so all programs of a model agree on it, whatever their buckets.
#ifndef COMPILER_PLAN_STATELAYOUT_H
#define COMPILER_PLAN_STATELAYOUT_H

#include "dialects/step/Step.h"

#include "llvm/ADT/MapVector.h"

namespace qcc {

struct StateLayout {
  struct Place {
    step::Space space = step::Space::State;
    int64_t offset = 0; // bytes
    mlir::MemRefType type;
  };
  /// A member of a pack lies in it.
  struct Member {
    mlir::StringAttr pack;
    int64_t offset = 0; // elements
  };

  /// Parameters outside packs, packs and states: weights first, then masters, moments and counters, each class in the
  /// order of the module; gradients in their own space.
  llvm::MapVector<mlir::StringAttr, Place> places;
  llvm::DenseMap<mlir::StringAttr, Member> members;
  int64_t stateBytes = 0;
  int64_t gradientBytes = 0;

  /// The symbol whose place holds `symbol`: the pack of a member, or itself.
  mlir::StringAttr owner(mlir::StringAttr symbol) const {
    auto member = members.find(symbol);
    return member == members.end() ? symbol : member->second.pack;
  }
};

StateLayout layoutState(mlir::ModuleOp module);

} // namespace qcc

#endif // COMPILER_PLAN_STATELAYOUT_H
