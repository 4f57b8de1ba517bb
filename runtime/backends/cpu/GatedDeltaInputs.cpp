// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the delta rule reads (docs/model.md, Gated DeltaNet 2 to 5), and the gradient of it. Channels are worked on a
// head at a time, since the norm of a query or key joins the channels of its head. The gradients of the weights are
// sums over all tokens: a task has one head (or a few gates) and every token, in blocks of fixed order.
#include "runtime/backends/cpu/Tiles.h"

namespace qrt::cpu::QRT_ISA {
namespace {

/// Rows of a block.
constexpr int64_t kRows = 64;
/// Value heads of a task of the gates' gradient.
constexpr int64_t kGateHeads = 16;

struct Shape {
  Shape(const Tensor &q, const Tensor &v, const Tensor &weight)
      : keyHeads(q.shape.dims[1]), valueHeads(v.shape.dims[1]), dk(q.shape.dims[2]), dv(v.shape.dims[2]),
        taps(weight.shape.dims[2]), widest(padded(dk > dv ? dk : dv)) {}
  /// Heads of q, of k and of v, in the order of their channels.
  int64_t heads() const { return 2 * keyHeads + valueHeads; }
  int64_t keyHeads, valueHeads, dk, dv, taps;
  /// Row length of the tiles.
  int64_t widest;
};

/// One head of q, k or v.
struct Section {
  Section(const Shape &shape, int64_t head) {
    part = head < shape.keyHeads ? 0 : head < 2 * shape.keyHeads ? 1 : 2;
    this->head = head - part * shape.keyHeads;
    width = part == 2 ? shape.dv : shape.dk;
    channel = part * shape.keyHeads * shape.dk + this->head * width;
    normalized = part < 2;
  }
  /// 0: q, 1: k, 2: v.
  int part;
  int64_t head;
  /// Its channels are [channel, channel + width).
  int64_t channel, width;
  bool normalized;
};

/// The convolution's input and weights for a section.
struct Convolution {
  Convolution(const Shape &shape, Carver &carver)
      : taps(shape.taps), ld(shape.widest), weights(carver.floats(taps * ld)),
        input(carver.floats((kRows + taps - 1) * ld)) {}

  /// weights [taps, ld] from [C, 1, taps].
  void loadWeights(const Tensor &weight, const Section &section) {
    cols = padded(section.width);
    for (int64_t j = 0; j < taps; ++j)
      for (int64_t c = 0; c < cols; ++c)
        weights[j * ld + c] = 0.0f;
    for (int64_t c = 0; c < section.width; ++c) {
      HeadRows taps1(weight, 0);
      for (int64_t j = 0; j < taps; ++j)
        weights[j * ld + c] =
            taps1.bf16 ? toFloat(taps1.b16(section.channel + c)[j]) : taps1.f32(section.channel + c)[j];
    }
  }

  /// input [taps - 1 + rows, ld]: the rows from `row`, and the taps - 1 rows before, zeros where those are not in the
  /// document.
  void loadInput(const Tensor &qkv, const Section &section, int64_t row, int64_t rows, int64_t documentBegin) {
    int64_t before = row - documentBegin < taps - 1 ? row - documentBegin : taps - 1;
    int64_t missing = taps - 1 - before;
    __builtin_memset(input, 0, missing * ld * sizeof(float));
    loadTile(HeadRows(qkv, section.channel), row - before, rows + before, 0, section.width, input + missing * ld, ld);
  }

  /// out [cols] = the convolution of row `i` of the loaded rows.
  void apply(int64_t i, float *out) const {
    for (int64_t c = 0; c < cols; c += kPad) {
      Lanes sum = {};
      for (int64_t j = 0; j < taps; ++j)
        sum += loadLanes(weights + j * ld + c) * loadLanes(input + (i + j) * ld + c);
      storeLanes(out + c, sum);
    }
  }

