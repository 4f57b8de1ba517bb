// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient of causal softmax attention. With P = e^(scale q.k - lse) and dO = dy sigmoid(gate):
//   dV = P' dO; dP = dO V'; delta = rowsum(dO * O); dS = P * (dP - delta); dQ = scale dS K; dK = scale dS' Q
// tile by tile, P and dS never larger than one tile (the transposed forms of AttentionTile.h).
//
// First every tile of queries gets its delta (and lse, if it was not kept). Then a task takes a document and key head
// and makes all three gradients with five products a pair of tiles. Where there are too few of those to occupy the
// threads, tasks are tiles: of keys for dK and dV, of queries for dQ, with seven products. The sums are the same in the
// same order, so the choice changes no bit.
#include "runtime/backends/cpu/AttentionTile.h"

namespace qrt::cpu::QRT_ISA {
namespace {

enum Arg { kDocs, kQ, kK, kV, kGate, kLse, kO, kDY, kDQ, kDK, kDV, kDGate };

/// Products a pair of tiles costs by tiles, over what it costs by documents (7/5, and queries are loaded again and
/// again).
constexpr double kTileTaskCost = 1.5;

struct Shape {
  explicit Shape(const Call &call)
      : tokens(call.args[kQ].shape.dims[0]), heads(call.args[kQ].shape.dims[1]), keyHeads(call.args[kK].shape.dims[1]),
        width(call.args[kQ].shape.dims[2]), longest(call.bucket.longest), ratio(heads / keyHeads),
        widen(call.args[kK].shape.dtype == DType::BF16), rebuild(!call.args[kLse] || !call.args[kO]) {}
  int64_t tokens, heads, keyHeads, width, longest, ratio;
  bool widen;
  /// Whether the forward pass is run again.
  bool rebuild;
};

/// dy, or dy * sigmoid(gate) where there is a gate, of `rows` rows: a tile [rows, padded(width)].
void loadOutputGradient(const Call &call, int64_t head, int64_t row, int64_t rows, float *tile) {
  HeadRows dy(call.args[kDY], head);
  loadTile(dy, row, rows, 0, dy.width, tile, padded(dy.width));
  if (call.args[kGate])
    multiplyBySigmoid(tile, padded(dy.width), {call.args[kGate], head}, row, rows);
}

/// The first phase: lse and delta of every query, [heads, tokens] each, in scratch that all threads share; and dgate.
class QueryStatistics {
public:
  QueryStatistics(const Shape &shape, std::byte *memory)
      : lse_(reinterpret_cast<float *>(memory)), delta_(lse_ + shape.heads * shape.tokens), tokens_(shape.tokens) {}
  static int64_t bytes(const Shape &shape) { return 2 * shape.heads * shape.tokens * int64_t{sizeof(float)}; }

  float *lse(int64_t head, int64_t row) const { return lse_ + head * tokens_ + row; }
  float *delta(int64_t head, int64_t row) const { return delta_ + head * tokens_ + row; }

  struct Scratch {
    Scratch(const Shape &shape, Carver &carver)
        : rows(carver.floats(padded(shape.width))), output(carver.floats(padded(shape.width))),
          forward(shape.rebuild ? shape.width : 0, shape.rebuild && shape.widen, carver) {}
    float *rows, *output;
    AttentionForward forward;
  };

