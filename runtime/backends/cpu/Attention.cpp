// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal softmax attention inside each document (docs/model.md, Full attention 4 and 5), a task for each tile of
// queries and head.
#include "runtime/backends/cpu/AttentionTile.h"

namespace qrt::cpu::QRT_ISA {
namespace {

enum Arg { kDocs, kQ, kK, kV, kGate, kY, kLse, kO };

AttentionForward makeForward(const Call &call, Carver &carver) {
  return {call.args[kQ].shape.dims[2], call.args[kK].shape.dtype == DType::BF16, carver};
}

int64_t scratchBytes(const Call &call) {
  Carver carver(nullptr);
  makeForward(call, carver);
  return carver.bytes();
}

void run(const Call &call) {
  Segments docs = call.segments(kDocs);
  const Tensor &q = call.args[kQ], &k = call.args[kK], &v = call.args[kV], &gate = call.args[kGate];
  const Tensor &y = call.args[kY], &lse = call.args[kLse], &o = call.args[kO];
  int64_t heads = q.shape.dims[1], width = q.shape.dims[2], ratio = heads / k.shape.dims[1];
  float scale = static_cast<float>(call.params[0].f);
  int64_t tasks = docs.tiles() * heads;

  call.threads.forEach(tasks + tailBlocks(docs), [&](int64_t task, int thread) {
    if (task >= tasks) {
      for (const Tensor *out : {&y, &lse, &o})
        zeroTailBlock(docs, task - tasks, *out);
      return;
    }
    Carver carver(call.threadScratch<std::byte>(thread));
    AttentionForward forward = makeForward(call, carver);
    QueryTile tile(docs, docs.tileStart(task / heads));
    int64_t head = task % heads;
    forward.run(tile, {q, head}, {k, head / ratio}, {v, head / ratio}, scale);
    if (lse) {
      HeadRows to(lse, head);
      for (int64_t i = 0; i < tile.count; ++i)
        to.set(tile.begin + i, forward.logSumExp()[i]);
    }
    if (o)
      storeTile(forward.output(), padded(width), tile.count, width, {o, head}, tile.begin, 0);
    if (gate)
      multiplyBySigmoid(forward.output(), padded(width), {gate, head}, tile.begin, tile.count);
    storeTile(forward.output(), padded(width), tile.count, width, {y, head}, tile.begin, 0);
  });
}

} // namespace

const KernelImpl kAttention = {run, scratchBytes};

} // namespace qrt::cpu::QRT_ISA
