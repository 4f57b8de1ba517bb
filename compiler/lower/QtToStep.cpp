// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Static entry functions become step programs: the plan of each, spelled in the step dialect.
#include "compiler/Passes.h"
#include "compiler/Scope.h"
#include "compiler/plan/UnreadResiduals.h"
#include "compiler/target/Target.h"
#include "dialects/qt/Entries.h"
#include "dialects/step/Step.h"

using namespace mlir;

namespace qcc {

#define GEN_PASS_DEF_LOWERTOSTEP
#include "compiler/Passes.h.inc"

namespace {

/// Writes one plan as a step.entry.
class EntryWriter {
public:
  EntryWriter(const EntryPlan &plan, OpBuilder &builder) : plan_(plan), builder_(builder) {}

  void write(func::FuncOp function, StringRef name) {
    SmallVector<int64_t, 4> bucket;
    if (std::optional<qrt::BucketShape> shape = qt::bucketOf(function))
      bucket = {shape->tokens, shape->documents, shape->longest, shape->trained};
    builder_.setInsertionPoint(function);
    auto entry = step::EntryOp::create(builder_, function.getLoc(), builder_.getStringAttr(name),
                                       function->getAttrOfType<qt::EntryKindAttr>(qt::kEntryAttr),
                                       builder_.getDenseI64ArrayAttr(bucket), builder_.getI64IntegerAttr(plan_.ioBytes),
                                       builder_.getI64IntegerAttr(plan_.transientBytes));
    builder_.setInsertionPointToStart(&entry.getInstructions().emplaceBlock());
    // The interface of the program first, used or not.
    for (auto [i, buffer] : llvm::enumerate(plan_.buffers))
      if (buffer.space == step::Space::Io)
        bufferValue(i, function.getLoc());
    auto watch = plan_.watches.begin();
    for (auto [i, instruction] : llvm::enumerate(plan_.instructions)) {
      writeInstruction(instruction);
      for (; watch != plan_.watches.end() && watch->instruction == static_cast<int64_t>(i); ++watch) {
        qt::WatchOp op = watch->op;
        Value value = viewValue(watch->view, op.getLoc());
        copyScope(op, step::WatchOp::create(builder_, op.getLoc(), value, op.getNameAttr(), op.getGradientAttr()));
      }
    }
  }

private:
  Value bufferValue(unsigned index, Location loc) {
    Value &value = buffers_[index];
    if (value)
      return value;
    const PlannedBuffer &buffer = plan_.buffers[index];
    if (buffer.symbol)
      value = step::StateOp::create(builder_, loc, buffer.type, buffer.symbol.getValue());
    else if (buffer.argument)
      value = step::ArgumentOp::create(builder_, loc, buffer.type, *buffer.argument, buffer.offset);
    else if (buffer.result)
      value = step::ResultOp::create(builder_, loc, buffer.type, *buffer.result, buffer.offset);
    else
      value = step::TransientOp::create(builder_, loc, buffer.type, buffer.offset);
    return value;
  }

  Value viewValue(const BufferView &view, Location loc) {
    Value buffer = bufferValue(view.buffer, loc);
    auto whole = cast<MemRefType>(buffer.getType());
    if (view == wholeBuffer(view.buffer, whole.getShape()))
      return buffer;
    for (auto &[known, value] : views_[view.buffer])
      if (known == view)
        return value;
    MemRefLayoutAttrInterface layout;
    if (view.strides != wholeBuffer(view.buffer, view.shape).strides)
      layout = StridedLayoutAttr::get(builder_.getContext(), 0, view.strides);
    auto type = MemRefType::get(view.shape, whole.getElementType(), layout);
    Value slice = step::SliceOp::create(builder_, loc, type, buffer, view.offset);
    views_[view.buffer].push_back({view, slice});
    return slice;
  }

