// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adjoints by the formulas of docs/model.md, Backward, in their recurrent form. A residual that is given is used, one
// that is absent is rebuilt.
#include "dialects/qt/reference/Attention.h"
#include "dialects/qt/reference/Layers.h"
#include "dialects/qt/reference/Registry.h"

using namespace mlir;

namespace qt::reference {

/// Sets a weight gradient: `gradient`, added to operand `index` of `into` if the op has one.
template <typename Scalar>
static void setAccumulated(Frame<Scalar> &frame, Value result, OperandRange into, unsigned index,
                           Tensor<Scalar> gradient) {
  if (!into.empty())
    addScaled(gradient.data(), Scalar(1), frame.tensor(into[index]).data(), gradient.size());
  frame.set(result, std::move(gradient));
}

/// The residual, or what `rebuild` gives.
template <typename Scalar, typename Fn>
static Tensor<Scalar> residualOr(const Frame<Scalar> &frame, Value residual, Fn rebuild) {
  const Tensor<Scalar> *given = frame.optional(residual);
  return given ? *given : rebuild();
}

template <typename Scalar> static LogicalResult evaluate(EmbeddingGradOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const IntTensor &ids = frame.integers(op.getIds()), &order = frame.integers(op.getOrder());
  const Tensor<Scalar> &dout = frame.tensor(op.getDout());
  Tensor<Scalar> dweight(frame.extents(op.getDweight().getType()));
  int64_t visited = 0, previous = -1;
  for (int64_t token : order.elements()) {
    if (token < 0 || token >= docs.used())
      continue;
    int64_t id = ids[token];
    if (id < 0 || id >= dweight.dim(0))
      return op.emitOpError() << "expected ids below " << dweight.dim(0) << ", got " << id << " at token " << token;
    if (previous >= 0 && (id < ids[previous] || (id == ids[previous] && token <= previous)))
      return op.emitOpError() << "expected an order by (id, position), got token " << token << " after token "
                              << previous;
    addScaled(dweight.at(id), Scalar(1), dout.at(token), dweight.dim(1));
    previous = token;
    ++visited;
  }
  if (visited != docs.used())
    return op.emitOpError() << "expected an order of all " << docs.used() << " tokens, got " << visited;
  setAccumulated(frame, op.getDweight(), op.getInto(), 0, std::move(dweight));
  return success();
}

template <typename Scalar> static Tensor<Scalar> evaluate(LinearInputGradOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &dy = frame.tensor(op.getDy()), &weight = frame.tensor(op.getWeight());
  Shape shape(dy.shape());
  shape.back() = weight.dim(1);
  Tensor<Scalar> dx(shape);
  for (int64_t row = 0; row < dy.vectors(); ++row)
    for (int64_t i = 0; i < weight.dim(0); ++i)
      addScaled(dx.data() + row * weight.dim(1), dy[row * weight.dim(0) + i], weight.at(i), weight.dim(1));
  return dx;
}

template <typename Scalar> static Tensor<Scalar> evaluate(LinearWeightGradOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &dy = frame.tensor(op.getDy()), &x = frame.tensor(op.getX());
  int64_t out = dy.width(), in = x.width();
  const Tensor<Scalar> *into = frame.optional(op.getInto());
  Tensor<Scalar> dweight = into ? *into : Tensor<Scalar>({out, in});
  for (int64_t row = 0; row < dy.vectors(); ++row)
    for (int64_t i = 0; i < out; ++i)
      addScaled(dweight.at(i), dy[row * out + i], x.data() + row * in, in);
  return dweight;
}

/// Cotangents of x and weight in x * rstd * (offset + weight), the rstd being that of x, for the first `vectors`
/// vectors; the others are not read.
template <typename Scalar> struct NormGrad {
  Tensor<Scalar> dx, dweight;
};
template <typename Scalar>
static NormGrad<Scalar> scaledNormGrad(const Tensor<Scalar> &x, const Tensor<Scalar> &rstd,
                                       const Tensor<Scalar> &weight, const Tensor<Scalar> &dy, double offset,
                                       int64_t vectors) {
  NormGrad<Scalar> grad{Tensor<Scalar>(x.shape()), Tensor<Scalar>(weight.shape())};
  int64_t width = x.width();
  std::vector<Scalar> normed(width), dnormed(width);
  for (int64_t row = 0; row < vectors; ++row) {
    for (int64_t i = 0; i < width; ++i) {
      Scalar cotangent = dy[row * width + i];
      normed[i] = x[row * width + i] * rstd[row];
      dnormed[i] = cotangent * (Scalar(offset) + weight[i]);
      grad.dweight[i] += cotangent * normed[i];
    }
    Scalar mean = dot(dnormed.data(), normed.data(), width) / Scalar(static_cast<double>(width));
    for (int64_t i = 0; i < width; ++i)
      grad.dx[row * width + i] = rstd[row] * (dnormed[i] - normed[i] * mean);
  }
  return grad;
}

template <typename Scalar> static void evaluate(RmsNormGradOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  Tensor<Scalar> rstd =
      residualOr(frame, op.getRstd(), [&] { return reciprocalRms(x, op.getEps().convertToDouble()); });
  NormGrad<Scalar> grad =
      scaledNormGrad(x, rstd, frame.tensor(op.getWeight()), frame.tensor(op.getDy()), 1, x.vectors());
  frame.set(op.getDx(), std::move(grad.dx));
  setAccumulated(frame, op.getDweight(), op.getInto(), 0, std::move(grad.dweight));
}

template <typename Scalar> static void evaluate(AddRmsNormGradOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &sum = frame.tensor(op.getSum());
  Tensor<Scalar> rstd =
      residualOr(frame, op.getRstd(), [&] { return reciprocalRms(sum, op.getEps().convertToDouble()); });
  NormGrad<Scalar> grad =
      scaledNormGrad(sum, rstd, frame.tensor(op.getWeight()), frame.tensor(op.getDy()), 1, sum.vectors());
  if (const Tensor<Scalar> *dsum = frame.optional(op.getDsum()))
    addScaled(grad.dx.data(), Scalar(1), dsum->data(), dsum->size());
  frame.set(op.getDx(), std::move(grad.dx));
  setAccumulated(frame, op.getDweight(), op.getInto(), 0, std::move(grad.dweight));
}

/// Adds to `du` the cotangent of u in y = silu(u) * rsqrt(sum(silu(u)^2) + eps): dc = rstd (dy - y (y.dy)).
template <typename Scalar>
static void normedSiluGrad(const Scalar *u, const Scalar *dy, Scalar *du, int64_t width, double eps) {
  std::vector<Scalar> y(width);
  for (int64_t i = 0; i < width; ++i)
    y[i] = silu(u[i]);
  Scalar rstd = Scalar(1) / sqrt(dot(y.data(), y.data(), width) + Scalar(eps));
  for (Scalar &entry : y)
    entry *= rstd;
  Scalar along = dot(y.data(), dy, width);
  for (int64_t i = 0; i < width; ++i)
    du[i] += rstd * (dy[i] - y[i] * along) * siluSlope(u[i]);
}

template <typename Scalar> static void evaluate(GatedDeltaInputsGradOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const Tensor<Scalar> &qkv = frame.tensor(op.getQkv()), &b = frame.tensor(op.getB()), &a = frame.tensor(op.getA());
  const Tensor<Scalar> &weight = frame.tensor(op.getConvWeight()), &aLog = frame.tensor(op.getALog());
  const Tensor<Scalar> &dtBias = frame.tensor(op.getDtBias()), &dq = frame.tensor(op.getDq()),
                       &dk = frame.tensor(op.getDk());
  const Tensor<Scalar> &dv = frame.tensor(op.getDv()), &dg = frame.tensor(op.getDg()),
                       &dbeta = frame.tensor(op.getDbeta());
  double eps = op.getEps().convertToDouble();
  int64_t channels = qkv.dim(1), taps = weight.dim(2), qWidth = dq.stride(1), kWidth = dk.stride(1);

  Tensor<Scalar> db(b.shape()), da(a.shape()), daLog(aLog.shape()), ddtBias(dtBias.shape());
  Tensor<Scalar> u = causalConv(docs, qkv, weight), du(qkv.shape());
  for (int64_t t = 0; t < docs.used(); ++t) {
    for (int64_t head = 0; head < dq.dim(1); ++head)
      normedSiluGrad(u.at(t) + head * dq.dim(2), dq.at(t, head), du.at(t) + head * dq.dim(2), dq.dim(2), eps);
    for (int64_t head = 0, at = qWidth; head < dk.dim(1); ++head, at += dk.dim(2))
      normedSiluGrad(u.at(t) + at, dk.at(t, head), du.at(t) + at, dk.dim(2), eps);
    for (int64_t i = 0, at = qWidth + kWidth; i < dv.stride(1); ++i, ++at)
      du.at(t)[at] = dv.at(t)[i] * siluSlope(u.at(t)[at]);
    for (int64_t head = 0; head < b.dim(1); ++head) {
      Scalar beta = sigmoid(b.at(t)[head]), dt = a.at(t)[head] + dtBias[head];
      Scalar cotangent = dg.at(t)[head], rate = exp(aLog[head]);
      db.at(t)[head] = dbeta.at(t)[head] * beta * (Scalar(1) - beta);
      da.at(t)[head] = -cotangent * rate * sigmoid(dt);
      daLog[head] += -cotangent * rate * softplus(dt);
      ddtBias[head] += da.at(t)[head];
    }
  }
  Tensor<Scalar> dqkv(qkv.shape()), dweight(weight.shape());
  forEachTap(docs, taps, [&](int64_t t, int64_t j, int64_t source) {
    for (int64_t c = 0; c < channels; ++c) {
      dqkv.at(source)[c] += weight[c * taps + j] * du.at(t)[c];
      dweight[c * taps + j] += qkv.at(source)[c] * du.at(t)[c];
    }
  });
  frame.set(op.getDqkv(), std::move(dqkv));
  frame.set(op.getDb(), std::move(db));
  frame.set(op.getDa(), std::move(da));
  setAccumulated(frame, op.getDconvWeight(), op.getInto(), 0, std::move(dweight));
  setAccumulated(frame, op.getDaLog(), op.getInto(), 1, std::move(daLog));
  setAccumulated(frame, op.getDdtBias(), op.getInto(), 2, std::move(ddtBias));
}

/// What the recurrence reads does not include `inverse`; so a given one is only compared with what it should be.
template <typename Scalar> static LogicalResult checkInverse(GatedDeltaRuleGradOp op, const Frame<Scalar> &frame) {
  const Tensor<Scalar> *given = frame.optional(op.getInverse());
  if (!given)
    return success();
  Tensor<Scalar> expected =
      chunkInverse(frame.segments(op.getDocs()), frame.tensor(op.getK()), frame.tensor(op.getBeta()));
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    double error = valueOf((*given)[i]) - valueOf(expected[i]);
    difference += error * error;
    norm += valueOf(expected[i]) * valueOf(expected[i]);
  }
  if (!(difference <= 1e-16 * norm))
    return op.emitOpError()
           << "expected the residual `inverse` of these k and beta, got one with a relative difference of "
           << std::sqrt(difference / norm);
  return success();
}