  void compute(const Call &call, const Shape &shape, const QueryTile &tile, int64_t head, Scratch &scratch) const {
    if (shape.rebuild)
      scratch.forward.run(tile, {call.args[kQ], head}, {call.args[kK], head / shape.ratio},
                          {call.args[kV], head / shape.ratio}, static_cast<float>(call.params[0].f));
    int64_t width = shape.width, ld = padded(width);
    for (int64_t i = 0; i < tile.count; ++i) {
      int64_t row = tile.begin + i;
      const float *output = scratch.output;
      if (shape.rebuild)
        output = scratch.forward.output() + i * ld;
      else
        loadTile({call.args[kO], head}, row, 1, 0, width, scratch.output, ld);
      *lse(head, row) = shape.rebuild ? scratch.forward.logSumExp()[i] : HeadRows(call.args[kLse], head).get(row);
      loadOutputGradient(call, head, row, 1, scratch.rows);
      *delta(head, row) = dotRows(scratch.rows, output, ld);
      if (call.args[kDGate]) {
        // d sigmoid(gate) = sigmoid (1 - sigmoid): dgate = dO o sigmoid(-gate).
        QRT_ROW_LOOP
        for (int64_t d = 0; d < ld; ++d)
          scratch.rows[d] *= output[d];
        multiplyBySigmoid(scratch.rows, ld, {call.args[kGate], head}, row, 1, -1.0f);
        storeTile(scratch.rows, ld, 1, width, {call.args[kDGate], head}, row, 0);
      }
    }
  }

private:
  float *lse_, *delta_;
  int64_t tokens_;
};

/// Pairs of a tile of queries and one of keys, on one thread.
class PairGradient {
public:
  PairGradient(const Shape &shape, Carver &carver)
      : width_(shape.width), ld_(padded(width_)), q_(carver.floats(kTile * ld_)), qT_(carver.floats(width_ * kTile)),
        dO_(carver.floats(kTile * ld_)), dOT_(carver.floats(width_ * kTile)), dQT_(carver.floats(width_ * kTile)),
        p_(carver.floats(kTile * kTile)), dS_(carver.floats(kTile * kTile)), lse_(carver.floats(kTile)),
        delta_(carver.floats(kTile)), k_(shape.widen ? carver.floats(kTile * ld_) : nullptr),
        v_(shape.widen ? carver.floats(kTile * ld_) : nullptr) {}

  void loadQueries(const Call &call, const QueryStatistics &statistics, int64_t head, int64_t row, int64_t count) {
    count_ = count;
    scale_ = static_cast<float>(call.params[0].f);
    loadTile({call.args[kQ], head}, row, count, 0, width_, q_, ld_, scale_);
    transpose(count, width_, q_, ld_, qT_, kTile);
    loadOutputGradient(call, head, row, count, dO_);
    transpose(count, width_, dO_, ld_, dOT_, kTile);
    for (int64_t i = 0; i < kTile; ++i) {
      lse_[i] = i < count ? statistics.lse(head, row)[i] : 0.0f;
      delta_[i] = i < count ? statistics.delta(head, row)[i] : 0.0f;
    }
  }

  void loadKeys(const Call &call, int64_t keyHead, int64_t row, int64_t count) {
    keys_ = count;
    kRows_ = leftRows({call.args[kK], keyHead}, row, count, k_);
    vRows_ = leftRows({call.args[kV], keyHead}, row, count, v_);
  }

  /// P and dS of the loaded queries and keys.
  void computeScores(bool diagonal) {
    diagonal_ = diagonal;
    Triangle wanted = diagonal ? Triangle::UpperC : Triangle::None;
    multiply(keys_, count_, width_, kRows_, qT_, kTile, 0.0f, p_, kTile, wanted);
    multiply(keys_, count_, width_, vRows_, dOT_, kTile, 0.0f, dS_, kTile, wanted);
    if (diagonal) {
      maskFuture(p_, keys_, -__builtin_inff());
      maskFuture(dS_, keys_, 0.0f);
    }
    int64_t lanes = padded(count_);
    const float *__restrict lse = lse_, *__restrict delta = delta_;
    for (int64_t j = 0; j < keys_; ++j) {
      float *__restrict p = p_ + j * kTile, *__restrict dS = dS_ + j * kTile;
      QRT_ROW_LOOP
      for (int64_t i = 0; i < lanes; ++i) {
        p[i] = fastExp(p[i] - lse[i]);
        dS[i] = p[i] * (dS[i] - delta[i]);
      }
    }
  }

  /// dK and dV [keys, padded(D)] of the loaded keys: set or added to.
  void addKeyGradients(bool first, float *dK, float *dV) {
    Triangle zeros = diagonal_ ? Triangle::UpperA : Triangle::None;
    float keep = first ? 0.0f : 1.0f;
    multiply(keys_, width_, count_, {p_, kTile}, dO_, ld_, keep, dV, ld_, zeros);
    multiply(keys_, width_, count_, {dS_, kTile}, q_, ld_, keep, dK, ld_, zeros);
  }

