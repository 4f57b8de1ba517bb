// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/DeviceFunctions.h"

#include "compiler/emit/LaunchCall.h"
#include "dialects/step/Step.h"
#include "runtime/backends/cuda/CompileDeviceCode.h"
#include "runtime/base/CacheFolder.h"

using namespace mlir;

namespace qcc {
namespace {

/// A tensor as the backend sees it.
qrt::cuda::Tensor tensorOf(Value memory) {
  qrt::TensorShape shape = step::tensorShape(cast<MemRefType>(memory.getType()));
  return placedTensor(shape, step::viewOf(memory).offset * qrt::byteSize(shape.dtype), 0);
}

/// The call was planned once, for its workspace, before its memory was: the plan that says what is compiled must not
/// need more.
LogicalResult checkWorkspace(step::LaunchOp launch, const qrt::cuda::KernelPlan &plan) {
  int64_t bytes = 0;
  if (Value workspace = launch.getWorkspace())
    bytes = step::tensorShape(cast<MemRefType>(workspace.getType())).elements() * qrt::byteSize(qrt::DType::F32);
  if (plan.workspaceBytes() > bytes)
    return launch.emitError() << "expected a workspace of at least " << plan.workspaceBytes() << " bytes, got "
                              << bytes;
  return success();
}

} // namespace

FailureOr<DeviceFunctions> compileDeviceFunctions(ModuleOp module, const Target &target,
                                                  const FindDeviceFunction &find) {
  DeviceFunctions result;
  std::map<std::string, DeviceFunction> &functions = result.functions;
  qrt::CubinCache cache(qrt::cacheFolder());
  auto compileOne = [&](Operation *op, const qrt::cuda::DeviceLaunch &launch) -> LogicalResult {
    if (functions.count(launch.function))
      return success();
    if (std::optional<DeviceFunction> found = find ? find(launch.function) : std::nullopt) {
      functions[launch.function] = *std::move(found);
      return success();
    }
    qrt::StatusOr<qrt::Cubin> cubin = qrt::cuda::compileDeviceCode(cache, launch.source, launch.function,
                                                                   {target.name().data(), target.name().size()});
    if (!cubin.ok())
      return op->emitError() << cubin.status().message();
    functions[launch.function] = {std::move(cubin->symbol), std::move(cubin->image)};
    ++result.built;
    return success();
  };
  auto compile = [&](Operation *op, const qrt::cuda::KernelPlan &plan) -> LogicalResult {
    for (const qrt::cuda::DeviceWork &work : plan.works())
      if (const auto *launch = std::get_if<qrt::cuda::DeviceLaunch>(&work))
        if (failed(compileOne(op, *launch)))
          return failure();
    return success();
  };
  for (auto entry : module.getOps<step::EntryOp>()) {
    for (Operation &op : *entry.getBody()) {
      if (auto launch = dyn_cast<step::LaunchOp>(op)) {
        FailureOr<qrt::cuda::KernelPlan> plan = planOnGpu(launch, callOf(launch), target);
        if (failed(plan) || failed(checkWorkspace(launch, *plan)) || failed(compile(launch, *plan)))
          return failure();
        continue;
      }
      qrt::cuda::KernelPlan plan(0);
      qrt::Status status;
      if (auto copy = dyn_cast<step::CopyOp>(op))
        status = qrt::cuda::planCopy(tensorOf(copy.getSource()), tensorOf(copy.getTarget()), plan);
      else if (auto fill = dyn_cast<step::FillOp>(op))
        status = qrt::cuda::planZero(tensorOf(fill.getTarget()), plan);
      if (!status.ok())
        return op.emitError() << status.message();
      if (failed(compile(&op, plan)))
        return failure();
    }
  }
  // For what libraries fill (GraphFills.h): where and how much make no difference to the function.
  if (failed(compileOne(module, qrt::cuda::kernelFill(0, qrt::cuda::kKernelFillUnit))))
    return failure();
  result.compiled = cache.compiled();
  return result;
}

FailureOr<std::string> deviceCompiler(ModuleOp module) {
  qrt::StatusOr<const qrt::Nvrtc *> nvrtc = qrt::Nvrtc::open();
  if (!nvrtc.ok())
    return module.emitError() << nvrtc.status().message();
  return "NVRTC " + (*nvrtc)->version();
}

} // namespace qcc