/// docs/model.md, Backward, recurrent form.
template <typename Scalar> static LogicalResult evaluate(GatedDeltaRuleGradOp op, Frame<Scalar> &frame) {
  if (failed(checkInverse(op, frame)))
    return failure();
  const Segments &docs = frame.segments(op.getDocs());
  const Tensor<Scalar> &q = frame.tensor(op.getQ()), &k = frame.tensor(op.getK()), &v = frame.tensor(op.getV());
  const Tensor<Scalar> &g = frame.tensor(op.getG()), &beta = frame.tensor(op.getBeta()),
                       &dout = frame.tensor(op.getDout());
  int64_t heads = v.dim(1), keyHeads = k.dim(1), dk = k.dim(2), dv = v.dim(2);
  Scalar scale(op.getScale().convertToDouble());
  Tensor<Scalar> gradQ(q.shape()), gradK(k.shape()), gradV(v.shape()), gradG(g.shape()), gradBeta(beta.shape());
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t head = 0; head < heads; ++head) {
      int64_t begin = docs.begin(d), length = docs.end(d) - begin, keyHead = head * keyHeads / heads;
      // Forward: S~_t and S_t, and v - r with r = S~^T k.
      Tensor<Scalar> decayed({length, dk, dv}), states({length, dk, dv}), errors({length, dv});
      for (int64_t i = 0; i < length; ++i) {
        int64_t t = begin + i;
        const Scalar *key = k.at(t, keyHead);
        if (i > 0)
          addScaled(decayed.at(i), exp(g.at(t)[head]), states.at(i - 1), dk * dv);
        std::copy_n(v.at(t, head), dv, errors.at(i));
        for (int64_t row = 0; row < dk; ++row)
          addScaled(errors.at(i), -key[row], decayed.at(i, row), dv);
        std::copy_n(decayed.at(i), dk * dv, states.at(i));
        for (int64_t row = 0; row < dk; ++row)
          addScaled(states.at(i, row), key[row] * beta.at(t)[head], errors.at(i), dv);
      }
      // Backward: G = dL/dS_t.
      Tensor<Scalar> G({dk, dv});
      std::vector<Scalar> dd(dv), dw(dv);
      for (int64_t i = length - 1; i >= 0; --i) {
        int64_t t = begin + i;
        const Scalar *key = k.at(t, keyHead), *query = q.at(t, keyHead), *cotangent = dout.at(t, head);
        Scalar strength = beta.at(t)[head];
        std::fill(dd.begin(), dd.end(), Scalar(0));
        for (int64_t row = 0; row < dk; ++row) {
          addScaled(G.at(row), scale * query[row], cotangent, dv);
          gradQ.at(t, keyHead)[row] += scale * dot(states.at(i, row), cotangent, dv);
          addScaled(dd.data(), key[row], G.at(row), dv);
        }
        gradBeta.at(t)[head] = dot(dd.data(), errors.at(i), dv);
        for (int64_t column = 0; column < dv; ++column)
          gradV.at(t, head)[column] = dw[column] = strength * dd[column];
        Scalar decay = exp(g.at(t)[head]), decayCotangent(0);
        for (int64_t row = 0; row < dk; ++row) {
          // d = beta (v - r); dS~ = G - k dw^T.
          gradK.at(t, keyHead)[row] +=
              strength * dot(G.at(row), errors.at(i), dv) - dot(decayed.at(i, row), dw.data(), dv);
          addScaled(G.at(row), -key[row], dw.data(), dv);
          decayCotangent += dot(G.at(row), decayed.at(i, row), dv);
        }
        gradG.at(t)[head] = decayCotangent;
        for (Scalar &entry : G.elements())
          entry *= decay;
      }
    }
  frame.set(op.getDq(), std::move(gradQ));
  frame.set(op.getDk(), std::move(gradK));
  frame.set(op.getDv(), std::move(gradV));
  frame.set(op.getDg(), std::move(gradG));
  frame.set(op.getDbeta(), std::move(gradBeta));
  return success();
}

