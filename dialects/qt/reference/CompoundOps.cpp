// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/reference/Attention.h"
#include "dialects/qt/reference/Layers.h"
#include "dialects/qt/reference/Registry.h"
#include "runtime/base/SegmentTable.h"

using namespace mlir;

namespace qt::reference {

template <typename Scalar> static void evaluate(AddRmsNormOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &delta = frame.tensor(op.getDelta());
  Tensor<Scalar> sum = frame.tensor(op.getX());
  addScaled(sum.data(), Scalar(1), delta.data(), sum.size());
  Tensor<Scalar> rstd = reciprocalRms(sum, op.getEps().convertToDouble());
  frame.set(op.getY(), scaledNorm(sum, rstd, frame.tensor(op.getWeight()), 1));
  frame.set(op.getSum(), std::move(sum));
  frame.set(op.getRstd(), std::move(rstd));
}

/// docs/model.md, Gated DeltaNet 2 to 5 (without the scale of q).
template <typename Scalar> static LogicalResult evaluate(GatedDeltaInputsOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const Tensor<Scalar> &b = frame.tensor(op.getB()), &a = frame.tensor(op.getA());
  const Tensor<Scalar> &aLog = frame.tensor(op.getALog()), &dtBias = frame.tensor(op.getDtBias());
  Tensor<Scalar> c = causalConv(docs, frame.tensor(op.getQkv()), frame.tensor(op.getConvWeight()));
  auto zeros = [&](Value result) {
    Shape shape = frame.extents(result.getType());
    shape[0] = docs.tokens;
    return Tensor<Scalar>(shape);
  };
  Tensor<Scalar> q = zeros(op.getQ()), k = zeros(op.getK()), v = zeros(op.getV()), g(b.shape()), beta(b.shape());
  if (q.stride(1) + k.stride(1) + v.stride(1) != c.stride(1))
    return op.emitOpError() << "expected q, k and v to split " << c.stride(1) << " channels, got " << q.stride(1)
                            << ", " << k.stride(1) << " and " << v.stride(1);
  auto normalized = [&](const Scalar *in, Tensor<Scalar> &out, int64_t t) {
    int64_t width = out.width();
    for (int64_t head = 0; head < out.dim(1); ++head) {
      Scalar *y = out.at(t, head);
      for (int64_t i = 0; i < width; ++i)
        y[i] = silu(in[head * width + i]);
      Scalar rstd = Scalar(1) / sqrt(dot(y, y, width) + Scalar(op.getEps().convertToDouble()));
      for (int64_t i = 0; i < width; ++i)
        y[i] *= rstd;
    }
  };
  for (int64_t t = 0; t < docs.used(); ++t) {
    const Scalar *row = c.at(t);
    normalized(row, q, t);
    normalized(row + q.stride(1), k, t);
    for (int64_t i = 0; i < v.stride(1); ++i)
      v.at(t)[i] = silu(row[q.stride(1) + k.stride(1) + i]);
    for (int64_t head = 0; head < b.dim(1); ++head) {
      beta.at(t)[head] = sigmoid(b.at(t)[head]);
      g.at(t)[head] = -exp(aLog[head]) * softplus(a.at(t)[head] + dtBias[head]);
    }
  }
  frame.set(op.getQ(), std::move(q));
  frame.set(op.getK(), std::move(k));
  frame.set(op.getV(), std::move(v));
  frame.set(op.getG(), std::move(g));
  frame.set(op.getBeta(), std::move(beta));
  return success();
}

template <typename Scalar>
Tensor<Scalar> chunkInverse(const Segments &docs, const Tensor<Scalar> &k, const Tensor<Scalar> &beta) {
  constexpr int64_t chunk = qrt::kChunkTokens;
  int64_t heads = beta.dim(1), keyHeads = k.dim(1), width = k.dim(2);
  Tensor<Scalar> inverse({k.dim(0), heads, chunk});
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t begin = docs.begin(d); begin < docs.end(d); begin += chunk)
      for (int64_t head = 0; head < heads; ++head)
        // Row i of X = (I + A)^-1 is e_i - sum over j < i of A_ij X_j.
        for (int64_t i = begin; i < std::min(begin + chunk, docs.end(d)); ++i) {
          Scalar *row = inverse.at(i, head);
          row[i - begin] = Scalar(1);
          for (int64_t j = begin; j < i; ++j) {
            int64_t keyHead = head * keyHeads / heads;
            Scalar entry = beta.at(i)[head] * dot(k.at(i, keyHead), k.at(j, keyHead), width);
            addScaled(row, -entry, inverse.at(j, head), j - begin + 1);
          }
        }
  return inverse;
}
template Tensor<double> chunkInverse(const Segments &, const Tensor<double> &, const Tensor<double> &);
template Tensor<Dual> chunkInverse(const Segments &, const Tensor<Dual> &, const Tensor<Dual> &);

