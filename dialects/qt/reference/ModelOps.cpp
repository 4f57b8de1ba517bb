// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/reference/Layers.h"
#include "dialects/qt/reference/Registry.h"

using namespace mlir;

namespace qt::reference {

template <typename Scalar> static LogicalResult evaluate(EmbeddingOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const IntTensor &ids = frame.integers(op.getIds());
  const Tensor<Scalar> &weight = frame.tensor(op.getWeight());
  Tensor<Scalar> out({ids.size(), weight.dim(1)});
  for (int64_t t = 0; t < docs.used(); ++t) {
    if (ids[t] < 0 || ids[t] >= weight.dim(0))
      return op.emitOpError() << "expected ids below " << weight.dim(0) << ", got " << ids[t] << " at token " << t;
    std::copy_n(weight.at(ids[t]), weight.dim(1), out.at(t));
  }
  frame.set(op.getOut(), std::move(out));
  return success();
}

template <typename Scalar> static Tensor<Scalar> evaluate(LinearOp op, Frame<Scalar> &frame) {
  return linear(frame.tensor(op.getX()), frame.tensor(op.getWeight()));
}

template <typename Scalar> static void evaluate(RmsNormOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  Tensor<Scalar> rstd = reciprocalRms(x, op.getEps().convertToDouble());
  frame.set(op.getY(), scaledNorm(x, rstd, frame.tensor(op.getWeight()), 1));
  frame.set(op.getRstd(), std::move(rstd));
}

template <typename Scalar> static Tensor<Scalar> evaluate(PlainRmsNormOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  return scaledNorm(x, reciprocalRms(x, op.getEps().convertToDouble()), frame.tensor(op.getWeight()), 0);
}

template <typename Scalar> static Tensor<Scalar> evaluate(L2NormOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  Tensor<Scalar> y(x.shape());
  int64_t width = x.width();
  for (int64_t i = 0; i < x.vectors(); ++i) {
    const Scalar *in = x.data() + i * width;
    Scalar rstd = Scalar(1) / sqrt(dot(in, in, width) + Scalar(op.getEps().convertToDouble()));
    addScaled(y.data() + i * width, rstd, in, width);
  }
  return y;
}

template <typename Scalar> static Tensor<Scalar> evaluate(RopeOp op, Frame<Scalar> &frame) {
  return rope(frame.segments(op.getDocs()), frame.tensor(op.getX()), op.getTheta().convertToDouble(),
              op.getRotaryDims());
}

template <typename Scalar> static Tensor<Scalar> evaluate(CausalConvOp op, Frame<Scalar> &frame) {
  return causalConv(frame.segments(op.getDocs()), frame.tensor(op.getX()), frame.tensor(op.getWeight()));
}

template <typename Scalar> static LogicalResult evaluate(CrossEntropyOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &logits = frame.tensor(op.getLogits());
  const IntTensor &labels = frame.integers(op.getLabels());
  int64_t vocabulary = logits.width();
  Scalar loss(0);
  for (int64_t row = 0; row < labels.size(); ++row) {
    if (labels[row] < 0)
      continue;
    if (labels[row] >= vocabulary)
      return op.emitOpError() << "expected labels below " << vocabulary << ", got " << labels[row] << " at row " << row;
    loss += logSumExp(logits.at(row), vocabulary) - logits.at(row)[labels[row]];
  }
  frame.set(op.getLoss(), Tensor<Scalar>::scalar(loss));
  return success();
}

template <typename Scalar> void registerModelOps(Registry<Scalar> &registry) {
  registry.template add<
#define GET_OP_LIST
#include "dialects/qt/QtModelOps.cpp.inc"
      >();
}
template void registerModelOps(Registry<double> &registry);
template void registerModelOps(Registry<Dual> &registry);

} // namespace qt::reference