/// y = n silu(z) with n = weight x rstd.
template <typename Scalar> static void evaluate(GatedRmsNormGradOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX()), &z = frame.tensor(op.getZ()), &dy = frame.tensor(op.getDy());
  const Tensor<Scalar> &weight = frame.tensor(op.getWeight());
  Tensor<Scalar> rstd =
      residualOr(frame, op.getRstd(), [&] { return reciprocalRms(x, op.getEps().convertToDouble()); });
  Tensor<Scalar> dn(x.shape()), dz = scaledNorm(x, rstd, weight, 0);
  for (int64_t i = 0; i < x.size(); ++i) {
    dn[i] = dy[i] * silu(z[i]);
    dz[i] *= dy[i] * siluSlope(z[i]);
  }
  NormGrad<Scalar> grad = scaledNormGrad(x, rstd, weight, dn, 0, x.vectors());
  frame.set(op.getDx(), std::move(grad.dx));
  frame.set(op.getDz(), std::move(dz));
  setAccumulated(frame, op.getDweight(), op.getInto(), 0, std::move(grad.dweight));
}

template <typename Scalar> static void evaluate(QkNormRopeGradOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  double theta = op.getTheta().convertToDouble(), eps = op.getEps().convertToDouble();
  auto compute = [&](Value in, Value weight, Value residual, Value cotangent, Value din, Value dweight,
                     unsigned index) {
    const Tensor<Scalar> &x = frame.tensor(in);
    // The rotation is orthogonal: its adjoint turns back, and leaves zeros in the tail.
    Tensor<Scalar> dnormed = rope(docs, frame.tensor(cotangent), theta, op.getRotaryDims(), /*backward=*/true);
    Tensor<Scalar> rstd = residualOr(frame, residual, [&] { return reciprocalRms(x, eps); });
    NormGrad<Scalar> grad = scaledNormGrad(x, rstd, frame.tensor(weight), dnormed, 1, docs.used() * x.dim(1));
    frame.set(din, std::move(grad.dx));
    setAccumulated(frame, dweight, op.getInto(), index, std::move(grad.dweight));
  };
  compute(op.getQIn(), op.getQWeight(), op.getQRstd(), op.getDq(), op.getDqIn(), op.getDqWeight(), 0);
  compute(op.getKIn(), op.getKWeight(), op.getKRstd(), op.getDk(), op.getDkIn(), op.getDkWeight(), 1);
}

