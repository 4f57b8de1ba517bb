// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/plan/EntryPlan.h"

#include "compiler/plan/ArenaPacker.h"
#include "compiler/plan/IoLayout.h"
#include "compiler/plan/Schedule.h"
#include "dialects/qt/Entries.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace qcc {
namespace {

/// A value in memory: of a segments value its table.
MemRefType memoryOf(Value value) { return step::memoryType(value.getType()); }

/// The transient buffers of a plan that something uses, as the packer wants them.
struct TransientLifetimes {
  explicit TransientLifetimes(const EntryPlan &plan) {
    for (auto [i, buffer] : llvm::enumerate(plan.buffers))
      if (buffer.space == step::Space::Transient && buffer.first >= 0) {
        buffers.push_back({step::bytesOf(buffer.type), buffer.first, buffer.last});
        indices.push_back(i);
      }
  }

  std::vector<ArenaBuffer> buffers;
  SmallVector<unsigned> indices; // of each in the plan
};

class EntryPlanner {
public:
  EntryPlanner(func::FuncOp function, const StateLayout &layout, PlanCall planCall)
      : function_(function), layout_(layout), planCall_(planCall), schedule_(function) {}

  FailureOr<EntryPlan> run();

private:
  // Buffers.
  unsigned newBuffer(PlannedBuffer buffer) {
    plan_.buffers.push_back(buffer);
    return plan_.buffers.size() - 1;
  }
  BufferView newTransient(MemRefType type) {
    return wholeBuffer(newBuffer({.space = step::Space::Transient, .type = type}), type.getShape());
  }
  BufferView stateView(StringAttr symbol, Type type);
  LogicalResult makeIoBuffers();

  // Values that something later wants in a place of its own: results, updates, parts of a join.
  bool want(Value value, const BufferView &place);
  void wantResults();
  void wantUpdates();
  void wantJoins();
  BufferView placeOf(Value result) {
    auto wanted = wanted_.find(result);
    return wanted != wanted_.end() ? wanted->second : newTransient(memoryOf(result));
  }

  // What may be overwritten.
  void collectAliases(Value value, SetVector<Value> &aliases);
  bool isNeededLater(Value value, Operation *op, bool overwritten);
  bool mayLieInState(Value value, StringAttr symbol);
  bool mayOverwrite(Value value, Value result, Operation *op);

  // Instructions.
  void add(InstructionKind kind, Operation *op, ArrayRef<PlannedAccess> accesses) {
    plan_.instructions.push_back({kind, op, SmallVector<PlannedAccess, 6>(accesses), false});
  }
  void copy(Operation *op, const BufferView &target, const BufferView &source) {
    add(InstructionKind::Copy, op, {{target, step::Effect::Write}, {source, step::Effect::Read}});
  }
  BufferView overwrite(Value read, Value write, Operation *op);
  LogicalResult visit(Operation *op);
  LogicalResult visitKernel(qt::KernelBackedOpInterface op);
  LogicalResult addWorkspace(qt::KernelBackedOpInterface op, ArrayRef<PlannedAccess> accesses);
  void visitGemm(Operation *op, Value c, Value a, Value b, Value into);
  void visitReshape(qt::ReshapeOp op);
  void visitSplit(qt::SplitOp op);
  void visitJoin(qt::JoinOp op);
  void visitWatch(qt::WatchOp op);
  void finishUpdates();
  void finishResults();

  void findLifetimes();

