// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/LaunchCall.h"

using namespace mlir;

namespace qcc {

KernelCall callOf(step::LaunchOp launch) {
  KernelCall call;
  call.kernel = launch.getKernel();
  for (auto [i, value] : llvm::enumerate(launch.getCallArguments())) {
    qrt::ArgEffect effect = step::argEffect(launch.getEffect(i));
    if (value)
      call.addArgument(effect, step::tensorShape(cast<MemRefType>(value.getType())), step::viewOf(value).offset);
    else
      call.addAbsent(effect);
  }
  for (int64_t param : launch.getParams())
    call.params.push_back(qrt::ParamValue{.i = param});
  if (const qrt::Expression *expression = launch.getExpressionOrNull())
    call.expression = *expression;
  if (ArrayRef<int64_t> b = cast<step::EntryOp>(launch->getParentOp()).getBucket(); b.size() == 4)
    call.bucket = {b[0], b[1], b[2], b[3]};
  return call;
}

} // namespace qcc
