// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interprets an expression (runtime/kernels/Expression.h) tile by tile: a step is one loop over a tile, short enough
// that all values of an expression stay in the caches close to the processor.
#include "runtime/backends/cpu/Rows.h"

#include <optional>

namespace qrt::cpu::QRT_ISA {

constexpr int64_t kTile = 256;

namespace {

/// An input as rows of the results' shape.
class Input {
public:
  Input(const Tensor &tensor, const TensorShape &shape)
      : repeated_(shape.rank > 0 && (tensor.shape.rank == 0 || tensor.shape.dims[tensor.shape.rank - 1] == 1)),
        rows_(spread(tensor, shape, repeated_)) {}

  /// n elements of a row from `col`, in memory or in `tile`.
  const float *read(int64_t row, int64_t col, int64_t n, float *tile) const {
    if (repeated_) {
      float value = *element(row, tile);
      for (int64_t i = 0; i < n; ++i)
        tile[i] = value;
      return tile;
    }
    return piece(row, col, n, tile);
  }

private:
  /// The tensor with the dimensions of `shape`, of stride 0 where it is repeated; the last, if it is, has one element.
  static Rows spread(Tensor tensor, const TensorShape &shape, bool repeated) {
    TensorShape from = tensor.shape;
    tensor.shape.rank = shape.rank;
    for (int axis = 0; axis < shape.rank; ++axis) {
      int its = axis - (shape.rank - from.rank);
      bool missing = its < 0 || from.dims[its] == 1;
      tensor.shape.dims[axis] = shape.dims[axis];
      tensor.shape.strides[axis] = missing ? 0 : from.strides[its];
    }
    if (repeated)
      tensor.shape.dims[shape.rank - 1] = 1;
    return Rows(tensor);
  }

  const float *piece(int64_t row, int64_t col, int64_t n, float *tile) const {
    if (!rows_.isBF16())
      return rows_.f32(row, col);
    widen(rows_.bf16(row, col), tile, n);
    return tile;
  }
  const float *element(int64_t row, float *tile) const { return piece(row, 0, 1, tile); }

  bool repeated_;
  Rows rows_;
};

template <typename F> QRT_INLINE void map(float *__restrict y, const float *a, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = f(a[i]);
}
template <typename F> QRT_INLINE void map(float *__restrict y, const float *a, const float *b, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = f(a[i], b[i]);
}

void runStep(const ExpressionStep &step, float *y, const float *a, const float *b, int64_t n) {
  auto factor = static_cast<float>(step.constant);
  switch (step.op) {
  case ExpressionOp::Add:
    return map(y, a, b, n, [](float x, float z) { return x + z; });
  case ExpressionOp::Sub:
    return map(y, a, b, n, [](float x, float z) { return x - z; });
  case ExpressionOp::Mul:
    return map(y, a, b, n, [](float x, float z) { return x * z; });
  case ExpressionOp::Scale:
    return map(y, a, n, [factor](float x) { return x * factor; });
  case ExpressionOp::Neg:
    return map(y, a, n, [](float x) { return -x; });
  case ExpressionOp::Exp:
    return map(y, a, n, [](float x) { return fastExp(x); });
  case ExpressionOp::Sigmoid:
    return map(y, a, n, [](float x) { return fastSigmoid(x); });
  case ExpressionOp::Silu:
    return map(y, a, n, [](float x) { return fastSilu(x); });
  case ExpressionOp::Softplus:
    return map(y, a, n, [](float x) { return fastSoftplus(x); });
  }
}

} // namespace

/// A tile for each value.
static int64_t pointwiseScratch(const Call &call) {
  auto inputs = static_cast<int64_t>(call.args.size()) - kMaxExpressionResults;
  auto steps = static_cast<int64_t>(call.expression->steps.size());
  return (inputs + steps) * kTile * static_cast<int64_t>(sizeof(float));
}

static void runPointwise(const Call &call) {
  const Expression &expression = *call.expression;
  const TensorShape &shape = call.args[0].shape;
  std::optional<Input> inputs[kMaxExpressionInputs];
  int64_t numInputs = 0;
  for (const Tensor &tensor : call.args.subspan(kMaxExpressionResults))
    inputs[numInputs++].emplace(tensor, shape);
  std::optional<Rows> results[kMaxExpressionResults];
  for (size_t i = 0; i < expression.results.size(); ++i)
    results[i].emplace(call.args[i]);

  int64_t rows = results[0]->count(), cols = results[0]->cols();
  int64_t perRow = (cols + kTile - 1) / kTile;
  forRows(call.threads, rows * perRow, cols < kTile ? cols : kTile, [&](int64_t index, int thread) {
    int64_t row = index / perRow, col = index % perRow * kTile, n = cols - col < kTile ? cols - col : kTile;
    float *tiles = call.threadScratch<float>(thread);
    const float *values[kMaxExpressionInputs + kMaxExpressionSteps];
    for (int64_t i = 0; i < numInputs; ++i)
      values[i] = inputs[i]->read(row, col, n, tiles + i * kTile);
    int64_t next = numInputs;
    for (const ExpressionStep &step : expression.steps) {
      float *tile = tiles + next * kTile;
      runStep(step, tile, values[step.a], values[step.b], n);
      values[next++] = tile;
    }
    for (size_t i = 0; i < expression.results.size(); ++i)
      results[i]->write(row, col, n, values[expression.results[i]]);
  });
}
const KernelImpl kPointwise = {runPointwise, pointwiseScratch};

} // namespace qrt::cpu::QRT_ISA