  func::FuncOp function_;
  const StateLayout &layout_;
  PlanCall planCall_;
  Schedule schedule_;
  EntryPlan plan_;
  DenseMap<Value, BufferView> views_;
  DenseMap<Value, BufferView> wanted_;
  DenseMap<StringAttr, unsigned> stateBuffers_;
  /// The reads of a place (of a pack: its members' too).
  DenseMap<StringAttr, SmallVector<qt::ReadOp>> reads_;
  SmallVector<std::pair<Value, unsigned>> results_; // what is returned, and its buffer
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

BufferView EntryPlanner::stateView(StringAttr symbol, Type type) {
  StringAttr owner = layout_.owner(symbol);
  const StateLayout::Place &place = layout_.places.find(owner)->second;
  auto [it, isNew] = stateBuffers_.try_emplace(owner, 0);
  if (isNew)
    it->second = newBuffer({.space = place.space, .type = place.type, .symbol = owner, .offset = place.offset});
  BufferView view = wholeBuffer(it->second, step::memoryType(type).getShape());
  if (auto member = layout_.members.find(symbol); member != layout_.members.end())
    view.offset = member->second.offset;
  return view;
}

LogicalResult EntryPlanner::makeIoBuffers() {
  for (BlockArgument argument : function_.getArguments()) {
    auto role = function_.getArgAttrOfType<qt::ArgumentRoleAttr>(argument.getArgNumber(), qt::kArgumentAttr);
    if (!role)
      return function_.emitOpError() << "expected the attribute " << qt::kArgumentAttr << " on argument "
                                     << argument.getArgNumber();
    MemRefType type = memoryOf(argument);
    unsigned buffer = newBuffer({.space = step::Space::Io, .type = type, .argument = role.getValue()});
    views_[argument] = wholeBuffer(buffer, type.getShape());
  }
  auto returnOp = cast<func::ReturnOp>(function_.getBody().front().getTerminator());
  for (OpOperand &operand : returnOp->getOpOperands()) {
    auto role = function_.getResultAttrOfType<qt::ResultRoleAttr>(operand.getOperandNumber(), qt::kResultAttr);
    if (!role)
      return function_.emitOpError() << "expected the attribute " << qt::kResultAttr << " on result "
                                     << operand.getOperandNumber();
    unsigned buffer = newBuffer({.space = step::Space::Io, .type = memoryOf(operand.get()), .result = role.getValue()});
    results_.push_back({operand.get(), buffer});
  }
  plan_.ioBytes = layoutIo(plan_.buffers);
  return success();
}

//===----------------------------------------------------------------------===//
// Values wanted in a place of their own
//===----------------------------------------------------------------------===//

/// The value that `value` is a reshape of, or itself.
static Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<qt::ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// Has `value` written to `place` by the op that makes it, if that can be: true then.
bool EntryPlanner::want(Value value, const BufferView &place) {
  Operation *op = value.getDefiningOp();
  if (!op || wanted_.contains(value))
    return false;
  if (auto reshape = dyn_cast<qt::ReshapeOp>(op)) {
    std::optional<BufferView> source = reshapeView(place, memoryOf(reshape.getX()).getShape());
    if (!source || !want(reshape.getX(), *source))
      return false;
  } else if (auto kernel = dyn_cast<qt::KernelBackedOpInterface>(op)) {
    // A result that overwrites an operand lies where that lies.
    for (const qt::KernelArgument &argument : qt::kernelArguments(kernel))
      if (argument.write == value && argument.read)
        return false;
    if (!hasContiguousRows(place))
      return false;
  } else if (auto grad = dyn_cast<qt::LinearWeightGradOp>(op)) {
    if (grad.getInto() || !hasContiguousRows(place))
      return false;
  } else if (isa<qt::LinearOp, qt::LinearInputGradOp>(op)) {
    if (!hasContiguousRows(place))
      return false;
  } else if (!isa<qt::ZerosOp, qt::JoinOp>(op)) {
    return false;
  }
  wanted_[value] = place;
  return true;
}

void EntryPlanner::wantResults() {
  for (auto [value, buffer] : results_)
    want(value, wholeBuffer(buffer, plan_.buffers[buffer].type.getShape()));
}

void EntryPlanner::wantUpdates() {
  DenseMap<StringAttr, int> updates;
  for (Operation *op : schedule_.ops())
    if (auto update = dyn_cast<qt::UpdateOp>(op))
      ++updates[layout_.owner(update.getSymbolAttr().getAttr())];
  for (Operation *op : schedule_.ops()) {
    auto update = dyn_cast<qt::UpdateOp>(op);
    if (!update)
      continue;
    StringAttr owner = layout_.owner(update.getSymbolAttr().getAttr());
    Value written = withoutReshapes(update.getValue());
    Operation *writer = written.getDefiningOp();
    // Zeros become a fill of the state itself; a join is written piece by piece.
    if (!writer || isa<qt::ZerosOp, qt::JoinOp>(writer) || updates[owner] != 1)
      continue;
    bool readLater =
        llvm::any_of(reads_[owner], [&](qt::ReadOp read) { return isNeededLater(read.getValue(), writer, false); });
    if (!readLater && mayLieInState(written, update.getSymbolAttr().getAttr()))
      want(update.getValue(), stateView(update.getSymbolAttr().getAttr(), update.getValue().getType()));
  }
}

void EntryPlanner::wantJoins() {
  // An outer join before the inner ones, which then lie in it.
  for (Operation *op : llvm::reverse(schedule_.ops())) {
    auto join = dyn_cast<qt::JoinOp>(op);
    if (!join)
      continue;
    BufferView view = placeOf(join.getResult());
    wanted_[join.getResult()] = view;
    int64_t begin = 0;
    for (Value part : join.getParts()) {
      int64_t size = memoryOf(part).getDimSize(join.getDim());
      want(part, partOfView(view, join.getDim(), begin, size));
      begin += size;
    }
  }
}

//===----------------------------------------------------------------------===//
// What may be overwritten
//===----------------------------------------------------------------------===//

/// All values that may lie in the same memory: a superset, since some views become copies.
void EntryPlanner::collectAliases(Value value, SetVector<Value> &aliases) {
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!aliases.insert(next))
      continue;
    if (auto view = next.getDefiningOp<qt::ViewOpInterface>())
      llvm::append_range(worklist, view.getViewed());
    if (auto read = next.getDefiningOp<qt::ReadOp>())
      for (qt::ReadOp other : reads_[layout_.owner(read.getSymbolAttr().getAttr())])
        worklist.push_back(other.getValue());
    for (Operation *user : next.getUsers())
      if (auto view = dyn_cast<qt::ViewOpInterface>(user); view && llvm::is_contained(view.getViewed(), next))
        llvm::append_range(worklist, user->getResults());
  }
}

