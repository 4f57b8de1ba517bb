// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Gemm.h"

#include <cassert>

#include <dnnl.h>

extern "C" void omp_set_num_threads(int);

namespace qrt::cpu {
namespace {

/// oneDNN would start threads of its own under each of ours: the setting is one of the calling thread.
void makeSequential() {
  static thread_local bool done = false;
  if (!done)
    omp_set_num_threads(1);
  done = true;
}

void check([[maybe_unused]] dnnl_status_t status) { assert(status == dnnl_success && "oneDNN refused a call"); }

} // namespace

void sgemm(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
           const float *b, int64_t ldb, float beta, float *c, int64_t ldc) {
  makeSequential();
  check(dnnl_sgemm(transposeA ? 'T' : 'N', transposeB ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}

} // namespace qrt::cpu
