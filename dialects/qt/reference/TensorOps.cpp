// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/qt/reference/Registry.h"

using namespace mlir;

namespace qt::reference {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

template <typename Scalar, typename Fn> static Tensor<Scalar> map(const Tensor<Scalar> &x, Fn fn) {
  Tensor<Scalar> result(x.shape());
  for (int64_t i = 0; i < x.size(); ++i)
    result[i] = fn(x[i]);
  return result;
}

template <typename Scalar> static Tensor<Scalar> evaluate(ExpOp op, Frame<Scalar> &frame) {
  return map(frame.tensor(op.getX()), [](Scalar x) { return exp(x); });
}
template <typename Scalar> static Tensor<Scalar> evaluate(NegOp op, Frame<Scalar> &frame) {
  return map(frame.tensor(op.getX()), [](Scalar x) { return -x; });
}
template <typename Scalar> static Tensor<Scalar> evaluate(SigmoidOp op, Frame<Scalar> &frame) {
  return map(frame.tensor(op.getX()), [](Scalar x) { return sigmoid(x); });
}
template <typename Scalar> static Tensor<Scalar> evaluate(SiluOp op, Frame<Scalar> &frame) {
  return map(frame.tensor(op.getX()), [](Scalar x) { return silu(x); });
}
template <typename Scalar> static Tensor<Scalar> evaluate(SoftplusOp op, Frame<Scalar> &frame) {
  return map(frame.tensor(op.getX()), [](Scalar x) { return softplus(x); });
}
template <typename Scalar> static Tensor<Scalar> evaluate(ScaleOp op, Frame<Scalar> &frame) {
  Scalar factor(op.getFactor().convertToDouble());
  return map(frame.tensor(op.getX()), [&](Scalar x) { return x * factor; });
}

/// `rhs` has the shape of the last dimensions of `lhs` and is repeated along the others.
template <typename Scalar, typename Fn>
static Tensor<Scalar> zip(const Tensor<Scalar> &lhs, const Tensor<Scalar> &rhs, Fn fn) {
  Tensor<Scalar> result(lhs.shape());
  for (int64_t i = 0; i < lhs.size(); i += rhs.size())
    for (int64_t j = 0; j < rhs.size(); ++j)
      result[i + j] = fn(lhs[i + j], rhs[j]);
  return result;
}

template <typename Scalar> static Tensor<Scalar> evaluate(AddOp op, Frame<Scalar> &frame) {
  return zip(frame.tensor(op.getLhs()), frame.tensor(op.getRhs()), [](Scalar a, Scalar b) { return a + b; });
}
template <typename Scalar> static Tensor<Scalar> evaluate(SubOp op, Frame<Scalar> &frame) {
  return zip(frame.tensor(op.getLhs()), frame.tensor(op.getRhs()), [](Scalar a, Scalar b) { return a - b; });
}
template <typename Scalar> static Tensor<Scalar> evaluate(MulOp op, Frame<Scalar> &frame) {
  return zip(frame.tensor(op.getLhs()), frame.tensor(op.getRhs()), [](Scalar a, Scalar b) { return a * b; });
}

template <typename Scalar> static Tensor<Scalar> evaluate(CastOp op, Frame<Scalar> &frame) {
  return frame.tensor(op.getX());
}

template <typename Scalar> static void evaluate(BarrierOp op, Frame<Scalar> &frame) {
  Datum<Scalar> same = frame.datum(op.getX());
  frame.set(op.getResult(), std::move(same));
}

template <typename Scalar> static LogicalResult evaluate(WatchOp op, Frame<Scalar> &frame) {
  Environment<Scalar> *environment = frame.environment();
  if (!environment)
    return success();
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  if (!op.getGradient()) {
    environment->hidden[op.getName().str()] = x;
    return success();
  }
  Operation *symbol = environment->module.lookupSymbol(op.getName());
  auto pack = dyn_cast_or_null<ParameterPackOp>(symbol);
  if (!pack) {
    (symbol ? environment->gradients : environment->hiddenGradients)[op.getName().str()] = x;
    return success();
  }
  int64_t row = 0;
  for (auto member : pack.getMembers().template getAsRange<FlatSymbolRefAttr>()) {
    auto parameter = environment->module.template lookupSymbol<ParameterOp>(member.getAttr());
    if (!parameter)
      return op.emitOpError() << "expected the members of @" << op.getName() << " to be parameters, got " << member;
    Shape shape = frame.extents(parameter.getType());
    int64_t end = row + shape.front();
    if (end > x.dim(0))
      return op.emitOpError() << "expected a gradient of all members of @" << op.getName() << ", got " << x.dim(0)
                              << " rows";
    environment->gradients[member.getValue().str()] =
        Tensor<Scalar>(shape, std::vector<Scalar>(x.at(row), x.at(row) + elementCount(shape)));
    row = end;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

template <typename Scalar> static LogicalResult evaluate(ZerosOp op, Frame<Scalar> &frame) {
  if (!op.getType().hasStaticShape() && !frame.tokens())
    return op.emitOpError() << "has a dynamic extent and nothing says how many tokens there are";
  frame.set(op.getResult(), Tensor<Scalar>(frame.extents(op.getType())));
  return success();
}

template <typename Scalar> static LogicalResult evaluate(ReshapeOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  Shape shape(cast<RankedTensorType>(op.getType()).getShape());
  if (!shape.empty() && ShapedType::isDynamic(shape[0])) {
    int64_t others = elementCount(ArrayRef<int64_t>(shape).drop_front());
    shape[0] = others == 0 ? 0 : x.size() / others;
  }
  if (elementCount(shape) != x.size())
    return op.emitOpError() << "expected " << elementCount(shape) << " elements, got " << x.size();
  frame.set(op.getResult(), x.reshaped(shape));
  return success();
}

/// Row-major strides of a shape.
static Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

/// Calls `fn(i, offset)` for each index of `shape` in row-major order, counted by i; `offset` is its inner product with
/// `strides`.
template <typename Fn> static void forEachIndex(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, Fn fn) {
  int64_t count = elementCount(shape), rank = static_cast<int64_t>(shape.size()), offset = 0;
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    fn(i, offset);
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

template <typename Scalar> static LogicalResult evaluate(BroadcastOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  ArrayRef<int64_t> dims = op.getDims();
  ArrayRef<int64_t> declared = cast<RankedTensorType>(op.getType()).getShape();
  Shape shape = frame.extents(op.getType());
  Shape strides(shape.size(), 0), own = stridesOf(x.shape());
  SmallVector<bool> known;
  for (int64_t extent : declared)
    known.push_back(!ShapedType::isDynamic(extent) || frame.tokens().has_value());
  for (size_t i = 0; i < dims.size(); ++i) {
    // A dynamic extent that x has is that of x: rows may be trained ones rather than tokens.
    if (ShapedType::isDynamic(declared[dims[i]]) && x.dim(i) != 1) {
      shape[dims[i]] = x.dim(i);
      known[dims[i]] = true;
    }
    if (x.dim(i) != shape[dims[i]] && x.dim(i) != 1)
      return op.emitOpError() << "expected dimension " << i << " to have 1 or " << shape[dims[i]] << " entries, got "
                              << x.dim(i);
    if (x.dim(i) != 1)
      strides[dims[i]] = own[i];
  }
  if (llvm::is_contained(known, false))
    return op.emitOpError() << "has a dynamic extent and nothing says how many tokens there are";
  Tensor<Scalar> result(shape);
  forEachIndex(shape, strides, [&](int64_t i, int64_t offset) { result[i] = x[offset]; });
  frame.set(op.getResult(), std::move(result));
  return success();
}

template <typename Scalar> static Tensor<Scalar> transpose(const Tensor<Scalar> &x, ArrayRef<int64_t> permutation) {
  Shape shape, strides, own = stridesOf(x.shape());
  for (int64_t axis : permutation) {
    shape.push_back(x.dim(axis));
    strides.push_back(own[axis]);
  }
  Tensor<Scalar> result(shape);
  forEachIndex(shape, strides, [&](int64_t i, int64_t offset) { result[i] = x[offset]; });
  return result;
}

template <typename Scalar> static Tensor<Scalar> evaluate(TransposeOp op, Frame<Scalar> &frame) {
  return transpose(frame.tensor(op.getX()), op.getPermutation());
}

template <typename Scalar> static Tensor<Scalar> evaluate(ReduceSumOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  Shape kept, strides(x.rank(), 0);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!llvm::is_contained(op.getDims(), axis))
      kept.push_back(x.dim(axis));
  Tensor<Scalar> result(kept);
  Shape own = stridesOf(kept);
  for (int64_t axis = 0, i = 0; axis < x.rank(); ++axis)
    if (!llvm::is_contained(op.getDims(), axis))
      strides[axis] = own[i++];
  forEachIndex(x.shape(), strides, [&](int64_t i, int64_t offset) { result[offset] += x[i]; });
  return result;
}

template <typename Scalar> static LogicalResult evaluate(SplitOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  int64_t dim = op.getDim(), outer = elementCount(x.shape().take_front(dim)), inner = x.stride(dim + 1), begin = 0;
  for (Value part : op.getParts()) {
    Shape shape(x.shape());
    shape[dim] = cast<RankedTensorType>(part.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(shape[dim]) || begin + shape[dim] > x.dim(dim))
      return op.emitOpError() << "expected parts of known extents that cover " << x.dim(dim) << " entries, got "
                              << part.getType();
    Tensor<Scalar> result(shape);
    int64_t length = shape[dim] * inner;
    for (int64_t i = 0; i < outer; ++i)
      std::copy_n(x.data() + (i * x.dim(dim) + begin) * inner, length, result.data() + i * length);
    begin += shape[dim];
    frame.set(part, std::move(result));
  }
  if (begin != x.dim(dim))
    return op.emitOpError() << "expected parts that cover " << x.dim(dim) << " entries, got " << begin;
  return success();
}

template <typename Scalar> static Tensor<Scalar> evaluate(JoinOp op, Frame<Scalar> &frame) {
  int64_t dim = op.getDim(), begin = 0;
  Shape shape(frame.tensor(op.getParts()[0]).shape());
  shape[dim] = 0;
  for (Value part : op.getParts())
    shape[dim] += frame.tensor(part).dim(dim);
  Tensor<Scalar> result(shape);
  int64_t outer = elementCount(result.shape().take_front(dim)), inner = result.stride(dim + 1);
  for (Value operand : op.getParts()) {
    const Tensor<Scalar> &part = frame.tensor(operand);
    int64_t length = part.dim(dim) * inner;
    for (int64_t i = 0; i < outer; ++i)
      std::copy_n(part.data() + i * length, length, result.data() + (i * shape[dim] + begin) * inner);
    begin += part.dim(dim);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Products, softmax
//===----------------------------------------------------------------------===//

/// The dimensions of a tensor of this rank that are neither in `a` nor in `b`.
static Shape otherDims(int64_t rank, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  Shape others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(a, axis) && !llvm::is_contained(b, axis))
      others.push_back(axis);
  return others;
}

/// x with its dimensions in the order `a`, `b`, `c`; x itself if they are in it.
template <typename Scalar>
static const Tensor<Scalar> &ordered(const Tensor<Scalar> &x, ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                     ArrayRef<int64_t> c, Tensor<Scalar> &storage) {
  Shape order(a);
  llvm::append_range(order, b);
  llvm::append_range(order, c);
  if (llvm::is_sorted(order))
    return x;
  return storage = transpose(x, order);
}

template <typename Scalar> static LogicalResult evaluate(ContractOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &lhs = frame.tensor(op.getLhs()), &rhs = frame.tensor(op.getRhs());
  ArrayRef<int64_t> lhsBatch = op.getLhsBatch(), rhsBatch = op.getRhsBatch();
  ArrayRef<int64_t> lhsOver = op.getLhsContracted(), rhsOver = op.getRhsContracted();
  auto extentsDiffer = [&](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    for (auto [i, j] : llvm::zip_equal(a, b))
      if (lhs.dim(i) != rhs.dim(j))
        return true;
    return false;
  };
  if (lhsBatch.size() != rhsBatch.size() || lhsOver.size() != rhsOver.size() || extentsDiffer(lhsBatch, rhsBatch) ||
      extentsDiffer(lhsOver, rhsOver))
    return op.emitOpError() << "expected batch and contracted dimensions of equal extents, got " << lhs.shape()
                            << " and " << rhs.shape();
  Shape lhsRows = otherDims(lhs.rank(), lhsBatch, lhsOver), rhsRows = otherDims(rhs.rank(), rhsBatch, rhsOver);
  // [batch, m, k] times [batch, k, n], each dimension of several.
  Tensor<Scalar> lhsStorage, rhsStorage;
  const Scalar *a = ordered(lhs, lhsBatch, lhsRows, lhsOver, lhsStorage).data();
  const Scalar *b = ordered(rhs, rhsBatch, rhsOver, rhsRows, rhsStorage).data();
  Shape shape;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  for (int64_t axis : lhsBatch)
    batch *= shape.emplace_back(lhs.dim(axis));
  for (int64_t axis : lhsRows)
    m *= shape.emplace_back(lhs.dim(axis));
  for (int64_t axis : rhsRows)
    n *= shape.emplace_back(rhs.dim(axis));
  for (int64_t axis : lhsOver)
    k *= lhs.dim(axis);
  Tensor<Scalar> result(shape);
  Scalar *c = result.data();
  for (int64_t i = 0; i < batch * m; ++i)
    for (int64_t j = 0; j < k; ++j)
      addScaled(c + i * n, a[i * k + j], b + (i / m * k + j) * n, n);
  frame.set(op.getResult(), std::move(result));
  return success();
}

template <typename Scalar> static LogicalResult evaluate(CausalMaskOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  const Tensor<Scalar> &scores = frame.tensor(op.getScores());
  int64_t tokens = docs.tokens, rank = scores.rank();
  if (rank < 2 || scores.dim(rank - 1) != tokens || scores.dim(rank - 2) != tokens)
    return op.emitOpError() << "expected scores of " << tokens << " x " << tokens << " tokens, got " << scores.shape();
  Tensor<Scalar> result(scores.shape(), Scalar(kMinusInfinity));
  int64_t maps = tokens == 0 ? 0 : scores.size() / (tokens * tokens);
  for (int64_t i = 0; i < maps; ++i)
    for (int64_t d = 0; d < docs.documents(); ++d)
      for (int64_t query = docs.begin(d); query < docs.end(d); ++query) {
        int64_t first = (i * tokens + query) * tokens + docs.begin(d);
        std::copy_n(scores.data() + first, query - docs.begin(d) + 1, result.data() + first);
      }
  frame.set(op.getResult(), std::move(result));
  return success();
}

template <typename Scalar> static Tensor<Scalar> evaluate(SoftmaxOp op, Frame<Scalar> &frame) {
  const Tensor<Scalar> &x = frame.tensor(op.getX());
  Tensor<Scalar> result(x.shape());
  int64_t n = x.width();
  for (int64_t i = 0; i < x.size(); i += n) {
    Scalar total = logSumExp(x.data() + i, n);
    if (!(total > Scalar(kMinusInfinity)))
      continue;
    for (int64_t j = i; j < i + n; ++j)
      result[j] = exp(x[j] - total);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

template <typename Scalar> static LogicalResult evaluate(ScanOp op, Frame<Scalar> &frame) {
  const Segments &docs = frame.segments(op.getDocs());
  Block &body = op.getBody().front();
  SmallVector<const Tensor<Scalar> *> rows;
  for (Value operand : op.getRows()) {
    rows.push_back(&frame.tensor(operand));
    if (rows.back()->dim(0) != docs.tokens)
      return op.emitOpError() << "expected a row for each of " << docs.tokens << " tokens, got " << rows.back()->dim(0);
  }
  std::vector<Tensor<Scalar>> outputs;
  for (Value result : op.getOutputs()) {
    Shape shape = frame.extents(result.getType());
    shape[0] = docs.tokens;
    outputs.emplace_back(shape);
  }
  for (int64_t d = 0; d < docs.documents(); ++d) {
    Tensor<Scalar> state(cast<RankedTensorType>(op.getState()).getShape());
    for (int64_t t = docs.begin(d); t < docs.end(d); ++t) {
      ValueMap<Scalar> values;
      Frame<Scalar> inner(values, frame);
      inner.set(body.getArgument(0), std::move(state));
      for (size_t i = 0; i < rows.size(); ++i)
        inner.set(body.getArgument(i + 1),
                  Tensor<Scalar>(rows[i]->shape().drop_front(),
                                 std::vector<Scalar>(rows[i]->at(t), rows[i]->at(t) + rows[i]->stride(1))));
      if (failed(evaluateOps(body, inner, /*dropDead=*/false)))
        return failure();
      auto yield = cast<YieldOp>(body.getTerminator());
      for (size_t i = 0; i < outputs.size(); ++i) {
        const Tensor<Scalar> &slice = inner.tensor(yield.getOutputs()[i]);
        if (slice.shape() != outputs[i].shape().drop_front())
          return yield.emitOpError() << "expected output " << i << " to be a slice of " << outputs[i].shape()
                                     << ", got " << slice.shape();
        std::copy_n(slice.data(), slice.size(), outputs[i].at(t));
      }
      state = inner.tensor(yield.getState());
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    frame.set(op.getOutputs()[i], std::move(outputs[i]));
  return success();
}

template <typename Scalar> void registerTensorOps(Registry<Scalar> &registry) {
  registry.template add<
#define GET_OP_LIST
#include "dialects/qt/QtTensorOps.cpp.inc"
      >();
}
template void registerTensorOps(Registry<double> &registry);
template void registerTensorOps(Registry<Dual> &registry);

} // namespace qt::reference
