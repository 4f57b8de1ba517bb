// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lower/Target.h"

#include "compiler/plan/Schedule.h"

using namespace mlir;

namespace qcc {

FailureOr<Target> findTarget(Location location, StringRef name, StringRef disabledKernel) {
  // The CPU backend has every kernel of the catalog; the build of the backend fails where one is missing.
  if (name != "cpu")
    return emitError(location) << "expected the target cpu, got '" << name << "'";
  Target target{name.str(), std::nullopt};
  if (!disabledKernel.empty()) {
    target.disabled = qrt::kernelByName({disabledKernel.data(), disabledKernel.size()});
    if (!target.disabled)
      return emitError(location) << "expected the name of a kernel to disable, got '" << disabledKernel << "'";
  }
  return target;
}

/// Why the target cannot run the op; empty if it can.
static std::string whyNot(Operation *op, const Target &target) {
  auto isF64 = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isF64();
  };
  if (llvm::any_of(op->getOperandTypes(), isF64) || llvm::any_of(op->getResultTypes(), isF64))
    return "no kernel computes in f64";
  if (auto kernel = dyn_cast<qt::KernelBackedOpInterface>(op)) {
    if (target.disabled == kernel.getKernel())
      return "kernel " + std::string(qrt::kernelInfo(kernel.getKernel()).name) + " is disabled";
    return "";
  }
  if (isViewOp(op) || isa<qt::LinearOp, qt::LinearInputGradOp, qt::LinearWeightGradOp, qt::ZerosOp, qt::ReadOp,
                          qt::UpdateOp, qt::WatchOp, func::ReturnOp>(op))
    return "";
  return "the catalog has none, and no compound op or cluster took it in";
}

LogicalResult checkKernels(func::FuncOp function, const Target &target) {
  LogicalResult result = success();
  for (Operation &op : function.getOps()) {
    std::string reason = whyNot(&op, target);
    if (reason.empty())
      continue;
    InFlightDiagnostic error = op.emitError() << "no kernel for '" << op.getName() << "' on target " << target.name;
    if (auto scope = op.getAttrOfType<StringAttr>(qt::kScopeAttr))
      error << ", in " << scope.getValue();
    error << ": " << reason;
    result = failure();
  }
  return result;
}

} // namespace qcc