/// With o the output before the gate, p_ij = e^(scale q_i.k_j - lse_i): dv_j = p_ij do_i, ds_ij = p_ij (do_i.v_j -
/// do_i.o_i).
template <typename Scalar> static void evaluate(AttentionGradOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const Tensor<Scalar> &q = frame.tensor(op.getQ()), &k = frame.tensor(op.getK()), &v = frame.tensor(op.getV());
  const Tensor<Scalar> *gate = frame.optional(op.getGate()), *lse = frame.optional(op.getLse()),
                       *o = frame.optional(op.getO());
  Scalar scale(op.getScale().convertToDouble());
  int64_t heads = q.dim(1), groups = k.dim(1), width = q.dim(2);
  AttentionForward<Scalar> forward;
  if (!lse || !o)
    forward = attention(docs, q, k, v, op.getScale().convertToDouble());
  lse = lse ? lse : &forward.lse;
  o = o ? o : &forward.out;

  Tensor<Scalar> dout = frame.tensor(op.getDy());
  if (gate) {
    Tensor<Scalar> dgate(q.shape());
    for (int64_t i = 0; i < docs.used() * heads * width; ++i) {
      Scalar open = sigmoid((*gate)[i]);
      dgate[i] = dout[i] * (*o)[i] * open * (Scalar(1) - open);
      dout[i] *= open;
    }
    frame.set(op.getDgate(), std::move(dgate));
  }
  Tensor<Scalar> dq(q.shape()), dk(k.shape()), dv(v.shape());
  for (int64_t d = 0; d < docs.documents(); ++d)
    for (int64_t t = docs.begin(d); t < docs.end(d); ++t)
      for (int64_t head = 0; head < heads; ++head) {
        int64_t group = head * groups / heads;
        const Scalar *cotangent = dout.at(t, head);
        Scalar along = dot(cotangent, o->at(t, head), width);
        for (int64_t s = docs.begin(d); s <= t; ++s) {
          Scalar p = exp(scale * dot(q.at(t, head), k.at(s, group), width) - lse->at(t)[head]);
          Scalar ds = scale * p * (dot(cotangent, v.at(s, group), width) - along);
          addScaled(dv.at(s, group), p, cotangent, width);
          addScaled(dq.at(t, head), ds, k.at(s, group), width);
          addScaled(dk.at(s, group), ds, q.at(t, head), width);
        }
      }
  frame.set(op.getDq(), std::move(dq));
  frame.set(op.getDk(), std::move(dk));
  frame.set(op.getDv(), std::move(dv));
}