/// Whether the memory of `value` is read after `op` runs, or by `op` itself; where `op` overwrites `value`, that one
/// use does not count.
bool EntryPlanner::isNeededLater(Value value, Operation *op, bool overwritten) {
  SetVector<Value> aliases;
  collectAliases(value, aliases);
  for (Value alias : aliases) {
    int uses = 0;
    for (OpOperand &use : alias.getUses()) {
      Operation *user = use.getOwner();
      if (user == op)
        ++uses;
      else if (!isa<qt::ViewOpInterface>(user) && schedule_.position(user) > schedule_.position(op))
        return true;
    }
    if (uses > (overwritten && alias == value ? 1 : 0))
      return true;
  }
  return false;
}

/// Whether the value may lie in the symbol's buffer: it, or what overwrites it later, is what the symbol has at the
/// end, and whoever else reads it is meant to see the symbol after its update.
bool EntryPlanner::mayLieInState(Value value, StringAttr symbol) {
  bool ends = false;
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      Operation *user = use.getOwner();
      if (isa<qt::WatchOp>(user))
        continue;
      if (auto view = dyn_cast<qt::ViewOpInterface>(user)) {
        if (view.getViewed().size() > 1) // a join, which copies it
          return false;
        if (view.getViewed().front() == next)
          llvm::append_range(worklist, user->getResults());
        continue;
      }
      if (auto update = dyn_cast<qt::UpdateOp>(user)) {
        if (ends || update.getSymbolAttr().getAttr() != symbol)
          return false;
        ends = true;
        continue;
      }
      Value changed; // what `next` becomes, if the user overwrites it
      if (auto grad = dyn_cast<qt::LinearWeightGradOp>(user)) {
        if (grad.getInto() != next || grad.getDy() == next || grad.getX() == next)
          return false;
        changed = grad.getDweight();
      } else if (auto kernel = dyn_cast<qt::KernelBackedOpInterface>(user)) {
        for (const qt::KernelArgument &argument : qt::kernelArguments(kernel)) {
          if (argument.read != next || argument.readsUpdated)
            continue;
          if (changed || argument.effect != qrt::ArgEffect::InOut)
            return false;
          changed = argument.write;
        }
        if (!changed)
          continue;
      } else {
        return false;
      }
      if (ends || !mayLieInState(changed, symbol))
        return false;
      ends = true;
    }
  }
  return ends;
}