  /// out [cols] = the gradient of row `i` of the loaded rows; `d` [.., ld] is the output's gradient, its row 0 that of
  /// the first row.
  void applyTransposed(const float *d, int64_t i, float *out) const {
    for (int64_t c = 0; c < cols; c += kPad) {
      Lanes sum = {};
      for (int64_t j = 0; j < taps; ++j)
        sum += loadLanes(weights + j * ld + c) * loadLanes(d + (i + taps - 1 - j) * ld + c);
      storeLanes(out + c, sum);
    }
  }

  /// totals [taps, ld] += the weights' gradient from `rows` loaded rows.
  void addWeightGradient(const float *d, int64_t rows, double *totals) const {
    constexpr int64_t kTapsAtOnce = 4;
    for (int64_t c = 0; c < cols; c += kPad)
      for (int64_t j = 0; j < taps; j += kTapsAtOnce) {
        if (taps - j >= kTapsAtOnce)
          addTaps<kTapsAtOnce>(d + c, rows, j, c, totals);
        else
          for (int64_t rest = j; rest < taps; ++rest)
            addTaps<1>(d + c, rows, rest, c, totals);
      }
  }

  int64_t taps, ld, cols = 0;
  float *weights, *input;

private:
  template <int Taps> void addTaps(const float *d, int64_t rows, int64_t tap, int64_t c, double *totals) const {
    Lanes sums[Taps] = {};
    const float *x = input + tap * ld + c;
    for (int64_t i = 0; i < rows; ++i) {
      Lanes here = loadLanes(d + i * ld);
      for (int j = 0; j < Taps; ++j)
        sums[j] += here * loadLanes(x + (i + j) * ld);
    }
    for (int j = 0; j < Taps; ++j)
      for (int64_t lane = 0; lane < kPad; ++lane)
        totals[(tap + j) * ld + c + lane] += static_cast<double>(sums[j][lane]);
  }
};

float reciprocalNorm(const float *x, int64_t cols, float eps) {
  return 1.0f / __builtin_sqrtf(dotRows(x, x, cols) + eps);
}

namespace forward {

enum Arg { kDocs, kQkv, kB, kA, kConvWeight, kALog, kDtBias, kQ, kK, kV, kG, kBeta };

Shape shapeOf(const Call &call) { return {call.args[kQ], call.args[kV], call.args[kConvWeight]}; }

struct Scratch {
  Scratch(const Shape &shape, Carver &carver)
      : convolution(shape, carver), output(carver.floats(kRows * shape.widest)), rate(carver.floats(shape.valueHeads)),
        bias(carver.floats(shape.valueHeads)), gate(carver.floats(shape.valueHeads)) {}
  Convolution convolution;
  float *output;
  /// -e^a_log, dt_bias, and a row of a or b.
  float *rate, *bias, *gate;
};

int64_t scratchBytes(const Call &call) {
  Carver carver(nullptr);
  Scratch scratch(shapeOf(call), carver);
  return carver.bytes();
}

void channels(const Call &call, const Section &section, int64_t row, int64_t rows, int64_t documentBegin, float eps,
              Scratch &s) {
  Convolution &convolution = s.convolution;
  convolution.loadInput(call.args[kQkv], section, row, rows, documentBegin);
  int64_t cols = convolution.cols;
  for (int64_t i = 0; i < rows; ++i) {
    float *__restrict out = s.output + i * convolution.ld;
    convolution.apply(i, out);
    QRT_ROW_LOOP
    for (int64_t c = 0; c < cols; ++c)
      out[c] = fastSilu(out[c]);
    if (!section.normalized)
      continue;
    float norm = reciprocalNorm(out, cols, eps);
    QRT_ROW_LOOP
    for (int64_t c = 0; c < cols; ++c)
      out[c] *= norm;
  }
  const int outputs[] = {kQ, kK, kV};
  storeTile(s.output, convolution.ld, rows, section.width, {call.args[outputs[section.part]], section.head}, row, 0);
}

void gates(const Call &call, const Shape &shape, int64_t row, int64_t rows, Scratch &s) {
  int64_t heads = shape.valueHeads;
  for (int64_t h = 0; h < heads; ++h) {
    s.rate[h] = -fastExp(HeadRows(call.args[kALog], 0).get(h));
    s.bias[h] = HeadRows(call.args[kDtBias], 0).get(h);
  }
  float *__restrict gate = s.gate;
  for (int64_t t = row; t < row + rows; ++t) {
    loadTile({call.args[kA], 0}, t, 1, 0, heads, gate, heads);
    QRT_ROW_LOOP
    for (int64_t h = 0; h < heads; ++h)
      gate[h] = s.rate[h] * fastSoftplus(gate[h] + s.bias[h]);
    storeTile(gate, heads, 1, heads, {call.args[kG], 0}, t, 0);
    loadTile({call.args[kB], 0}, t, 1, 0, heads, gate, heads);
    QRT_ROW_LOOP
    for (int64_t h = 0; h < heads; ++h)
      gate[h] = fastSigmoid(gate[h]);
    storeTile(gate, heads, 1, heads, {call.args[kBeta], 0}, t, 0);
  }
}

void run(const Call &call) {
  Segments docs = call.segments(kDocs);
  Shape shape = shapeOf(call);
  float eps = static_cast<float>(call.params[0].f);
  int64_t perBlock = shape.heads() + 1, tasks = (docs.tokens() + kRows - 1) / kRows * perBlock;
  call.threads.forEach(tasks + tailBlocks(docs), [&](int64_t task, int thread) {
    if (task >= tasks) {
      for (int arg : {kQ, kK, kV, kG, kBeta})
        zeroTailBlock(docs, task - tasks, call.args[arg]);
      return;
    }
    Carver carver(call.threadScratch<std::byte>(thread));
    Scratch scratch(shape, carver);
    int64_t row = task / perBlock * kRows, head = task % perBlock;
    int64_t end = row + kRows < docs.tokens() ? row + kRows : docs.tokens();
    if (head == shape.heads()) {
      gates(call, shape, row, end - row, scratch);
      return;
    }
    Section section(shape, head);
    scratch.convolution.loadWeights(call.args[kConvWeight], section);
    while (row < end) {
      int64_t document = docs.document(row);
      int64_t runEnd = docs.end(document) < end ? docs.end(document) : end;
      channels(call, section, row, runEnd - row, docs.begin(document), eps, scratch);
      row = runEnd;
    }
  });
}

} // namespace forward

namespace backward {

enum Arg {
  kDocs,
  kQkv,
  kB,
  kA,
  kConvWeight,
  kALog,
  kDtBias,
  kDQ,
  kDK,
  kDV,
  kDG,
  kDBeta,
  kDQkv,
  kDB,
  kDA,
  kDConvWeight,
  kDALog,
  kDDtBias
};

Shape shapeOf(const Call &call) { return {call.args[kDQ], call.args[kDV], call.args[kConvWeight]}; }

struct Scratch {
  Scratch(const Shape &shape, Carver &carver)
      : convolution(shape, carver), convolved(carver.floats(shape.widest)), sigmoid(carver.floats(shape.widest)),
        silu(carver.floats(shape.widest)), dConvolved(carver.floats((kRows + shape.taps - 1) * shape.widest)),
        dInput(carver.floats(kRows * shape.widest)),
        totals(reinterpret_cast<double *>(carver.floats(2 * shape.taps * shape.widest))) {}
  Convolution convolution;
  /// A row of the convolution's output, and its activation.
  float *convolved, *sigmoid, *silu;
  /// The gradient of the convolution's output: kRows rows, and the taps - 1 rows after them.
  float *dConvolved;
  float *dInput;
  /// [taps, widest]: the weight gradient so far; within a block it is summed in f32.
  double *totals;
};

int64_t scratchBytes(const Call &call) {
  Carver carver(nullptr);
  Scratch scratch(shapeOf(call), carver);
  return carver.bytes();
}

/// Writes `value`, or adds it where the argument accumulates, at element `i` of `rows` of one column.
void accumulate(const Call &call, int arg, HeadRows rows, int64_t i, double value) {
  rows.set(i, static_cast<float>(call.accumulates(arg) ? static_cast<double>(rows.get(i)) + value : value));
}

/// dConvolved of the rows of a block, from their output gradients. `to` [rows, ld].
void throughActivation(const Call &call, const Section &section, int64_t row, int64_t rows, float eps, Scratch &s,
                       float *to) {
  Convolution &convolution = s.convolution;
  int64_t ld = convolution.ld, cols = convolution.cols;
  const int gradients[] = {kDQ, kDK, kDV};
  loadTile({call.args[gradients[section.part]], section.head}, row, rows, 0, section.width, to, ld);
  for (int64_t i = 0; i < rows; ++i) {
    float *__restrict d = to + i * ld, *__restrict u = s.convolved;
    convolution.apply(i, u);
    float *__restrict sigmoid = s.sigmoid, *__restrict silu = s.silu;
    QRT_ROW_LOOP
    for (int64_t c = 0; c < cols; ++c) {
      sigmoid[c] = fastSigmoid(u[c]);
      silu[c] = u[c] * sigmoid[c];
    }
    float norm = 1.0f, projection = 0.0f;
    if (section.normalized) {
      // y = c / |c|: dc = (dy - y (y.dy)) / |c|.
      norm = reciprocalNorm(silu, cols, eps);
      projection = dotRows(silu, d, cols) * norm * norm;
    }
    QRT_ROW_LOOP
    for (int64_t c = 0; c < cols; ++c) {
      float dSilu = norm * (d[c] - silu[c] * projection);
      d[c] = dSilu * (sigmoid[c] + silu[c] * (1.0f - sigmoid[c]));
    }
  }
}

/// dqkv and the weight gradient of one block: `d` [rows + taps - 1, ld] is dConvolved from its first row on.
void throughConvolution(const Call &call, const Section &section, int64_t row, int64_t rows, Scratch &s,
                        const float *d) {
  Convolution &convolution = s.convolution;
  for (int64_t i = 0; i < rows; ++i)
    convolution.applyTransposed(d, i, s.dInput + i * convolution.ld);
  storeTile(s.dInput, convolution.ld, rows, section.width, HeadRows(call.args[kDQkv], section.channel), row, 0);
  convolution.addWeightGradient(d, rows, s.totals);
}

/// One head of q, k or v, all documents. A document's blocks run from its end, since a row's gradient takes from the
/// taps - 1 rows after it.
void channels(const Call &call, const Segments &docs, const Section &section, float eps, Scratch &s) {
  Convolution &convolution = s.convolution;
  int64_t taps = convolution.taps, ld = convolution.ld;
  convolution.loadWeights(call.args[kConvWeight], section);
  for (int64_t i = 0; i < taps * ld; ++i)
    s.totals[i] = 0.0;
  float *after = s.dConvolved + kRows * ld;
  for (int64_t document = 0; document < docs.documents(); ++document) {
    int64_t begin = docs.begin(document), end = docs.end(document);
    __builtin_memset(after, 0, (taps - 1) * ld * sizeof(float));
    for (int64_t block = (end - begin + kRows - 1) / kRows; block-- > 0;) {
      int64_t row = begin + block * kRows, rows = end - row < kRows ? end - row : kRows;
      float *d = s.dConvolved + (kRows - rows) * ld;
      convolution.loadInput(call.args[kQkv], section, row, rows, begin);
      throughActivation(call, section, row, rows, eps, s, d);
      throughConvolution(call, section, row, rows, s, d);
      __builtin_memmove(after, d, (taps - 1) * ld * sizeof(float));
    }
  }
  HeadRows weight(call.args[kDConvWeight], 0);
  for (int64_t c = 0; c < section.width; ++c) {
    HeadRows ofChannel = weight;
    ofChannel.data += (section.channel + c) * weight.stride * (weight.bf16 ? 2 : 4);
    ofChannel.stride = 1;
    for (int64_t j = 0; j < taps; ++j)
      accumulate(call, kDConvWeight, ofChannel, j, s.totals[j * ld + c]);
  }
}

/// The value heads [head, head + heads), all tokens: db, da, da_log, ddt_bias.
void gates(const Call &call, int64_t tokens, int64_t head, int64_t heads) {
  alignas(64) float rate[kGateHeads], bias[kGateHeads], a[kGateHeads], b[kGateHeads], dg[kGateHeads], dBeta[kGateHeads],
      logTerm[kGateHeads];
  alignas(64) double dALog[kGateHeads] = {}, dBias[kGateHeads] = {};
  for (int64_t h = 0; h < kGateHeads; ++h) {
    rate[h] = h < heads ? -fastExp(HeadRows(call.args[kALog], 0).get(head + h)) : 0.0f;
    bias[h] = h < heads ? HeadRows(call.args[kDtBias], 0).get(head + h) : 0.0f;
  }
  auto load = [&](int arg, int64_t row, float *to) {
    loadTile({call.args[arg], 0}, row, 1, head, heads, to, kGateHeads);
  };
  for (int64_t t = 0; t < tokens; ++t) {
    load(kA, t, a);
    load(kB, t, b);
    load(kDG, t, dg);
    load(kDBeta, t, dBeta);
    QRT_ROW_LOOP
    for (int64_t h = 0; h < kGateHeads; ++h) {
      float z = a[h] + bias[h], beta = fastSigmoid(b[h]), scaled = dg[h] * rate[h];
      b[h] = dBeta[h] * beta * (1.0f - beta);
      a[h] = scaled * fastSigmoid(z);
      logTerm[h] = scaled * fastSoftplus(z);
    }
    storeTile(b, kGateHeads, 1, heads, {call.args[kDB], 0}, t, head);
    storeTile(a, kGateHeads, 1, heads, {call.args[kDA], 0}, t, head);
    QRT_ROW_LOOP
    for (int64_t h = 0; h < kGateHeads; ++h) {
      dALog[h] += static_cast<double>(logTerm[h]);
      dBias[h] += static_cast<double>(a[h]);
    }
  }
  for (int64_t h = 0; h < heads; ++h) {
    accumulate(call, kDALog, {call.args[kDALog], 0}, head + h, dALog[h]);
    accumulate(call, kDDtBias, {call.args[kDDtBias], 0}, head + h, dBias[h]);
  }
}

void run(const Call &call) {
  Segments docs = call.segments(kDocs);
  Shape shape = shapeOf(call);
  float eps = static_cast<float>(call.params[0].f);
  int64_t sections = shape.heads();
  int64_t tasks = sections + (shape.valueHeads + kGateHeads - 1) / kGateHeads;
  call.threads.forEach(tasks + tailBlocks(docs), [&](int64_t task, int thread) {
    if (task >= tasks) {
      for (int arg : {kDQkv, kDB, kDA})
        zeroTailBlock(docs, task - tasks, call.args[arg]);
      return;
    }
    if (task >= sections) {
      int64_t head = (task - sections) * kGateHeads;
      gates(call, docs.tokens(), head, shape.valueHeads - head < kGateHeads ? shape.valueHeads - head : kGateHeads);
      return;
    }
    Carver carver(call.threadScratch<std::byte>(thread));
    Scratch scratch(shape, carver);
    channels(call, docs, {shape, task}, eps, scratch);
  });
}

} // namespace backward
} // namespace

const KernelImpl kGatedDeltaInputs = {forward::run, forward::scratchBytes};
const KernelImpl kGatedDeltaInputsGrad = {backward::run, backward::scratchBytes};

} // namespace qrt::cpu::QRT_ISA