template <typename Scalar> static void evaluate(SwigluGradOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &gate = frame.tensor(op.getGate()), &up = frame.tensor(op.getUp()),
                       &dy = frame.tensor(op.getDy());
  Tensor<Scalar> dgate(gate.shape()), dup(up.shape());
  for (int64_t i = 0; i < gate.size(); ++i) {
    dgate[i] = dy[i] * up[i] * siluSlope(gate[i]);
    dup[i] = dy[i] * silu(gate[i]);
  }
  frame.set(op.getDgate(), std::move(dgate));
  frame.set(op.getDup(), std::move(dup));
}

template <typename Scalar> static LogicalResult evaluate(ScatterRowsOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const Tensor<Scalar> &dout = frame.tensor(op.getDout());
  if (docs.trained() > dout.dim(0))
    return op.emitOpError() << "expected a row for each of " << docs.trained() << " trained tokens, got "
                            << dout.dim(0);
  Shape shape(dout.shape());
  shape[0] = docs.tokens;
  Tensor<Scalar> dx(shape);
  for (int64_t row = 0; row < docs.trained(); ++row)
    std::copy_n(dout.at(row), dout.stride(1), dx.at(docs.trainedRows[row]));
  frame.set(op.getDx(), std::move(dx));
  return success();
}

/// dlogits = (softmax - onehot) dloss; dx = dlogits W, dW = dlogits^T x.
template <typename Scalar> static LogicalResult evaluate(LinearCrossEntropyGradOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX()), &weight = frame.tensor(op.getWeight());
  const IntTensor &labels = frame.integers(op.getLabels());
  Scalar dloss = frame.tensor(op.getDloss())[0], loss(0);
  int64_t vocabulary = weight.dim(0), width = weight.dim(1);
  Tensor<Scalar> dx(x.shape()), dweight(weight.shape());
  std::vector<Scalar> logits(vocabulary);
  for (int64_t row = 0; row < labels.size(); ++row) {
    int64_t label = labels[row];
    if (label < 0)
      continue;
    if (label >= vocabulary)
      return op.emitOpError() << "expected labels below " << vocabulary << ", got " << label << " at row " << row;
    for (int64_t i = 0; i < vocabulary; ++i)
      logits[i] = dot(x.at(row), weight.at(i), width);
    Scalar total = logSumExp(logits.data(), vocabulary);
    loss += total - logits[label];
    for (int64_t i = 0; i < vocabulary; ++i) {
      Scalar dlogit = (exp(logits[i] - total) - Scalar(i == label ? 1.0 : 0.0)) * dloss;
      addScaled(dx.at(row), dlogit, weight.at(i), width);
      addScaled(dweight.at(i), dlogit, x.at(row), width);
    }
  }
  frame.set(op.getLoss(), Tensor<Scalar>::scalar(loss));
  frame.set(op.getDx(), std::move(dx));
  setAccumulated(frame, op.getDweight(), op.getInto(), 0, std::move(dweight));
  return success();
}

template <typename Scalar> void registerGradOps(Registry<Scalar> &registry) {
  registry.template add<
#define GET_OP_LIST
#include "dialects/qt/QtGradOps.cpp.inc"
      >();
}
template void registerGradOps(Registry<double> &registry);
template void registerGradOps(Registry<Dual> &registry);

} // namespace qt::reference