/// Whether `op` may put `result` where the operand `value` lies.
bool EntryPlanner::mayOverwrite(Value value, Value result, Operation *op) {
  const PlannedBuffer &buffer = plan_.buffers[views_.at(value).buffer];
  if (buffer.argument || isNeededLater(value, op, true))
    return false;
  if (buffer.symbol)
    return views_.at(value) == stateView(buffer.symbol, value.getType()) && mayLieInState(result, buffer.symbol);
  return true;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Where an operand lies that `op` overwrites: in place, or in a copy.
BufferView EntryPlanner::overwrite(Value read, Value write, Operation *op) {
  BufferView view = views_.at(read);
  if (!mayOverwrite(read, write, op)) {
    BufferView target = newTransient(memoryOf(write));
    copy(op, target, view);
    view = target;
  }
  views_[write] = view;
  return view;
}

LogicalResult EntryPlanner::visitKernel(qt::KernelBackedOpInterface op) {
  SmallVector<PlannedAccess, 6> accesses;
  for (const qt::KernelArgument &argument : qt::kernelArguments(op)) {
    switch (argument.effect) {
    case qrt::ArgEffect::Read:
      if (argument.read)
        accesses.push_back({views_.at(argument.read), step::Effect::Read});
      else
        accesses.push_back({});
      break;
    case qrt::ArgEffect::Write:
      if (argument.write)
        accesses.push_back({views_[argument.write] = placeOf(argument.write), step::Effect::Write});
      else
        accesses.push_back({});
      break;
    case qrt::ArgEffect::InOut:
      if (argument.read)
        accesses.push_back({overwrite(argument.read, argument.write, op), step::Effect::InOut});
      else
        accesses.push_back({});
      break;
    default:
      llvm_unreachable("a call reads, writes or updates");
    }
  }
  return addWorkspace(op, accesses);
}

/// Adds the instruction, with memory for what the target's kernel needs besides its arguments.
LogicalResult EntryPlanner::addWorkspace(qt::KernelBackedOpInterface op, ArrayRef<PlannedAccess> accesses) {
  add(InstructionKind::Kernel, op, accesses);
  PlannedInstruction &instruction = plan_.instructions.back();
  FailureOr<CallNeeds> needs = planCall_(op, callOf(plan_, instruction));
  if (failed(needs))
    return failure();
  for (int arg : needs->unread)
    plan_.unread.push_back({op, qt::kernelArguments(op)[arg].read});
  if (needs->workspaceBytes > 0) {
    auto type = MemRefType::get({(needs->workspaceBytes + 3) / 4}, Float32Type::get(op->getContext()));
    instruction.accesses.push_back({newTransient(type), step::Effect::Write});
    instruction.hasWorkspace = true;
  }
  return success();
}

void EntryPlanner::visitGemm(Operation *op, Value c, Value a, Value b, Value into) {
  PlannedAccess target = into ? PlannedAccess{overwrite(into, c, op), step::Effect::InOut}
                              : PlannedAccess{views_[c] = placeOf(c), step::Effect::Write};
  add(InstructionKind::Gemm, op, {target, {views_.at(a), step::Effect::Read}, {views_.at(b), step::Effect::Read}});
}

void EntryPlanner::visitReshape(qt::ReshapeOp op) {
  const BufferView source = views_.at(op.getX());
  ArrayRef<int64_t> shape = memoryOf(op.getResult()).getShape();
  if (std::optional<BufferView> view = reshapeView(source, shape)) {
    views_[op.getResult()] = *view;
    return;
  }
  BufferView target = newTransient(memoryOf(op.getX()));
  copy(op, target, source);
  views_[op.getResult()] = *reshapeView(target, shape);
}

void EntryPlanner::visitSplit(qt::SplitOp op) {
  const BufferView source = views_.at(op.getX());
  int64_t begin = 0;
  for (Value part : op.getParts()) {
    int64_t size = memoryOf(part).getDimSize(op.getDim());
    views_[part] = partOfView(source, op.getDim(), begin, size);
    begin += size;
  }
}

void EntryPlanner::visitJoin(qt::JoinOp op) {
  BufferView view = wanted_.at(op.getResult());
  views_[op.getResult()] = view;
  int64_t begin = 0;
  for (Value part : op.getParts()) {
    int64_t size = memoryOf(part).getDimSize(op.getDim());
    BufferView place = partOfView(view, op.getDim(), begin, size);
    if (views_.at(part) != place)
      copy(op, place, views_.at(part));
    begin += size;
  }
}

void EntryPlanner::visitWatch(qt::WatchOp op) {
  // Without an instruction before it there is nothing to tell apart: it is the value at entry.
  if (!plan_.instructions.empty())
    plan_.watches.push_back({op, static_cast<int64_t>(plan_.instructions.size()) - 1, views_.at(op.getX())});
}

LogicalResult EntryPlanner::visit(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<qt::ReadOp>([&](auto read) {
        views_[read.getValue()] = stateView(read.getSymbolAttr().getAttr(), read.getValue().getType());
        return success();
      })
      .Case<qt::UpdateOp>([](auto) { return success(); }) // at the end, together
      .Case<qt::ZerosOp>([&](auto zeros) {
        // Zeros that only reset states are filled in there.
        if (llvm::all_of(zeros->getUsers(), [](Operation *user) { return isa<qt::UpdateOp>(user); }))
          return success();
        BufferView target = views_[zeros.getResult()] = placeOf(zeros.getResult());
        add(InstructionKind::Fill, zeros, {{target, step::Effect::Write}});
        return success();
      })
      .Case<qt::BarrierOp>([&](auto barrier) {
        BufferView view = views_.at(barrier.getX());
        views_[barrier.getResult()] = view;
        return success();
      })
      .Case<qt::ReshapeOp>([&](auto reshape) { return visitReshape(reshape), success(); })
      .Case<qt::SplitOp>([&](auto split) { return visitSplit(split), success(); })
      .Case<qt::JoinOp>([&](auto join) { return visitJoin(join), success(); })
      .Case<qt::WatchOp>([&](auto watch) { return visitWatch(watch), success(); })
      .Case<qt::LinearOp>([&](auto linear) {
        return visitGemm(linear, linear.getY(), linear.getX(), linear.getWeight(), {}), success();
      })
      .Case<qt::LinearInputGradOp>(
          [&](auto grad) { return visitGemm(grad, grad.getDx(), grad.getDy(), grad.getWeight(), {}), success(); })
      .Case<qt::LinearWeightGradOp>([&](auto grad) {
        return visitGemm(grad, grad.getDweight(), grad.getDy(), grad.getX(), grad.getInto()), success();
      })
      .Case<qt::KernelBackedOpInterface>([&](auto kernel) { return visitKernel(kernel); })
      .Default([](Operation *op) {
        return op->emitError() << "no instruction for '" << op->getName()
                               << "': expected a view, zeros, a matrix product or an "
                               << "op that a kernel computes";
      });
}

void EntryPlanner::finishUpdates() {
  // Everything has run. A value that lies in another symbol's buffer is saved before any of these is written.
  SmallVector<std::pair<qt::UpdateOp, std::optional<BufferView>>> updates; // no source: zeros
  for (Operation *op : schedule_.ops()) {
    auto update = dyn_cast<qt::UpdateOp>(op);
    if (!update)
      continue;
    BufferView target = stateView(update.getSymbolAttr().getAttr(), update.getValue().getType());
    if (update.getValue().getDefiningOp<qt::ZerosOp>()) {
      updates.push_back({update, std::nullopt});
      continue;
    }
    BufferView source = views_.at(update.getValue());
    if (source == target)
      continue;
    if (plan_.buffers[source.buffer].symbol) {
      BufferView saved = newTransient(memoryOf(update.getValue()));
      copy(update, saved, source);
      source = saved;
    }
    updates.push_back({update, source});
  }
  for (auto [update, source] : updates) {
    BufferView target = stateView(update.getSymbolAttr().getAttr(), update.getValue().getType());
    if (source)
      copy(update, target, *source);
    else
      add(InstructionKind::Fill, update, {{target, step::Effect::Write}});
  }
}

void EntryPlanner::finishResults() {
  Operation *terminator = function_.getBody().front().getTerminator();
  for (auto [value, buffer] : results_) {
    BufferView target = wholeBuffer(buffer, plan_.buffers[buffer].type.getShape());
    if (views_.at(value) != target)
      copy(terminator, target, views_.at(value));
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void EntryPlanner::findLifetimes() {
  auto use = [&](unsigned buffer, int64_t instruction) {
    PlannedBuffer &planned = plan_.buffers[buffer];
    if (planned.first < 0)
      planned.first = instruction;
    planned.last = std::max(planned.last, instruction);
  };
  for (auto [i, instruction] : llvm::enumerate(plan_.instructions))
    for (const PlannedAccess &access : instruction.accesses)
      if (access.view)
        use(access.view->buffer, static_cast<int64_t>(i));
  for (const PlannedWatch &watch : plan_.watches)
    use(watch.view.buffer, watch.instruction);
}

FailureOr<EntryPlan> EntryPlanner::run() {
  if (failed(makeIoBuffers()))
    return failure();
  for (Operation *op : schedule_.ops())
    if (auto read = dyn_cast<qt::ReadOp>(op))
      reads_[layout_.owner(read.getSymbolAttr().getAttr())].push_back(read);
  wantResults();
  wantUpdates();
  wantJoins();
  for (Operation *op : schedule_.ops())
    if (failed(visit(op)))
      return failure();
  // Results first: an update may overwrite the state that a result is read from.
  finishResults();
  finishUpdates();
  findLifetimes();
  plan_.transientBound = arenaBound(TransientLifetimes(plan_).buffers);
  return std::move(plan_);
}

} // namespace

qrt::TensorShape shapeOf(const EntryPlan &plan, const BufferView &view) {
  qrt::TensorShape shape;
  shape.dtype = qt::elementDType(plan.buffers[view.buffer].type.getElementType());
  shape.rank = static_cast<int>(view.shape.size());
  llvm::copy(view.shape, shape.dims);
  llvm::copy(view.strides, shape.strides);
  return shape;
}

KernelCall callOf(const EntryPlan &plan, const PlannedInstruction &instruction) {
  auto op = cast<qt::KernelBackedOpInterface>(instruction.op);
  KernelCall call;
  call.kernel = op.getKernel();
  call.bucket = qt::bucketOf(op->getParentOfType<func::FuncOp>()).value_or(qrt::BucketShape());
  op.getKernelParams(call.params);
  call.expression = op.getExpression();
  for (const PlannedAccess &access : ArrayRef(instruction.accesses).drop_back(instruction.hasWorkspace)) {
    qrt::ArgEffect effect = step::argEffect(access.effect);
    if (access.view)
      call.addArgument(effect, shapeOf(plan, *access.view), access.view->offset);
    else
      call.addAbsent(effect);
  }
  return call;
}

std::pair<bool, bool> transposed(Operation *product) {
  return {isa<qt::LinearWeightGradOp>(product), isa<qt::LinearOp>(product)};
}

FailureOr<EntryPlan> planEntry(func::FuncOp function, const StateLayout &layout, PlanCall planCall) {
  return EntryPlanner(function, layout, planCall).run();
}

LogicalResult placeBuffers(func::FuncOp function, EntryPlan &plan) {
  TransientLifetimes lifetimes(plan);
  ArenaPacking arena = packArena(lifetimes.buffers);
  if (std::optional<ArenaConflict> conflict = findArenaConflict(lifetimes.buffers, arena.offsets))
    return function.emitError() << "the arena's packing gives two buffers the same bytes at the same time: "
                                << plan.buffers[lifetimes.indices[conflict->a]].type << " and "
                                << plan.buffers[lifetimes.indices[conflict->b]].type;
  for (auto [index, offset] : llvm::zip_equal(lifetimes.indices, arena.offsets))
    plan.buffers[index].offset = offset;
  plan.transientBytes = arena.bytes;
  return success();
}

} // namespace qcc
