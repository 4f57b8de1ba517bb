// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds for a step program, found out from its instructions alone: nothing here knows how the plan was made.
#include "compiler/Passes.h"
#include "compiler/plan/ArenaPacker.h"
#include "compiler/plan/Footprint.h"
#include "compiler/plan/Lifetimes.h"
#include "dialects/qt/Entries.h"
#include "dialects/step/Step.h"

#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace qcc {

#define GEN_PASS_DEF_VERIFYPLANNED
#include "compiler/Passes.h.inc"

namespace {

BufferView elementsOf(Value memory) {
  step::View view = step::viewOf(memory);
  return {0, view.offset, SmallVector<int64_t, 4>(view.shape),
          SmallVector<int64_t, 4>(ArrayRef<int64_t>(view.strides))};
}

/// What is known of one buffer while the program is followed.
struct BufferState {
  Operation *op = nullptr;
  SmallVector<BufferView> views;
  int64_t pitch = 0;
  /// Elements with a value. Of a state: elements with their final value, which nothing may change any more.
  ElementSet written;
  /// Of a state: elements changed in place, and elements that have been read as what an update made of them.
  ElementSet changed, readUpdated;

  bool outlivesStep() const { return isa<step::StateOp>(op); }
  Footprint footprint(Value memory) const { return *footprintOf(elementsOf(memory), pitch); }
};

class EntryChecker {
public:
  explicit EntryChecker(step::EntryOp entry) : entry_(entry) {}

  LogicalResult run() {
    collect();
    for (Operation &op : *entry_.getBody()) {
      if (auto instruction = dyn_cast<step::InstructionOpInterface>(op)) {
        if (failed(checkOverlaps(instruction)) || failed(follow(instruction)))
          return failure();
      } else if (auto watch = dyn_cast<step::WatchOp>(op)) {
        if (failed(checkRead(watch, watch.getValue())))
          return failure();
      }
    }
    if (failed(checkArena()))
      return failure();
    for (auto result : entry_.getBody()->getOps<step::ResultOp>()) {
      auto it = buffers_.find(result.getMemory());
      if (it == buffers_.end() || !it->second.written.contains(it->second.footprint(result.getMemory())))
        return result.emitOpError() << "expected a result that is written in full, got one that is not";
    }
    return success();
  }

private:
  /// Finds all buffers in use, and a pitch in which all views of one can be compared.
  void collect() {
    auto add = [&](Value memory) {
      BufferState &state = buffers_[step::viewOf(memory).buffer];
      BufferView view = elementsOf(memory);
      if (!llvm::is_contained(state.views, view))
        state.views.push_back(view);
    };
    for (Operation &op : *entry_.getBody()) {
      if (isa<step::InstructionOpInterface, step::WatchOp>(op))
        llvm::for_each(op.getOperands(), add);
      if (auto result = dyn_cast<step::ResultOp>(op))
        add(result.getMemory());
    }
    for (auto &[buffer, state] : buffers_) {
      state.op = buffer.getDefiningOp();
      state.pitch = commonPitch(state.views, cast<MemRefType>(buffer.getType()).getNumElements());
      SmallVector<Footprint> footprints;
      for (const BufferView &view : state.views)
        footprints.push_back(*footprintOf(view, state.pitch));
      state.written = state.changed = state.readUpdated = ElementSet(footprints);
    }
  }

  BufferState &stateOf(Value memory) { return buffers_.find(step::viewOf(memory).buffer)->second; }

  LogicalResult checkOverlaps(step::InstructionOpInterface op) {
    SmallVector<step::Access> accesses = op.getAccesses();
    for (const step::Access &written : accesses)
      for (const step::Access &other : accesses) {
        if (!written.writes() || written.operand == other.operand)
          continue;
        Value a = written.operand->get(), b = other.operand->get();
        BufferState &state = stateOf(a);
        if (step::viewOf(a).buffer == step::viewOf(b).buffer && state.footprint(a).intersects(state.footprint(b)))
          return op.emitOpError()
                 << "expected operand " << written.operand->getOperandNumber()
                 << ", which it writes, to share no element with another, got some in common with operand "
                 << other.operand->getOperandNumber();
      }
    return success();
  }

  LogicalResult checkRead(Operation *op, Value memory) {
    BufferState &state = stateOf(memory);
    if (isa<step::ArgumentOp>(state.op))
      return success();
    Footprint footprint = state.footprint(memory);
    // Of a state any value can be watched; what is read is the value at entry, checkStateRead sees to that.
    if (state.outlivesStep())
      return success();
    if (!state.written.contains(footprint))
      return op->emitOpError() << "expected to read elements that an instruction has written, got a read of "
                               << memory.getType() << " with others in it";
    return success();
  }

