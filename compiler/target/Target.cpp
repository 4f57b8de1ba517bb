// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/target/Target.h"

#include "compiler/Kernels.h"
#include "compiler/Scope.h"
#include "runtime/base/Digits.h"
#include "runtime/base/SegmentTable.h"
#include "runtime/kernels/Signature.h"
#include "runtime/program/Memory.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace qcc {

FailureOr<Target> findTarget(Location location, qt::Target kind, StringRef disabledKernel) {
  Target target{kind, std::nullopt};
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
    if (auto add = dyn_cast<qt::AddOp>(op); add && add.getLhs().getType() != add.getRhs().getType())
      return "kernel add repeats no operand";
    return "";
  }
  if (isComputed(op) || needsNoKernel(op))
    return "";
  return "the catalog has none, and no compound op or cluster took it in";
}

/// The line of the file that an op comes from; 0 if it comes from none.
static unsigned lineOf(Operation *op) {
  auto line = op->getLoc()->findInstanceOf<FileLineColLoc>();
  return line ? line.getLine() : 0;
}

LogicalResult checkKernels(ArrayRef<func::FuncOp> functions, const Target &target) {
  // The ops that lack one thing, in the order of the program. Entry functions have most of them in common: an op of the
  // model counts once, by its place in the file and in the model.
  llvm::MapVector<std::pair<OperationName, StringAttr>, llvm::MapVector<std::pair<Location, StringRef>, Operation *>>
      missing;
  for (func::FuncOp function : functions)
    for (Operation &op : function.getOps())
      if (std::string reason = whyNot(&op, target); !reason.empty())
        missing[{op.getName(), StringAttr::get(op.getContext(), reason)}].insert({{op.getLoc(), scopeOf(&op)}, &op});
  for (auto &[what, places] : missing) {
    // The model's first layer first, for adjoints too.
    SmallVector<Operation *> ops = llvm::to_vector(llvm::make_second_range(places));
    llvm::stable_sort(ops, [](Operation *a, Operation *b) { return lineOf(a) < lineOf(b); });
    Operation *first = ops.front(), *last = ops.back();
    InFlightDiagnostic error = first->emitError() << "no kernel for '" << what.first << "' on target " << target.name()
                                                  << (scopeOf(first).empty() ? "" : ", in ") << scopeOf(first) << ": "
                                                  << what.second.getValue();
    int64_t more = static_cast<int64_t>(ops.size()) - 1;
    if (more == 0)
      continue;
    Diagnostic &note = error.attachNote(last->getLoc()) << "and for " << qrt::countOf(more, "more op");
    if (!scopeOf(last).empty())
      note << (more > 1 ? ", the last in " : ", in ") << scopeOf(last);
  }
  return success(missing.empty());
}

FailureOr<CallNeeds> planCall(Operation *op, const KernelCall &call, const Target &target) {
  if (target.kind == qt::Target::Cpu)
    // The CPU backend has every kernel of the catalog, for all shapes; its build fails where one is missing.
    return CallNeeds{qrt::cpuWorkspaceBytes(call.kernel, call.shapes), {}};
  FailureOr<qrt::cuda::KernelPlan> plan = planOnGpu(op, call, target);
  if (failed(plan))
    return failure();
  return CallNeeds{plan->workspaceBytes(), SmallVector<int>(ArrayRef<int>(plan->ignored()))};
}

int64_t overheadBytes(const Target &target) {
  constexpr int64_t kMostCode = int64_t{16} << 20;
  return qrt::deviceOverhead(target.name(), kMostCode).total();
}

qrt::cuda::Tensor placedTensor(const qrt::TensorShape &shape, int64_t offset, size_t place) {
  constexpr uint64_t kApart = uint64_t{1} << 40;
  return {shape, kApart * (place + 1) + static_cast<uint64_t>(offset)};
}

/// Fills the plan of a call with addresses of no meaning.
static qrt::Status planGpuCall(const KernelCall &call, qrt::cuda::KernelPlan &plan) {
  SmallVector<qrt::cuda::Tensor> args;
  for (auto [i, shape] : llvm::enumerate(call.shapes))
    args.push_back(shape ? placedTensor(*shape, call.offsets[i], i + 1) : qrt::cuda::Tensor());
  return qrt::cuda::planKernel({call.kernel, args, call.effects, call.params, call.bucket, {}, call.expressionOrNull()},
                               plan);
}

FailureOr<qrt::cuda::KernelPlan> planOnGpu(Operation *op, const KernelCall &call, const Target &target) {
  qrt::cuda::KernelPlan plan(placedTensor({}, 0, 0).data);
  if (qrt::Status status = planGpuCall(call, plan); !status.ok())
    return op->emitError() << "no kernel on target " << target.name() << ": " << status.message();
  return plan;
}

/// The call in a bucket of another number of documents, whose segment tables have another size.
static KernelCall withDocuments(KernelCall call, int64_t documents) {
  call.bucket.documents = documents;
  const qrt::KernelInfo &info = qrt::kernelInfo(call.kernel);
  for (auto [i, shape] : llvm::enumerate(call.shapes))
    if (shape && qrt::indexKind(info.arg(i), shape->dtype) == qrt::IndexKind::Segments)
      shape = qrt::denseShape(shape->dtype, std::array{qrt::SegmentLayout{call.bucket}.size()});
  return call;
}

int64_t documentBytes(const KernelCall &call, const Target &target) {
  if (target.kind == qt::Target::Cpu || call.bucket.documents <= 1)
    return 0;
  auto workspaceOf = [&](int64_t documents) -> std::optional<int64_t> {
    qrt::cuda::KernelPlan plan(placedTensor({}, 0, 0).data);
    if (!planGpuCall(withDocuments(call, documents), plan).ok())
      return std::nullopt;
    return plan.workspaceBytes();
  };
  std::optional<int64_t> many = workspaceOf(call.bucket.documents), one = workspaceOf(1);
  return many && one ? *many - *one : 0;
}

} // namespace qcc
