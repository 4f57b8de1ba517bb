// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointwise ops that no compound took are no error, since clusters compute them; but nobody should find out by the
// clock. A warning for each group of them that belongs together: ops of one layer that read each other's results.
#include "compiler/ExplainText.h"
#include "compiler/Kernels.h"
#include "compiler/Passes.h"
#include "compiler/Scope.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_WARNLEFTOVER
#include "compiler/Passes.h.inc"

namespace {

/// What a group's ops read from outside and what others read of them, if one kernel computes the group.
struct Traffic {
  int64_t bytesPerToken = 0;
  /// Of tensors without a token dimension.
  int64_t otherBytes = 0;

  bool operator==(const Traffic &) const = default;
};

/// Pointwise ops of one layer, in the order of the program, and what was missed at them or beside them.
struct Group {
  SmallVector<Operation *> ops;
  SmallVector<Operation *> missedAt;
  Traffic traffic;

  StringRef scope() const { return mergeScopes(ops); }
};

Traffic trafficOf(ArrayRef<Operation *> ops) {
  llvm::SmallSetVector<Value, 8> values;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      auto broadcast = operand.getDefiningOp<qt::BroadcastOp>();
      Value read = broadcast ? broadcast.getX() : operand;
      if (!llvm::is_contained(ops, read.getDefiningOp()))
        values.insert(read);
    }
    for (Operation *reader : op->getUsers())
      if (!isa<qt::WatchOp>(reader) && !llvm::is_contained(ops, reader))
        values.insert(op->getResult(0));
  }
  Traffic traffic;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.hasStaticShape()) {
      traffic.otherBytes += qt::tensorBytes(type);
      continue;
    }
    auto row =
        llvm::map_to_vector(type.getShape(), [](int64_t size) { return ShapedType::isDynamic(size) ? 1 : size; });
    traffic.bytesPerToken += qt::tensorBytes(RankedTensorType::get(row, type.getElementType()));
  }
  return traffic;
}

/// The pointwise ops whose results an op reads, or which read its results; views in between count as nothing.
SmallVector<Operation *> pointwiseBeside(Operation *op) {
  SmallVector<Operation *> found;
  auto isBetween = [](Operation *other) { return isa<qt::BroadcastOp>(other) || isa<qt::ViewOpInterface>(other); };
  SmallVector<Operation *> open{op};
  while (!open.empty())
    for (Value operand : open.pop_back_val()->getOperands())
      if (Operation *source = operand.getDefiningOp()) {
        if (isPointwise(source))
          found.push_back(source);
        else if (isBetween(source))
          open.push_back(source);
      }
  open.push_back(op);
  while (!open.empty())
    for (Operation *reader : open.pop_back_val()->getUsers()) {
      if (isPointwise(reader))
        found.push_back(reader);
      else if (isBetween(reader))
        open.push_back(reader);
    }
  return found;
}

/// The groups of a function, in the order of their first ops.
SmallVector<Group> groupsOf(func::FuncOp function) {
  Block &block = function.getBody().front();
  llvm::EquivalenceClasses<Operation *> together;
  for (Operation &op : block)
    if (isPointwise(&op)) {
      together.insert(&op);
      for (Operation *other : pointwiseBeside(&op))
        if (splitScope(scopeOf(other)).unit == splitScope(scopeOf(&op)).unit)
          together.unionSets(&op, other);
    }
  llvm::MapVector<Operation *, Group> groups; // by leaders
  for (Operation &op : block)
    if (isPointwise(&op))
      groups[together.getLeaderValue(&op)].ops.push_back(&op);
  for (Operation &op : block)
    if (op.hasAttr(qt::kMissedAttr)) {
      llvm::SmallSetVector<Operation *, 2> leaders;
      for (Operation *other : isPointwise(&op) ? SmallVector<Operation *>{&op} : pointwiseBeside(&op))
        leaders.insert(together.getLeaderValue(other));
      for (Operation *leader : leaders)
        groups[leader].missedAt.push_back(&op);
    }
  return llvm::map_to_vector(groups.takeVector(), [](auto &entry) {
    entry.second.traffic = trafficOf(entry.second.ops);
    return std::move(entry.second);
  });
}

/// Whether two groups are the same in two layers of a series: one warning says all of both.
bool isSameElsewhere(const Group &a, const Group &b) {
  ScopeParts at = splitScope(a.scope()), bt = splitScope(b.scope());
  auto name = [](Operation *op) { return op->getName(); };
  auto missed = [](Operation *op) { return op->getAttr(qt::kMissedAttr); };
  return at.number && bt.number && at.number != bt.number && at.series == bt.series && at.place == bt.place &&
         llvm::equal(llvm::map_range(a.ops, name), llvm::map_range(b.ops, name)) &&
         llvm::equal(llvm::map_range(a.missedAt, missed), llvm::map_range(b.missedAt, missed)) &&
         a.traffic == b.traffic;
}

void warn(func::FuncOp function, const Group &group, size_t layersMore) {
  auto name = [](Operation *op) { return op->getName().getStringRef(); };
  InFlightDiagnostic warning = group.ops.front()->emitWarning();
  warning << "no compound takes " << countNames(llvm::map_to_vector(group.ops, name)) << " in scope '" << group.scope()
          << "' of @" << function.getName();
  if (layersMore)
    warning << ", nor in " << layersMore << " more of '" << splitScope(group.scope()).series << "'";
  warning << ": computed by themselves, they read and write at least " << group.traffic.bytesPerToken
          << " bytes a token";
  if (group.traffic.otherBytes)
    warning << " and " << group.traffic.otherBytes << " bytes besides";
  for (Operation *anchor : group.missedAt)
    for (NamedAttribute missed : anchor->getAttrOfType<DictionaryAttr>(qt::kMissedAttr))
      warning.attachNote(anchor->getLoc())
          << "missed " << missed.getName().getValue() << ": " << cast<StringAttr>(missed.getValue()).getValue();
}

struct WarnLeftOver : impl::WarnLeftOverBase<WarnLeftOver> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Group> groups = groupsOf(function);
      std::vector<bool> isSaid(groups.size());
      for (size_t i = 0; i < groups.size(); ++i) {
        if (isSaid[i])
          continue;
        // One of each further layer: a layer that has two of them has two warnings.
        std::set<unsigned> layers;
        for (size_t j = i + 1; j < groups.size(); ++j)
          if (!isSaid[j] && isSameElsewhere(groups[i], groups[j]))
            isSaid[j] = layers.insert(*splitScope(groups[j].scope()).number).second;
        warn(function, groups[i], layers.size());
      }
      function.walk([](Operation *op) { op->removeAttr(qt::kMissedAttr); });
    }
  }
};

} // namespace
} // namespace qcc
