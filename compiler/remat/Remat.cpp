// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the backward pass computes again. A value that it reads from the forward pass costs its memory in between; where
// the op that made it moves bytes and little else, and its inputs are kept anyway, a second run is cheaper than keeping
// it (docs/kernels.md, bytes freed per recomputed millisecond).
#include "compiler/remat/Remat.h"

#include "compiler/remat/Backward.h"
#include "compiler/remat/MemoryBudget.h"
#include "compiler/remat/Recomputation.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_REMAT
#include "compiler/Passes.h.inc"

namespace {

/// The ops of the forward pass that move bytes and compute little.
SmallVector<Operation *> memoryBoundOps(func::FuncOp function) {
  llvm::DenseSet<Operation *> backward = backwardOps(function);
  SmallVector<Operation *> ops;
  for (Operation &op : function.getOps())
    if (!backward.contains(&op) && isa<qt::AddRmsNormOp, qt::RmsNormOp, qt::GatedDeltaInputsOp, qt::SwigluOp,
                                       qt::GatedRmsNormOp, qt::QkNormRopeOp, qt::PointwiseOp>(op))
      ops.push_back(&op);
  return ops;
}

struct Remat : impl::RematBase<Remat> {
  using RematBase::RematBase;
  Remat(RematOptions options, qrt::MachineRates rates) : RematBase(std::move(options)), machine(std::move(rates)) {}

  void runOnOperation() override {
    switch (policy) {
    case qt::RematPolicy::None:
      return;
    case qt::RematPolicy::MemoryBound:
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (hasBackward(function) && !qt::isGeneric(function))
          recompute(function, memoryBoundOps(function));
      return;
    case qt::RematPolicy::Budget:
      if (failed(keepWithinBudget()))
        signalPassFailure();
      return;
    }
  }

  LogicalResult keepWithinBudget() {
    ModuleOp module = getOperation();
    if (memory <= 0)
      return module.emitError() << "the policy budget: expected a budget of more than 0 bytes, got "
                                << memory.getValue();
    FailureOr<Target> target = findTarget(module.getLoc(), targetKind, disableKernel);
    if (failed(target))
      return failure();
    if (machine)
      return keepWithin(module, memory, *target, CostModel(*machine));
    qrt::StatusOr<qrt::MachineRates> rates = qrt::defaultMachineRates(target->name().str());
    if (!rates.ok())
      return module.emitError() << rates.status().message();
    return keepWithin(module, memory, *target, CostModel(std::move(*rates)));
  }

  /// Otherwise what is known of the target.
  std::optional<qrt::MachineRates> machine;
};

} // namespace

std::unique_ptr<Pass> createRemat(RematOptions options, qrt::MachineRates machine) {
  return std::make_unique<Remat>(std::move(options), std::move(machine));
}

} // namespace qcc