  void writeInstruction(const PlannedInstruction &instruction) {
    Location loc = instruction.op->getLoc();
    SmallVector<Value> values;
    SmallVector<step::Effect> effects;
    for (const PlannedAccess &access : instruction.accesses) {
      effects.push_back(access.effect);
      if (access.view)
        values.push_back(viewValue(*access.view, loc));
    }
    Operation *written = nullptr;
    switch (instruction.kind) {
    case InstructionKind::Kernel: {
      auto op = cast<qt::KernelBackedOpInterface>(instruction.op);
      SmallVector<qrt::ParamValue> params;
      op.getKernelParams(params);
      Value workspace = instruction.hasWorkspace ? values.pop_back_val() : Value();
      if (workspace)
        effects.pop_back();
      written =
          step::LaunchOp::create(builder_, loc, op.getKernel(), values, effects, params, op.getExpression(), workspace);
      break;
    }
    case InstructionKind::Gemm: {
      UnitAttr yes = builder_.getUnitAttr(), no;
      auto [transposeA, transposeB] = transposed(instruction.op);
      written = step::GemmOp::create(builder_, loc, values[0], values[1], values[2], transposeA ? yes : no,
                                     transposeB ? yes : no, effects[0] == step::Effect::InOut ? yes : no);
      break;
    }
    case InstructionKind::Copy:
      written = step::CopyOp::create(builder_, loc, values[0], values[1]);
      break;
    case InstructionKind::Fill:
      written = step::FillOp::create(builder_, loc, values[0]);
      break;
    }
    copyScope(instruction.op, written);
    if (Attribute recomputed = instruction.op->getAttr(qt::kRecomputedAttr))
      written->setAttr(qt::kRecomputedAttr, recomputed);
  }

  const EntryPlan &plan_;
  OpBuilder &builder_;
  DenseMap<unsigned, Value> buffers_;
  DenseMap<unsigned, SmallVector<std::pair<BufferView, Value>, 2>> views_;
};

void writeLayout(const StateLayout &layout, ModuleOp module, OpBuilder &builder) {
  // After the last symbol it places.
  Operation *last = nullptr;
  for (Operation &op : module.getOps())
    if (isa<qt::ParameterOp, qt::ParameterPackOp, qt::StateOp>(op))
      last = &op;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(module.getBody());
  auto op = step::LayoutOp::create(builder, module.getLoc(), builder.getI64IntegerAttr(layout.stateBytes),
                                   builder.getI64IntegerAttr(layout.gradientBytes));
  builder.setInsertionPointToStart(&op.getPlaces().emplaceBlock());
  for (auto &[name, place] : layout.places)
    step::PlaceOp::create(builder, module.lookupSymbol(name)->getLoc(), name.getValue(), place.space, place.offset,
                          place.type);
}

struct LowerToStep : impl::LowerToStepBase<LowerToStep> {
  using LowerToStepBase::LowerToStepBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Target> target = findTarget(module.getLoc(), targetKind, disableKernel);
    if (failed(target))
      return signalPassFailure();
    if (!module.getOps<step::LayoutOp>().empty()) {
      module.emitError() << "expected a module that is not lowered yet, got one with a step.layout";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>()) {
      std::optional<qt::EntryKind> kind = qt::entryKind(function);
      if (kind && *kind != qt::EntryKind::Model && !qt::isGeneric(function))
        functions.push_back(function);
    }
    if (failed(checkKernels(functions, *target)))
      return signalPassFailure();

    StateLayout layout = layoutState(module);
    OpBuilder builder(&getContext());
    writeLayout(layout, module, builder);
    for (func::FuncOp function : functions) {
      FailureOr<EntryPlan> plan = planWithoutUnread(
          function, layout, [&](Operation *op, const KernelCall &call) { return planCall(op, call, *target); });
      if (failed(plan) || failed(placeBuffers(function, *plan)))
        return signalPassFailure();
      // The function that applies gradients has no bucket: like those for any row it stays, and its program has a name
      // of its own.
      if (qt::entryKind(function) == qt::EntryKind::Apply) {
        EntryWriter(*plan, builder).write(function, (function.getName() + ".program").str());
        continue;
      }
      EntryWriter(*plan, builder).write(function, function.getName());
      function.erase();
    }
  }
};

} // namespace
} // namespace qcc
