// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compounds leave of pointwise ops is gathered into clusters, each one pass over memory. A cluster grows around an
// op, the last one first, through operands, readers, and other readers of an operand, as long as it can stand in one
// place of the program: behind all that it reads, before all that reads it.
//
// A value that a cluster reads and that pointwise ops compute (one of the forward pass, say) is computed again in the
// cluster where that makes it read no more: from what it reads anyway, or, if the value then need not be in memory at
// all, from as few bytes.
#include "compiler/Kernels.h"
#include "compiler/Passes.h"
#include "compiler/Report.h"
#include "compiler/Scope.h"
#include "dialects/qt/Entries.h"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_CLUSTERPOINTWISE
#include "compiler/Passes.h.inc"

namespace {

using OpSet = llvm::SmallSetVector<Operation *, 16>;
using ValueSet = llvm::SmallSetVector<Value, 8>;

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The pointwise op of this shape that gives `value`, null if it is another's.
Operation *pointwiseSource(Value value, ArrayRef<int64_t> shape) {
  Operation *op = value.getDefiningOp();
  return op && isPointwise(op) && shapeOf(value) == shape ? op : nullptr;
}

/// What a cluster reads for an operand, which has its shape or the last dimensions of that: what is repeated to give
/// it, if it is.
Value readFor(Value operand) {
  auto broadcast = operand.getDefiningOp<qt::BroadcastOp>();
  return broadcast ? broadcast.getX() : operand;
}

/// Ops that may become one: those that go (`members`) and those that it computes again beside them.
struct Cluster {
  OpSet members, again;

  bool computes(Operation *op) const { return members.contains(op) || again.contains(op); }
  ArrayRef<int64_t> shape() const { return shapeOf(members.front()->getResult(0)); }
  size_t steps() const {
    auto isStep = [](Operation *op) { return !isa<qt::CastOp>(op); };
    return llvm::count_if(members, isStep) + llvm::count_if(again, isStep);
  }
};

/// What computes a cluster, in the order of the program.
SmallVector<Operation *> opsInOrder(const Cluster &cluster) {
  SmallVector<Operation *> ops(cluster.members.begin(), cluster.members.end());
  ops.append(cluster.again.begin(), cluster.again.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); });
  return ops;
}

/// The operands that it takes from outside, in the order in which it needs them.
ValueSet inputsOf(const Cluster &cluster) {
  ValueSet inputs;
  for (Operation *op : opsInOrder(cluster))
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); !source || !cluster.computes(source))
        inputs.insert(operand);
  return inputs;
}

bool isReadOutside(Operation *member, const Cluster &cluster) {
  return llvm::any_of(member->getUsers(), [&](Operation *user) { return !cluster.members.contains(user); });
}

/// Of all that reads a member and is none, what comes first; null if nothing does.
Operation *firstReader(const Cluster &cluster) {
  Operation *first = nullptr;
  for (Operation *member : cluster.members)
    for (Operation *user : member->getUsers())
      if (!cluster.members.contains(user) && (!first || user->isBeforeInBlock(first)))
        first = user;
  return first;
}

/// Whether it can stand in one place, and is no more than an expression may be.
bool isValid(const Cluster &cluster) {
  ValueSet inputs = inputsOf(cluster);
  size_t results = llvm::count_if(cluster.members, [&](Operation *op) { return isReadOutside(op, cluster); });
  if (inputs.empty() || inputs.size() > qrt::kMaxExpressionInputs || cluster.steps() > qrt::kMaxExpressionSteps ||
      results > qrt::kMaxExpressionResults)
    return false;
  Operation *reader = firstReader(cluster);
  return llvm::all_of(inputs, [&](Value input) {
    Operation *source = readFor(input).getDefiningOp();
    return !source || !reader || source->isBeforeInBlock(reader);
  });
}

