// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trained rows, out of all tokens and back.
#include "runtime/backends/cpu/Rows.h"
#include "runtime/base/IgnoredLabel.h"

namespace qrt::cpu::QRT_ISA {

static void runGatherRows(const Call &call) {
  Segments docs = call.segments(0);
  const Tensor &x = call.args[1], &out = call.args[2];
  int64_t trained = docs.trained();
  if (x.shape.dtype == DType::I32) {
    // Labels.
    for (int64_t r = 0; r < out.shape.dims[0]; ++r)
      out.as<int32_t>()[r] = r < trained ? x.as<const int32_t>()[docs.trainedRow(r)] : kIgnoredLabel;
    return;
  }
  Rows from(x), to(out);
  forRows(call.threads, to.count(), to.cols(), [&](int64_t row, int) {
    if (row < trained)
      to.copyRow(row, from, docs.trainedRow(row));
    else
      to.zero(row, 0, to.cols());
  });
}
const KernelImpl kGatherRows = {runGatherRows};

static void runScatterRows(const Call &call) {
  Segments docs = call.segments(0);
  Rows dout(call.args[1]), dx(call.args[2]);
  constexpr int64_t kTokens = 32;
  int64_t tokens = dx.count(), trained = docs.trained();
  call.threads.forEach((tokens + kTokens - 1) / kTokens, [&](int64_t task, int) {
    int64_t token = task * kTokens, end = token + kTokens < tokens ? token + kTokens : tokens;
    // Trained rows ascend: the first that is not before this task's tokens.
    int64_t low = 0, high = trained;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (docs.trainedRow(middle) < token)
        low = middle + 1;
      else
        high = middle;
    }
    for (int64_t row = low; token < end; ++token) {
      if (row < trained && docs.trainedRow(row) == token)
        dx.copyRow(token, dout, row++);
      else
        dx.zero(token, 0, dx.cols());
    }
  });
}
const KernelImpl kScatterRows = {runScatterRows};

} // namespace qrt::cpu::QRT_ISA
