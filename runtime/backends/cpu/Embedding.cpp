// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cpu/Rows.h"

namespace qrt::cpu::QRT_ISA {

static void runEmbedding(const Call &call) {
  Segments docs = call.segments(0);
  const int32_t *ids = call.args[1].as<const int32_t>();
  Rows weight(call.args[2]), out(call.args[3]);
  forRows(call.threads, out.count(), out.cols(), [&](int64_t token, int) {
    if (docs.document(token) < 0) {
      out.zero(token, 0, out.cols());
      return;
    }
    assert(ids[token] >= 0 && ids[token] < weight.count() && "an id outside the vocabulary");
    out.copyRow(token, weight, ids[token]);
  });
}
const KernelImpl kEmbedding = {runEmbedding};

// `order` lists the tokens of each id together, so a task that owns a range of ids owns their rows of the result: no
// two tasks add to one row.
static void runEmbeddingGrad(const Call &call) {
  Segments docs = call.segments(0);
  const int32_t *ids = call.args[1].as<const int32_t>(), *order = call.args[2].as<const int32_t>();
  Rows dout(call.args[3]), dweight(call.args[4]);
  bool accumulate = call.accumulates(4);
  int64_t cols = dweight.cols(), vocabulary = dweight.count(), tokens = docs.tokens();
  constexpr int64_t kIds = 64;
  call.threads.forEach((vocabulary + kIds - 1) / kIds, [&](int64_t task, int) {
    int64_t first = task * kIds, last = first + kIds < vocabulary ? first + kIds : vocabulary;
    // The first token in order whose id is not below the range.
    int64_t low = 0, high = tokens;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (ids[order[middle]] < first)
        low = middle + 1;
      else
        high = middle;
    }
    int64_t begin = low;
    for (int64_t id = first; id < last; ++id) {
      int64_t end = begin;
      while (end < tokens && ids[order[end]] == id)
        ++end;
      if (begin == end) {
        if (!accumulate)
          dweight.zero(id, 0, cols);
        continue;
      }
      forBlocks(cols, [&](int64_t col, int64_t n) {
        Buffer sumBuffer, doutBuffer;
        float *sums = sumBuffer.values;
        if (accumulate) {
          const float *old = dweight.read(id, col, n, doutBuffer);
          for (int64_t i = 0; i < n; ++i)
            sums[i] = old[i];
        } else {
          for (int64_t i = 0; i < n; ++i)
            sums[i] = 0;
        }
        for (int64_t at = begin; at < end; ++at) {
          const float *d = dout.read(order[at], col, n, doutBuffer);
          for (int64_t i = 0; i < n; ++i)
            sums[i] += d[i];
        }
        dweight.write(id, col, n, sums);
      });
      begin = end;
    }
  });
}
const KernelImpl kEmbeddingGrad = {runEmbeddingGrad};

} // namespace qrt::cpu::QRT_ISA