/// The recurrence of docs/model.md, Gated DeltaNet 6.
template <typename Scalar> static void evaluate(GatedDeltaRuleOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const Tensor<Scalar> &q = frame.tensor(op.getQ()), &k = frame.tensor(op.getK()), &v = frame.tensor(op.getV());
  const Tensor<Scalar> &g = frame.tensor(op.getG()), &beta = frame.tensor(op.getBeta());
  int64_t heads = v.dim(1), keyHeads = k.dim(1), dk = k.dim(2), dv = v.dim(2);
  Scalar scale(op.getScale().convertToDouble());
  Tensor<Scalar> out(v.shape());
  std::vector<Scalar> delta(dv);
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t head = 0; head < heads; ++head) {
      Tensor<Scalar> state({dk, dv});
      for (int64_t t = docs.begin(d); t < docs.end(d); ++t) {
        const Scalar *key = k.at(t, head * keyHeads / heads), *query = q.at(t, head * keyHeads / heads);
        // S~ = e^g S; d = beta (v - S~^T k).
        Scalar decay = exp(g.at(t)[head]);
        for (Scalar &entry : state.elements())
          entry *= decay;
        std::copy_n(v.at(t, head), dv, delta.data());
        for (int64_t i = 0; i < dk; ++i)
          addScaled(delta.data(), -key[i], state.at(i), dv);
        for (Scalar &entry : delta)
          entry *= beta.at(t)[head];
        // S = S~ + k d^T; out = S^T (scale q).
        for (int64_t i = 0; i < dk; ++i) {
          addScaled(state.at(i), key[i], delta.data(), dv);
          addScaled(out.at(t, head), scale * query[i], state.at(i), dv);
        }
      }
    }
  frame.set(op.getOut(), std::move(out));
  if (op.getInverse())
    frame.set(op.getInverse(), chunkInverse(docs, k, beta));
}

template <typename Scalar> static void evaluate(GatedRmsNormOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX()), &z = frame.tensor(op.getZ());
  Tensor<Scalar> rstd = reciprocalRms(x, op.getEps().convertToDouble());
  Tensor<Scalar> y = scaledNorm(x, rstd, frame.tensor(op.getWeight()), 0);
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] *= silu(z[i]);
  frame.set(op.getY(), std::move(y));
  frame.set(op.getRstd(), std::move(rstd));
}

/// rstd of [T,heads,D] in documents, zeros in the tail.
template <typename Scalar> static Tensor<Scalar> headRms(const Segments &docs, const Tensor<Scalar> &x, double eps) {
  Tensor<Scalar> rstd = reciprocalRms(x, eps);
  std::fill(rstd.at(docs.used()), rstd.data() + rstd.size(), Scalar(0));
  return rstd;
}

template <typename Scalar> static void evaluate(QkNormRopeOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  double theta = op.getTheta().convertToDouble(), eps = op.getEps().convertToDouble();
  auto compute = [&](Value in, Value weight, Value out, Value residual) {
    const Tensor<Scalar> &x = frame.tensor(in);
    Tensor<Scalar> rstd = headRms(docs, x, eps);
    frame.set(out, rope(docs, scaledNorm(x, rstd, frame.tensor(weight), 1), theta, op.getRotaryDims()));
    frame.set(residual, std::move(rstd));
  };
  compute(op.getQIn(), op.getQWeight(), op.getQ(), op.getQRstd());
  compute(op.getKIn(), op.getKWeight(), op.getK(), op.getKRstd());
}

template <typename Scalar> static void evaluate(AttentionOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  AttentionForward<Scalar> forward = attention(docs, frame.tensor(op.getQ()), frame.tensor(op.getK()),
                                               frame.tensor(op.getV()), op.getScale().convertToDouble());
  Tensor<Scalar> y = forward.out;
  if (const Tensor<Scalar> *gate = frame.optional(op.getGate()))
    for (int64_t i = 0; i < docs.used() * y.stride(1); ++i)
      y[i] *= sigmoid((*gate)[i]);
  frame.set(op.getY(), std::move(y));
  frame.set(op.getLse(), std::move(forward.lse));
  frame.set(op.getO(), std::move(forward.out));
}

template <typename Scalar> static Tensor<Scalar> evaluate(SwigluOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &gate = frame.tensor(op.getGate()), &up = frame.tensor(op.getUp());
  Tensor<Scalar> y(gate.shape());
  for (int64_t i = 0; i < y.size(); ++i)
    y[i] = silu(gate[i]) * up[i];
  return y;
}