/// The op that would share memory traffic with the cluster if they were one: neighbours in the graph, in order.
SmallVector<Operation *> neighbours(const Cluster &cluster) {
  OpSet found;
  auto add = [&](Operation *op) {
    if (op && isPointwise(op) && shapeOf(op->getResult(0)) == cluster.shape() && !cluster.computes(op))
      found.insert(op);
  };
  for (Operation *member : cluster.members) {
    for (Value operand : member->getOperands()) {
      add(operand.getDefiningOp());
      if (shapeOf(operand) == cluster.shape())
        for (Operation *sibling : operand.getUsers())
          add(sibling);
    }
    for (Operation *user : member->getUsers())
      add(user);
  }
  SmallVector<Operation *> ops(found.begin(), found.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); });
  return ops;
}

Cluster grow(Operation *seed) {
  Cluster cluster;
  cluster.members.insert(seed);
  for (bool grown = true; grown;) {
    grown = false;
    SmallVector<Operation *> candidates = neighbours(cluster);
    // The nearest first: of ops after the seed there are readers only.
    for (Operation *op : llvm::reverse(candidates)) {
      cluster.members.insert(op);
      if (isValid(cluster))
        grown = true;
      else
        cluster.members.remove(op);
    }
  }
  return cluster;
}

int64_t bytesOf(const ValueSet &inputs) {
  int64_t bytes = 0;
  for (Value input : inputs)
    bytes += qt::tensorBytes(readFor(input).getType());
  return bytes;
}

/// Adds what computes `value` from what no pointwise op gives; false if that is more than an expression may be.
bool addSources(Value value, Cluster &cluster) {
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Operation *op = pointwiseSource(open.pop_back_val(), cluster.shape());
    if (!op || cluster.computes(op))
      continue;
    cluster.again.insert(op);
    llvm::append_range(open, op->getOperands());
    if (cluster.again.size() > qrt::kMaxExpressionSteps)
      return false;
  }
  return true;
}

/// Whether `value` need not be in memory if the cluster computes it again: its other readers are pointwise ops that
/// come before, for the cluster that has them and it.
bool isSpared(Value value, const Cluster &cluster) {
  Operation *first = opsInOrder({cluster.members, {}}).front();
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return cluster.computes(user) ||
           (isPointwise(user) && shapeOf(user->getResult(0)) == cluster.shape() && user->isBeforeInBlock(first));
  });
}

/// Has the cluster compute again what it reads of pointwise ops, where that pays.
void recompute(Cluster &cluster) {
  SmallVector<Value> candidates;
  for (Value input : inputsOf(cluster))
    if (pointwiseSource(input, cluster.shape()))
      candidates.push_back(input);
  auto attempt = [&](ArrayRef<Value> values) {
    Cluster changed = cluster;
    for (Value value : values)
      if (!addSources(value, changed))
        return false;
    ValueSet before = inputsOf(cluster), after = inputsOf(changed);
    bool readsAnyway = llvm::all_of(after, [&](Value input) { return before.contains(input); });
    bool readsNoMore = bytesOf(after) <= bytesOf(before) &&
                       llvm::all_of(values, [&](Value value) { return isSpared(value, changed); });
    if (!(readsAnyway || readsNoMore) || !isValid(changed))
      return false;
    cluster = std::move(changed);
    return true;
  };
  if (candidates.empty() || attempt(candidates))
    return;
  for (Value value : candidates)
    attempt(value);
}

/// Sums alone, of nothing that is repeated, are computed each in the place of a term, which takes no memory (kernel
/// `add`).
bool isSums(const Cluster &cluster) {
  return llvm::all_of(cluster.members, [](Operation *op) {
    auto isWhole = [&](Value operand) {
      return operand.getType() == op->getResult(0).getType() && readFor(operand) == operand;
    };
    return isa<qt::AddOp>(op) && llvm::all_of(op->getOperands(), isWhole);
  });
}

Type elementOf(Type type) { return RankedTensorType::get({}, cast<RankedTensorType>(type).getElementType()); }