  /// A read of a state sees the value at entry, unless it is one that means the value after the update (then it does
  /// not come before that), or changes it further.
  LogicalResult checkStateRead(Operation *op, const step::Access &access) {
    Value memory = access.operand->get();
    BufferState &state = stateOf(memory);
    if (!state.outlivesStep())
      return success();
    Footprint footprint = state.footprint(memory);
    if (access.readsUpdated) {
      state.readUpdated.add(footprint);
      return success();
    }
    if (state.written.intersects(footprint))
      return op->emitOpError() << "expected no use of a state after its final value is written, got a read of "
                               << memory.getType();
    if (!access.writes() && state.changed.intersects(footprint))
      return op->emitOpError() << "expected to read a state's value at entry, got a read of " << memory.getType()
                               << " after its update in place";
    return success();
  }

  /// A state is changed before its new value is read.
  LogicalResult checkStateWrite(Operation *op, const step::Access &access) {
    BufferState &state = stateOf(access.operand->get());
    if (state.outlivesStep() && state.readUpdated.intersects(state.footprint(access.operand->get())))
      return op->emitOpError() << "expected to change a state before its new value is read, got operand "
                               << access.operand->getOperandNumber() << " after that";
    return success();
  }

  LogicalResult follow(step::InstructionOpInterface op) {
    SmallVector<step::Access> accesses = op.getAccesses();
    for (const step::Access &access : accesses)
      if (access.reads() && (failed(checkRead(op, access.operand->get())) || failed(checkStateRead(op, access))))
        return failure();
    for (const step::Access &access : accesses) {
      if (!access.writes())
        continue;
      Value memory = access.operand->get();
      BufferState &state = stateOf(memory);
      if (isa<step::ArgumentOp>(state.op))
        return op.emitOpError() << "expected no write to an argument of the entry, got one to operand "
                                << access.operand->getOperandNumber();
      if (failed(checkStateWrite(op, access)))
        return failure();
      Footprint footprint = state.footprint(memory);
      if (access.effect == step::Effect::InOut) {
        if (state.outlivesStep())
          state.changed.add(footprint);
        continue;
      }
      if (state.written.intersects(footprint) || state.changed.intersects(footprint))
        return op.emitOpError()
               << "expected each element to be written once and changed only through inout, got another "
               << "write of operand " << access.operand->getOperandNumber();
      state.written.add(footprint);
    }
    return success();
  }

  LogicalResult checkArena() {
    std::vector<ArenaBuffer> lifetimes;
    std::vector<int64_t> offsets;
    SmallVector<step::TransientOp> ops;
    for (auto [buffer, lifetime] : lifetimesOf(entry_))
      if (auto op = buffer.getDefiningOp<step::TransientOp>()) {
        lifetimes.push_back({step::bytesOf(op.getMemory().getType()), lifetime.first, lifetime.last});
        offsets.push_back(op.getByteOffset());
        ops.push_back(op);
      }
    std::optional<ArenaConflict> conflict = findArenaConflict(lifetimes, offsets);
    if (!conflict)
      return success();
    auto describe = [&](size_t i) {
      return ("bytes " + Twine(offsets[i]) + " to " + Twine(offsets[i] + lifetimes[i].bytes) + " from instruction " +
              Twine(lifetimes[i].first) + " to " + Twine(lifetimes[i].last))
          .str();
    };
    InFlightDiagnostic error = ops[conflict->b].emitOpError()
                               << "expected memory of its own while it is in use, got " << describe(conflict->b);
    error.attachNote(ops[conflict->a].getLoc()) << "shared with this buffer, in use at " << describe(conflict->a);
    return error;
  }

  step::EntryOp entry_;
  llvm::MapVector<Value, BufferState> buffers_;
};

struct VerifyPlanned : impl::VerifyPlannedBase<VerifyPlanned> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      std::optional<qt::EntryKind> kind = qt::entryKind(function);
      if (kind && *kind != qt::EntryKind::Model && *kind != qt::EntryKind::Apply && !qt::isGeneric(function)) {
        function.emitOpError() << "expected every entry function with a bucket to be a step.entry, got a function";
        return signalPassFailure();
      }
    }
    for (auto entry : module.getOps<step::EntryOp>())
      if (failed(EntryChecker(entry).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace qcc