/// The trained rows of x, then rows of `fill`.
template <typename Element>
static FailureOr<Tensor<Element>> gatherRows(GatherRowsOp op, const Segments &docs, const Tensor<Element> &x,
                                             Element fill) {
  Shape shape(x.shape());
  int64_t declared = cast<RankedTensorType>(op.getOut().getType()).getDimSize(0);
  shape[0] = ShapedType::isDynamic(declared) ? docs.trained() : declared;
  if (x.dim(0) != docs.tokens)
    return op.emitOpError() << "expected a row for each of " << docs.tokens << " tokens, got " << x.dim(0);
  if (docs.trained() > shape[0])
    return op.emitOpError() << "expected at most " << shape[0] << " trained rows, got " << docs.trained();
  Tensor<Element> out(shape, fill);
  for (int64_t row = 0; row < docs.trained(); ++row)
    std::copy_n(x.at(docs.trainedRows[row]), x.stride(1), out.at(row));
  return out;
}

template <typename Scalar> static LogicalResult evaluate(GatherRowsOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  auto give = [&](auto rows) -> LogicalResult {
    if (failed(rows))
      return failure();
    frame.set(op.getOut(), std::move(*rows));
    return success();
  };
  if (auto *labels = std::get_if<IntTensor>(&frame.datum(op.getX())))
    return give(gatherRows<int64_t>(op, docs, *labels, kIgnoredLabel));
  return give(gatherRows<Scalar>(op, docs, frame.tensor(op.getX()), Scalar(0)));
}

template <typename Scalar> static LogicalResult evaluate(LinearCrossEntropyOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX()), &weight = frame.tensor(op.getWeight());
  const IntTensor &labels = frame.integers(op.getLabels());
  Tensor<Scalar> rowLoss(labels.shape());
  std::vector<Scalar> logits(weight.dim(0));
  Scalar loss(0);
  for (int64_t row = 0; row < labels.size(); ++row) {
    if (labels[row] < 0)
      continue;
    if (labels[row] >= weight.dim(0))
      return op.emitOpError() << "expected labels below " << weight.dim(0) << ", got " << labels[row] << " at row "
                              << row;
    for (int64_t i = 0; i < weight.dim(0); ++i)
      logits[i] = dot(x.at(row), weight.at(i), weight.dim(1));
    rowLoss[row] = logSumExp(logits.data(), weight.dim(0)) - logits[labels[row]];
    loss += rowLoss[row];
  }
  frame.set(op.getLoss(), Tensor<Scalar>::scalar(loss));
  frame.set(op.getRowLoss(), std::move(rowLoss));
  return success();
}

/// The element of an operand that gives element `index` of results of `shape`: the operand is repeated along dimensions
/// that it lacks or has as 1.
static int64_t repeatedIndex(ArrayRef<int64_t> operand, ArrayRef<int64_t> shape, int64_t index) {
  int64_t place = 0, stride = 1;
  for (int64_t extent : llvm::reverse(shape)) {
    if (operand.empty())
      break;
    place += operand.back() == 1 ? 0 : index % extent * stride;
    stride *= operand.back();
    operand = operand.drop_back();
    index /= extent;
  }
  return place;
}

template <typename Scalar> static LogicalResult evaluate(PointwiseOp op, Frame<Scalar> &frame) {
  Block &body = op.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  Shape shape = frame.extents(op.getOutputs().front().getType());
  std::vector<Tensor<Scalar>> outputs(op.getNumResults(), Tensor<Scalar>(shape));
  for (int64_t i = 0; i < outputs.front().size(); ++i) {
    ValueMap<Scalar> values;
    Frame<Scalar> inner(values, frame);
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), op.getInputs())) {
      const Tensor<Scalar> &tensor = frame.tensor(input);
      inner.set(argument, Tensor<Scalar>::scalar(tensor[repeatedIndex(tensor.shape(), shape, i)]));
    }
    if (failed(evaluateOps(body, inner, /*dropDead=*/false)))
      return failure();
    for (auto [output, value] : llvm::zip_equal(outputs, yield.getValues()))
      output[i] = inner.tensor(value)[0];
  }
  for (auto [result, output] : llvm::zip_equal(op.getOutputs(), outputs))
    frame.set(result, std::move(output));
  return success();
}

template <typename Scalar> void registerCompoundOps(Registry<Scalar> &registry) {
  registry.template add<
#define GET_OP_LIST
#include "dialects/qt/QtCompoundOps.cpp.inc"
      >();
}
template void registerCompoundOps(Registry<double> &registry);
template void registerCompoundOps(Registry<Dual> &registry);

} // namespace qt::reference