  /// dQ^T of the loaded queries: set or added to.
  void addQueryGradient(bool first) {
    multiply(width_, count_, keys_, transposed(kRows_), dS_, kTile, first ? 0.0f : 1.0f, dQT_, kTile,
             diagonal_ ? Triangle::UpperB : Triangle::None);
  }

  /// Writes dQ of the loaded queries; they must be loaded again after this.
  void storeQueryGradient(const Call &call, int64_t head, int64_t row) {
    transpose(width_, count_, dQT_, kTile, q_, ld_);
    storeTile(q_, ld_, count_, width_, {call.args[kDQ], head}, row, 0, scale_);
  }

private:
  int64_t width_, ld_;
  int64_t count_ = 0, keys_ = 0;
  bool diagonal_ = false;
  float scale_ = 1.0f;
  LeftFactor kRows_{}, vRows_{};
  float *q_, *qT_, *dO_, *dOT_, *dQT_, *p_, *dS_, *lse_, *delta_, *k_, *v_;
};

/// A thread's scratch in the second phase: a pair, and dK and dV of `longest` rows (one tile where tasks are tiles).
struct PairScratch {
  PairScratch(const Shape &shape, Carver &carver)
      : pair(shape, carver), dK(carver.floats(shape.longest * padded(shape.width))),
        dV(carver.floats(shape.longest * padded(shape.width))) {}
  PairGradient pair;
  float *dK, *dV;
};

int64_t sharedBytesPerThread(const Call &call, const Shape &shape) {
  int64_t threads = call.threads.size();
  return (QueryStatistics::bytes(shape) + threads * 64 - 1) / (threads * 64) * 64;
}

int64_t ownBytes(const Shape &shape) {
  Carver first(nullptr), second(nullptr);
  QueryStatistics::Scratch statistics(shape, first);
  PairScratch pairs(shape, second);
  return first.bytes() > second.bytes() ? first.bytes() : second.bytes();
}

int64_t scratchBytes(const Call &call) {
  Shape shape(call);
  return sharedBytesPerThread(call, shape) + ownBytes(shape);
}

int64_t keysInTile(const QueryTile &tile, int64_t key) {
  return tile.documentEnd - key < kTile ? tile.documentEnd - key : kTile;
}

/// All gradients of one document and key head.
void documentTask(const Call &call, const Shape &shape, const QueryStatistics &statistics, const QueryTile &last,
                  int64_t keyHead, PairScratch &scratch) {
  PairGradient &pair = scratch.pair;
  int64_t ld = padded(shape.width), begin = last.documentBegin, end = last.documentEnd;
  for (int64_t head = keyHead * shape.ratio; head < (keyHead + 1) * shape.ratio; ++head)
    for (int64_t row = begin; row < end; row += kTile) {
      pair.loadQueries(call, statistics, head, row, keysInTile(last, row));
      for (int64_t key = begin; key <= row; key += kTile) {
        bool diagonal = key == row;
        pair.loadKeys(call, keyHead, key, keysInTile(last, key));
        pair.computeScores(diagonal);
        int64_t at = (key - begin) * ld;
        pair.addKeyGradients(diagonal && head == keyHead * shape.ratio, scratch.dK + at, scratch.dV + at);
        pair.addQueryGradient(key == begin);
      }
      pair.storeQueryGradient(call, head, row);
    }
  storeTile(scratch.dK, ld, end - begin, shape.width, {call.args[kDK], keyHead}, begin, 0);
  storeTile(scratch.dV, ld, end - begin, shape.width, {call.args[kDV], keyHead}, begin, 0);
}

/// dK and dV of one tile of keys.
void keyTileTask(const Call &call, const Shape &shape, const QueryStatistics &statistics, const QueryTile &tile,
                 int64_t keyHead, PairScratch &scratch) {
  PairGradient &pair = scratch.pair;
  int64_t ld = padded(shape.width);
  pair.loadKeys(call, keyHead, tile.begin, tile.count);
  for (int64_t head = keyHead * shape.ratio; head < (keyHead + 1) * shape.ratio; ++head)
    for (int64_t row = tile.begin; row < tile.documentEnd; row += kTile) {
      pair.loadQueries(call, statistics, head, row, keysInTile(tile, row));
      pair.computeScores(row == tile.begin);
      pair.addKeyGradients(row == tile.begin && head == keyHead * shape.ratio, scratch.dK, scratch.dV);
    }
  storeTile(scratch.dK, ld, tile.count, shape.width, {call.args[kDK], keyHead}, tile.begin, 0);
  storeTile(scratch.dV, ld, tile.count, shape.width, {call.args[kDV], keyHead}, tile.begin, 0);
}

/// dQ of one tile of queries.
void queryTileTask(const Call &call, const Shape &shape, const QueryStatistics &statistics, const QueryTile &tile,
                   int64_t head, PairScratch &scratch) {
  PairGradient &pair = scratch.pair;
  pair.loadQueries(call, statistics, head, tile.begin, tile.count);
  for (int64_t key = tile.documentBegin; key <= tile.begin; key += kTile) {
    pair.loadKeys(call, head / shape.ratio, key, keysInTile(tile, key));
    pair.computeScores(key == tile.begin);
    pair.addQueryGradient(key == tile.documentBegin);
  }
  pair.storeQueryGradient(call, head, tile.begin);
}

/// Whether whole documents leave threads idle for so long that tiles, with more arithmetic, are done sooner.
bool tilesAreFaster(const Call &call, const Shape &shape, const Segments &docs) {
  auto cost = [](int64_t tokens) {
    double tiles = static_cast<double>((tokens + kTile - 1) / kTile);
    return tiles * (tiles + 1);
  };
  double total = 0, largest = 0;
  for (int64_t d = 0; d < docs.documents(); ++d) {
    double c = cost(docs.end(d) - docs.begin(d));
    total += c;
    largest = c > largest ? c : largest;
  }
  int64_t threads = call.threads.size();
  double even = total * static_cast<double>(shape.keyHeads) / static_cast<double>(threads);
  // The documents of the largest size alone: at least one, for all key heads.
  double rounds = static_cast<double>((shape.keyHeads + threads - 1) / threads);
  double byDocuments = largest * rounds > even ? largest * rounds : even;
  return byDocuments > kTileTaskCost * even;
}

void run(const Call &call) {
  Segments docs = call.segments(kDocs);
  Shape shape(call);
  QueryStatistics statistics(shape, call.scratch);
  std::byte *own = call.scratch + sharedBytesPerThread(call, shape) * call.threads.size();
  int64_t ownStride = ownBytes(shape);
  int64_t tiles = docs.tiles(), tileHeads = tiles * shape.heads;

  call.threads.forEach(tileHeads + tailBlocks(docs), [&](int64_t task, int thread) {
    if (task >= tileHeads) {
      for (int arg : {kDQ, kDK, kDV, kDGate})
        zeroTailBlock(docs, task - tileHeads, call.args[arg]);
      return;
    }
    Carver carver(own + thread * ownStride);
    QueryStatistics::Scratch scratch(shape, carver);
    statistics.compute(call, shape, {docs, docs.tileStart(task / shape.heads)}, task % shape.heads, scratch);
  });

  int64_t keyTasks = tiles * shape.keyHeads;
  if (tilesAreFaster(call, shape, docs)) {
    call.threads.forEach(keyTasks + tileHeads, [&](int64_t task, int thread) {
      Carver carver(own + thread * ownStride);
      PairScratch scratch(shape, carver);
      if (task < keyTasks)
        keyTileTask(call, shape, statistics, {docs, docs.tileStart(task / shape.keyHeads)}, task % shape.keyHeads,
                    scratch);
      else
        queryTileTask(call, shape, statistics, {docs, docs.tileStart((task - keyTasks) / shape.heads)},
                      (task - keyTasks) % shape.heads, scratch);
    });
    return;
  }
  // Tiles come with the most keys first, so the last tiles of the documents come with the longest document first.
  call.threads.forEach(keyTasks, [&](int64_t task, int thread) {
    QueryTile tile(docs, docs.tileStart(task / shape.keyHeads));
    if (tile.begin + tile.count < tile.documentEnd)
      return;
    Carver carver(own + thread * ownStride);
    PairScratch scratch(shape, carver);
    documentTask(call, shape, statistics, tile, task % shape.keyHeads, scratch);
  });
}

} // namespace

const KernelImpl kAttentionGrad = {run, scratchBytes};

} // namespace qrt::cpu::QRT_ISA
