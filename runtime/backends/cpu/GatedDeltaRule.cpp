// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gated delta rule of every document (docs/model.md, Gated DeltaNet 6), chunk after chunk, the state in the cache.
// A task has one document and key head, and some columns of the values of its value heads: columns of V, O and S never
// meet, so the way they are split changes no bit.
#include "runtime/backends/cpu/GatedDeltaChunk.h"

namespace qrt::cpu::QRT_ISA {
namespace {

enum Arg { kDocs, kQ, kK, kV, kG, kBeta, kOut, kInverse };

/// Columns of a value head below which splitting costs more than it gains: the products of keys are made by every part.
constexpr int64_t kLeastColumns = 32;
/// Tasks a thread should find on average, so that documents of unequal lengths still end together.
constexpr int64_t kTasksPerThread = 3;

/// How the work of a (document, key head) is cut: into groups of value heads, or into columns of one value head.
struct Split {
  Split(const DeltaShape &shape, int64_t documents, int threads) : heads(shape.ratio), columns(shape.dv) {
    int64_t wanted = kTasksPerThread * threads;
    auto tasks = [&] { return documents * shape.keyHeads * parts(shape); };
    if (tasks() < wanted)
      heads = 1;
    while (tasks() < wanted && columns > kLeastColumns)
      columns = padded((columns + 1) / 2);
  }
  int64_t columnParts(const DeltaShape &shape) const { return (shape.dv + columns - 1) / columns; }
  int64_t parts(const DeltaShape &shape) const { return shape.ratio / heads * columnParts(shape); }

  /// Value heads of a task (a divisor of the ratio), and columns of each (dv, or a multiple of kPad).
  int64_t heads, columns;
};

struct Scratch {
  Scratch(const DeltaShape &shape, Carver &carver)
      : keys(shape, carver), gates(carver), inverse(carver.floats(kChunk * kChunk)), p(carver.floats(kChunk * kChunk)),
        ks(carver.floats(2 * kChunk * padded(shape.dv))), values(carver.floats(kChunk * padded(shape.dv))),
        toEndKeys(carver.floats(kChunk * shape.ldk)), states(carver.floats(shape.ratio * shape.dk * padded(shape.dv))) {
  }
  ChunkKeys keys;
  ChunkGates gates;
  float *inverse, *p;
  /// K S above Q S, then X above O.
  float *ks;
  /// V, then V'.
  float *values;
  /// e^(gamma_C - gamma) K.
  float *toEndKeys;
  float *states;
};

int64_t scratchBytes(const Call &call) {
  Carver carver(nullptr);
  Scratch scratch({call.args[kQ], call.args[kV]}, carver);
  return carver.bytes();
}

struct Task {
  const Call &call;
  const DeltaShape &shape;
  /// Columns [col, col + cols) of the values.
  int64_t col, cols;
  float scale;
};

/// One chunk of one value head. `state` [dk, padded(cols)] goes in (unless first) and out (unless last).
void runChunk(const Task &task, int64_t head, int64_t row, int64_t n, bool first, bool last, float *state, Scratch &s) {
  const Call &call = task.call;
  const DeltaShape &shape = task.shape;
  int64_t cols = task.cols, ld = padded(cols);
  ChunkGates &gates = s.gates;
  gates.load({call.args[kG], head}, {call.args[kBeta], head}, row, n);
  invertChunk(s.keys.kk, gates.beta, n, s.inverse);
  if (call.args[kInverse] && task.col == 0)
    storeTile(s.inverse, kChunk, n, kChunk, {call.args[kInverse], head}, row, 0);
  multiplyElements(s.inverse, gates.d, n);
  for (int64_t i = 0; i < n * kChunk; ++i)
    s.p[i] = s.keys.qk[i] * gates.d[i];

  loadTile({call.args[kV], head}, row, n, task.col, cols, s.values, ld);
  float *x = s.ks, *out = s.ks + n * ld;
  if (!first)
    multiply(2 * n, cols, shape.dk, {s.keys.keysAndQueries, shape.ldk}, state, ld, 0.0f, s.ks, ld);
  for (int64_t i = 0; i < n; ++i) {
    float beta = gates.beta[i], decay = gates.decay[i];
    const float *__restrict v = s.values + i * ld;
    float *__restrict xRow = x + i * ld, *__restrict outRow = out + i * ld;
    if (first) {
      QRT_ROW_LOOP
      for (int64_t j = 0; j < ld; ++j)
        xRow[j] = beta * v[j];
    } else {
      QRT_ROW_LOOP
      for (int64_t j = 0; j < ld; ++j) {
        xRow[j] = beta * (v[j] - decay * xRow[j]);
        outRow[j] *= decay;
      }
    }
  }
  multiply(n, cols, n, {s.inverse, kChunk}, x, ld, 0.0f, s.values, ld, Triangle::LowerA);
  multiply(n, cols, n, {s.p, kChunk}, s.values, ld, first ? 0.0f : 1.0f, out, ld, Triangle::LowerA);
  storeTile(out, ld, n, cols, {call.args[kOut], head}, row, task.col);
  if (last)
    return;
  for (int64_t i = 0; i < n; ++i) {
    float toEnd = gates.toEnd[i];
    QRT_ROW_LOOP
    for (int64_t d = 0; d < shape.dk; ++d)
      s.toEndKeys[i * shape.ldk + d] = toEnd * s.keys.keys[i * shape.ldk + d];
  }
  multiply(shape.dk, cols, n, {s.toEndKeys, shape.ldk, true}, s.values, ld, first ? 0.0f : gates.total, state, ld);
}

void run(const Call &call) {
  Segments docs = call.segments(kDocs);
  DeltaShape shape(call.args[kQ], call.args[kV]);
  Split split(shape, docs.documents(), call.threads.size());
  int64_t parts = split.parts(shape), columnParts = split.columnParts(shape);
  // Tiles come with the most keys first, so the last tiles of the documents come with the longest document first.
  int64_t perTile = shape.keyHeads * parts, tasks = docs.tiles() * perTile;

  call.threads.forEach(tasks + tailBlocks(docs), [&](int64_t index, int thread) {
    if (index >= tasks) {
      zeroTailBlock(docs, index - tasks, call.args[kOut]);
      zeroTailBlock(docs, index - tasks, call.args[kInverse]);
      return;
    }
    int64_t tile = docs.tileStart(index / perTile), document = docs.document(tile);
    int64_t begin = docs.begin(document), end = docs.end(document);
    if (tile + kTileTokens < end)
      return;
    int64_t keyHead = index % perTile / parts, part = index % parts;
    int64_t col = part % columnParts * split.columns;
    int64_t firstHead = keyHead * shape.ratio + part / columnParts * split.heads;
    Task task{call, shape, col, shape.dv - col < split.columns ? shape.dv - col : split.columns,
              static_cast<float>(call.params[0].f)};
    Carver carver(call.threadScratch<std::byte>(thread));
    Scratch scratch(shape, carver);
    for (int64_t row = begin; row < end; row += kChunk) {
      int64_t n = end - row < kChunk ? end - row : kChunk;
      scratch.keys.load(shape, {call.args[kQ], keyHead}, {call.args[kK], keyHead}, row, n, task.scale);
      scratch.keys.computeProducts(shape, n);
      for (int64_t h = 0; h < split.heads; ++h)
        runChunk(task, firstHead + h, row, n, row == begin, row + n == end,
                 scratch.states + h * shape.dk * padded(task.cols), scratch);
    }
  });
}

} // namespace

const KernelImpl kGatedDeltaRule = {run, scratchBytes};

} // namespace qrt::cpu::QRT_ISA
