// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Rows.h"

namespace qrt::cpu::QRT_ISA {

static void runAdd(const Call &call) {
  Rows sum(call.args[0]), term(call.args[1]);
  forRows(call.threads, sum.count(), sum.cols(), [&](int64_t row, int) {
    forBlocks(sum.cols(), [&](int64_t col, int64_t n) {
      Buffer sumBuffer, termBuffer;
      // What is read lies where it is written: in memory, or in the buffer.
      sum.read(row, col, n, sumBuffer);
      float *__restrict values = sum.open(row, col, sumBuffer);
      const float *__restrict terms = term.read(row, col, n, termBuffer);
      for (int64_t i = 0; i < n; ++i)
        values[i] += terms[i];
      sum.commit(row, col, n, sumBuffer);
    });
  });
}
const KernelImpl kAdd = {runAdd};

} // namespace qrt::cpu::QRT_ISA