/// An operand as the cluster reads it: what is repeated along dimensions inside has 1 there.
Value inputFor(OpBuilder &builder, Value operand) {
  Value read = readFor(operand);
  if (read == operand)
    return operand;
  auto broadcast = operand.getDefiningOp<qt::BroadcastOp>();
  auto type = cast<RankedTensorType>(read.getType());
  // From the first dimension that x has.
  ArrayRef<int64_t> dims = broadcast.getDims();
  int64_t rank = broadcast.getType().getRank(), first = dims.empty() ? rank : dims.front();
  SmallVector<int64_t> extents(rank - first, 1);
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), dims))
    extents[dim - first] = size;
  if (type.getShape() == ArrayRef<int64_t>(extents))
    return read;
  auto reshape =
      qt::ReshapeOp::create(builder, broadcast.getLoc(), RankedTensorType::get(extents, type.getElementType()), read);
  copyScope(broadcast, reshape);
  return reshape;
}

/// Puts the op in the place of the members.
void materialize(const Cluster &cluster) {
  SmallVector<Operation *> ops = opsInOrder(cluster), members = llvm::to_vector(cluster.members.getArrayRef());
  llvm::sort(members, [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); });
  // As late as it can be: what it reads is there for it, and it holds no memory before it is needed.
  Operation *place = members.back();
  if (Operation *reader = firstReader(cluster); reader && reader->isBeforeInBlock(place))
    place = reader;
  OpBuilder builder(place);
  SmallVector<Value> inputs, replaced;
  SmallVector<Type> types;
  ValueSet operands = inputsOf(cluster);
  for (Value operand : operands)
    inputs.push_back(inputFor(builder, operand));
  for (Operation *op : members)
    if (isReadOutside(op, cluster)) {
      replaced.push_back(op->getResult(0));
      types.push_back(op->getResult(0).getType());
    }
  SmallVector<Location> locations;
  for (Operation *op : members)
    locations.push_back(op->getLoc());
  auto pointwise = qt::PointwiseOp::create(builder, builder.getFusedLoc(locations), types, inputs);
  setScope(pointwise, mergeScopes(members));

  Block &body = pointwise.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value operand : operands)
    mapping.map(operand, body.addArgument(elementOf(operand.getType()), operand.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *op : ops) {
    Operation *copy = builder.clone(*op, mapping);
    copy->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
    copy->getResult(0).setType(elementOf(op->getResult(0).getType()));
  }
  SmallVector<Value> yielded = llvm::map_to_vector(replaced, [&](Value value) { return mapping.lookup(value); });
  qt::YieldOp::create(builder, pointwise.getLoc(), yielded);

  reportFormed(pointwise, replaced);
  for (auto [value, result] : llvm::zip_equal(replaced, pointwise.getOutputs()))
    value.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(members))
    op->erase();
}

/// What repeats nothing becomes its operand, and what is repeated alike one value.
void mergeBroadcasts(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<qt::BroadcastOp>())) {
    Value same;
    if (op.getX().getType() == op.getType())
      same = op.getX();
    for (Operation *user : op.getX().getUsers())
      if (auto other = dyn_cast<qt::BroadcastOp>(user);
          other && other->isBeforeInBlock(op) && other.getType() == op.getType() && other.getDims() == op.getDims())
        same = other;
    if (!same)
      continue;
    op.replaceAllUsesWith(same);
    op.erase();
  }
}

/// Gathers all pointwise ops of a function.
void clusterFunction(func::FuncOp function) {
  Block &block = function.getBody().front();
  mergeBroadcasts(block);
  // The last first: what the backward pass computes again of the forward pass is still in single ops.
  llvm::DenseSet<Operation *> left; // as they are
  auto nextSeed = [&]() -> Operation * {
    for (Operation &op : llvm::reverse(block))
      if (isPointwise(&op) && !left.contains(&op))
        return &op;
    return nullptr;
  };
  while (Operation *seed = nextSeed()) {
    if (seed->use_empty()) {
      seed->erase();
      continue;
    }
    Cluster cluster = grow(seed);
    if (isSums(cluster)) {
      left.insert(cluster.members.begin(), cluster.members.end());
      continue;
    }
    recompute(cluster);
    for (Operation *member : cluster.members)
      left.erase(member);
    materialize(cluster);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<qt::BroadcastOp>(op) && op.use_empty())
      op.erase();
}

struct ClusterPointwise : impl::ClusterPointwiseBase<ClusterPointwise> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (qt::entryKind(function) && !qt::isGeneric(function))
        clusterFunction(function);
  }
};

} // namespace
} // namespace qcc
