// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and adjoints of the tensor ops. In an adjoint g is the cotangent of the result.
#include "dialects/qt/TypeChecks.h"

#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

using namespace mlir;

namespace qt {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static LogicalResult verifyBinary(Operation *op, Value lhs, Value rhs) {
  ArrayRef<int64_t> full = shapeOf(lhs), part = shapeOf(rhs);
  if (elementTypeOf(lhs) != elementTypeOf(rhs) || part.size() > full.size() || full.take_back(part.size()) != part)
    return op->emitOpError("expected rhs of the type of lhs, ")
           << lhs.getType() << ", or that of its last dimensions, got " << rhs.getType();
  return success();
}

LogicalResult AddOp::verify() { return verifyBinary(*this, getLhs(), getRhs()); }
LogicalResult SubOp::verify() { return verifyBinary(*this, getLhs(), getRhs()); }
LogicalResult MulOp::verify() { return verifyBinary(*this, getLhs(), getRhs()); }

/// `value` summed over the leading dimensions that `target` lacks: what reaches a repeated operand.
static Value sumRepeated(OpBuilder &b, Location loc, Value value, Value target) {
  int64_t leading = tensorType(value).getRank() - tensorType(target).getRank();
  if (leading == 0)
    return value;
  return ReduceSumOp::create(b, loc, target.getType(), value, llvm::to_vector(llvm::seq<int64_t>(0, leading)));
}

SmallVector<Value> AddOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value g = cotangents[0];
  return {g, sumRepeated(b, getLoc(), g, getRhs())};
}

SmallVector<Value> SubOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value g = cotangents[0];
  return {g, NegOp::create(b, getLoc(), sumRepeated(b, getLoc(), g, getRhs()))};
}

SmallVector<Value> MulOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value g = cotangents[0];
  Value dLhs = MulOp::create(b, getLoc(), g, getRhs());
  Value dRhs = sumRepeated(b, getLoc(), MulOp::create(b, getLoc(), g, getLhs()), getRhs());
  return {dLhs, dRhs};
}

SmallVector<Value> NegOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  return {NegOp::create(b, getLoc(), cotangents[0])};
}

SmallVector<Value> ExpOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  return {MulOp::create(b, getLoc(), cotangents[0], getResult())};
}

/// s' = s - s^2
SmallVector<Value> SigmoidOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value square = MulOp::create(b, getLoc(), getResult(), getResult());
  Value slope = SubOp::create(b, getLoc(), getResult(), square);
  return {MulOp::create(b, getLoc(), cotangents[0], slope)};
}

/// y = x s, y' = s + y (1 - s) = s + y - y s
SmallVector<Value> SiluOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value s = SigmoidOp::create(b, getLoc(), getX());
  Value rest = SubOp::create(b, getLoc(), getResult(), MulOp::create(b, getLoc(), getResult(), s));
  Value slope = AddOp::create(b, getLoc(), s, rest);
  return {MulOp::create(b, getLoc(), cotangents[0], slope)};
}

SmallVector<Value> SoftplusOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  return {MulOp::create(b, getLoc(), cotangents[0], SigmoidOp::create(b, getLoc(), getX()))};
}

LogicalResult ScaleOp::verify() {
  // Kernels have it in f32.
  if (!std::isfinite(static_cast<float>(getFactor().convertToDouble())))
    return emitOpError("expected a factor that is finite in f32, got ") << printNumber(getFactor().convertToDouble());
  return success();
}

SmallVector<Value> ScaleOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  return {ScaleOp::create(b, getLoc(), cotangents[0], getFactorAttr())};
}

LogicalResult CastOp::verify() {
  return expectType(*this, "result", getResult(), shapeOf(getX()), elementTypeOf(getResult()));
}

SmallVector<Value> CastOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  return {CastOp::create(b, getLoc(), getX().getType(), cotangents[0])};
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The dimensions ascend and lie in [0, rank).
static LogicalResult verifyAscending(Operation *op, ArrayRef<int64_t> dims, int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0 || dims[i] >= rank || (i > 0 && dims[i] <= dims[i - 1]))
      return op->emitOpError("expected ascending dimensions from 0 to ") << rank - 1 << ", got [" << dims << "]";
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = tensorType(getX()), to = tensorType(getResult());
  auto rest = [](RankedTensorType type) {
    return type.hasStaticShape() ? type.getShape() : type.getShape().drop_front();
  };
  for (RankedTensorType type : {from, to})
    if (llvm::any_of(rest(type), ShapedType::isDynamic))
      return emitOpError("expected no dynamic dimension but the first, got ") << type;
  auto product = [](ArrayRef<int64_t> shape) { return llvm::accumulate(shape, int64_t{1}, std::multiplies<>()); };
  if (from.getElementType() != to.getElementType() || from.hasStaticShape() != to.hasStaticShape() ||
      product(rest(from)) != product(rest(to)))
    return emitOpError("expected a result of as many elements of the same type as ") << from << ", got " << to;
  return success();
}

SmallVector<Value> ReshapeOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  return {ReshapeOp::create(b, getLoc(), getX().getType(), cotangents[0])};
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = tensorType(getX()), to = tensorType(getResult());
  if (static_cast<int64_t>(getDims().size()) != from.getRank())
    return emitOpError("expected a dimension of the result for each of the ")
           << from.getRank() << " of x, got [" << getDims() << "]";
  if (failed(verifyAscending(*this, getDims(), to.getRank())))
    return failure();
  if (from.getElementType() != to.getElementType())
    return emitOpError("expected a result of the element type of ") << from << ", got " << to;
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (from.getDimSize(i) != 1 && from.getDimSize(i) != to.getDimSize(dim))
      return emitOpError("expected dimension ")
             << dim << " of the result to repeat dimension " << i << " of " << from << ", got " << to;
  return success();
}

SmallVector<Value> BroadcastOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  RankedTensorType from = tensorType(getX()), to = tensorType(getResult());
  llvm::SmallBitVector kept(to.getRank());
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (from.getDimSize(i) == to.getDimSize(dim))
      kept.set(dim);
  SmallVector<int64_t> summed, shape;
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    if (kept[dim])
      shape.push_back(to.getDimSize(dim));
    else
      summed.push_back(dim);
  }
  Value g = cotangents[0];
  if (!summed.empty())
    g = ReduceSumOp::create(b, getLoc(), RankedTensorType::get(shape, from.getElementType()), g, summed);
  if (g.getType() != from)
    g = ReshapeOp::create(b, getLoc(), from, g);
  return {g};
}

/// The shape of a transposed tensor; empty if `permutation` is none of its dimensions.
static std::optional<SmallVector<int64_t>> permuted(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  llvm::SmallBitVector seen(shape.size());
  SmallVector<int64_t> result;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size()) || seen[dim])
      return std::nullopt;
    seen.set(dim);
    result.push_back(shape[dim]);
  }
  if (result.size() != shape.size())
    return std::nullopt;
  return result;
}

LogicalResult TransposeOp::verify() {
  auto shape = permuted(shapeOf(getX()), getPermutation());
  if (!shape)
    return emitOpError("expected a permutation of the ")
           << tensorType(getX()).getRank() << " dimensions of x, got [" << getPermutation() << "]";
  return expectType(*this, "result", getResult(), *shape, elementTypeOf(getX()));
}

/// `x` under the permutation that brings its dimension i to place[i].
static Value transposeTo(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> place) {
  SmallVector<int64_t> permutation(place.size());
  for (auto [i, dim] : llvm::enumerate(place))
    permutation[dim] = i;
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  auto type = RankedTensorType::get(*permuted(shapeOf(x), permutation), elementTypeOf(x));
  return TransposeOp::create(b, loc, type, x, permutation);
}

SmallVector<Value> TransposeOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  return {transposeTo(b, getLoc(), cotangents[0], getPermutation())};
}

/// The dimensions from 0 to rank - 1 that are not in `dims`, ascending.
static SmallVector<int64_t> otherDims(int64_t rank, ArrayRef<int64_t> dims, ArrayRef<int64_t> more = {}) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim) && !llvm::is_contained(more, dim))
      others.push_back(dim);
  return others;
}

static SmallVector<int64_t> select(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return shape[dim]; });
}

LogicalResult ReduceSumOp::verify() {
  int64_t rank = tensorType(getX()).getRank();
  if (failed(verifyAscending(*this, getDims(), rank)))
    return failure();
  return expectType(*this, "result", getResult(), select(shapeOf(getX()), otherDims(rank, getDims())),
                    elementTypeOf(getX()));
}

SmallVector<Value> ReduceSumOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  RankedTensorType type = tensorType(getX());
  return {BroadcastOp::create(b, getLoc(), type, cotangents[0], otherDims(type.getRank(), getDims()))};
}

/// `parts` fill `whole` along dimension `dim`.
static LogicalResult verifyParts(Operation *op, Value whole, int64_t dim, ValueRange parts) {
  RankedTensorType type = tensorType(whole);
  if (dim < 0 || dim >= type.getRank())
    return op->emitOpError("expected a dimension from 0 to ") << type.getRank() - 1 << ", got " << dim;
  if (type.isDynamicDim(dim))
    return op->emitOpError("expected a dimension of known size, got dimension ") << dim << " of " << type;
  if (parts.empty())
    return op->emitOpError("expected at least one part");
  int64_t sum = 0;
  for (Value part : parts) {
    RankedTensorType partType = tensorType(part);
    SmallVector<int64_t> shape(type.getShape());
    if (partType.getRank() == type.getRank() && !partType.isDynamicDim(dim))
      shape[dim] = partType.getDimSize(dim);
    if (partType != RankedTensorType::get(shape, type.getElementType()))
      return op->emitOpError("expected parts of ") << type << " along dimension " << dim << ", got " << partType;
    sum += shape[dim];
  }
  if (sum != type.getDimSize(dim))
    return op->emitOpError("expected parts of together ")
           << type.getDimSize(dim) << " along dimension " << dim << ", got " << sum;
  return success();
}

LogicalResult SplitOp::verify() { return verifyParts(*this, getX(), getDim(), getParts()); }
LogicalResult JoinOp::verify() { return verifyParts(*this, getResult(), getDim(), getParts()); }

SmallVector<Value> SplitOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  SmallVector<Value> parts;
  for (auto [part, g] : llvm::zip_equal(getParts(), cotangents))
    parts.push_back(g ? g : Value(ZerosOp::create(b, getLoc(), part.getType())));
  return {JoinOp::create(b, getLoc(), getX().getType(), parts, getDimAttr())};
}

SmallVector<Value> JoinOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  auto split = SplitOp::create(b, getLoc(), getParts().getTypes(), cotangents[0], getDimAttr());
  return llvm::to_vector_of<Value>(split.getParts());
}

//===----------------------------------------------------------------------===//
// Products and softmax
//===----------------------------------------------------------------------===//

LogicalResult ContractOp::verify() {
  RankedTensorType lhs = tensorType(getLhs()), rhs = tensorType(getRhs());
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError("expected operands of one element type, got ") << lhs << " and " << rhs;
  for (auto [what, left, right] : {std::tuple("batch", getLhsBatch(), getRhsBatch()),
                                   std::tuple("contracted", getLhsContracted(), getRhsContracted())}) {
    if (left.size() != right.size())
      return emitOpError("expected as many ")
             << what << " dimensions of lhs as of rhs, got [" << left << "] and [" << right << "]";
    for (auto [l, r] : llvm::zip_equal(left, right)) {
      if (l < 0 || l >= lhs.getRank() || r < 0 || r >= rhs.getRank())
        return emitOpError("expected ") << what << " dimensions of " << lhs << " and " << rhs << ", got [" << left
                                        << "] and [" << right << "]";
      if (lhs.getDimSize(l) != rhs.getDimSize(r))
        return emitOpError("expected ") << what << " dimensions of one size, got dimension " << l << " of " << lhs
                                        << " and dimension " << r << " of " << rhs;
    }
  }
  for (auto [name, batch, contracted] :
       {std::tuple("lhs", getLhsBatch(), getLhsContracted()), std::tuple("rhs", getRhsBatch(), getRhsContracted())}) {
    SmallVector<int64_t> all(batch);
    llvm::append_range(all, contracted);
    llvm::sort(all);
    if (std::adjacent_find(all.begin(), all.end()) != all.end())
      return emitOpError("expected each dimension of ")
             << name << " once, got batch [" << batch << "] and contracted [" << contracted << "]";
  }
  SmallVector<int64_t> shape = select(lhs.getShape(), getLhsBatch());
  llvm::append_range(shape, select(lhs.getShape(), otherDims(lhs.getRank(), getLhsBatch(), getLhsContracted())));
  llvm::append_range(shape, select(rhs.getShape(), otherDims(rhs.getRank(), getRhsBatch(), getRhsContracted())));
  return expectType(*this, "result", getResult(), shape, lhs.getElementType());
}

/// A contraction of two tensors whose result's type follows from them.
static Value contract(OpBuilder &b, Location loc, Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch,
                      ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContracted, ArrayRef<int64_t> rhsContracted) {
  SmallVector<int64_t> shape = select(shapeOf(lhs), lhsBatch);
  llvm::append_range(shape, select(shapeOf(lhs), otherDims(shapeOf(lhs).size(), lhsBatch, lhsContracted)));
  llvm::append_range(shape, select(shapeOf(rhs), otherDims(shapeOf(rhs).size(), rhsBatch, rhsContracted)));
  return ContractOp::create(b, loc, RankedTensorType::get(shape, elementTypeOf(lhs)), lhs, rhs, lhsBatch, rhsBatch,
                            lhsContracted, rhsContracted);
}

/// The dimensions `dims` in the order in which their partners `partners` ascend.
static SmallVector<int64_t> orderedBy(ArrayRef<int64_t> dims, ArrayRef<int64_t> partners) {
  SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (auto [dim, partner] : llvm::zip_equal(dims, partners))
    pairs.push_back({partner, dim});
  llvm::sort(pairs);
  return llvm::map_to_vector(pairs, [](auto pair) { return pair.second; });
}

/// The result's dimensions are batch, free of lhs, free of rhs. Contracted with the other operand over its free ones,
/// the cotangent has the batch and free dimensions of this operand left, and of the other its contracted ones.
SmallVector<Value> ContractOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value g = cotangents[0];
  int64_t batch = getLhsBatch().size();
  SmallVector<int64_t> lhsFree = otherDims(shapeOf(getLhs()).size(), getLhsBatch(), getLhsContracted());
  SmallVector<int64_t> rhsFree = otherDims(shapeOf(getRhs()).size(), getRhsBatch(), getRhsContracted());
  auto range = [](int64_t begin, int64_t size) { return llvm::to_vector(llvm::seq(begin, begin + size)); };
  SmallVector<int64_t> gBatch = range(0, batch), gLhs = range(batch, lhsFree.size()),
                       gRhs = range(batch + lhsFree.size(), rhsFree.size());

  Value dLhs = contract(b, getLoc(), g, getRhs(), gBatch, getRhsBatch(), gRhs, rhsFree);
  SmallVector<int64_t> lhsPlace(getLhsBatch());
  llvm::append_range(lhsPlace, lhsFree);
  llvm::append_range(lhsPlace, orderedBy(getLhsContracted(), getRhsContracted()));

  Value dRhs = contract(b, getLoc(), getLhs(), g, getLhsBatch(), gBatch, lhsFree, gLhs);
  SmallVector<int64_t> rhsPlace(getRhsBatch());
  llvm::append_range(rhsPlace, orderedBy(getRhsContracted(), getLhsContracted()));
  llvm::append_range(rhsPlace, rhsFree);
  return {transposeTo(b, getLoc(), dLhs, lhsPlace), transposeTo(b, getLoc(), dRhs, rhsPlace)};
}

LogicalResult CausalMaskOp::verify() {
  RankedTensorType type = tensorType(getScores());
  if (type.getRank() < 2 || type.getShape().end()[-1] != type.getShape().end()[-2])
    return emitOpError("expected scores whose last two dimensions are the tokens, got ") << type;
  SegmentsType docs = getDocs().getType();
  if (docs.isStatic() && type.getShape().back() != docs.getTokens())
    return emitOpError("expected scores of the ") << docs.getTokens() << " tokens of " << docs << ", got " << type;
  return success();
}

/// e^mask is 1 where a score is kept and 0 where it is not.
SmallVector<Value> CausalMaskOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  Value zeros = ZerosOp::create(b, getLoc(), getScores().getType());
  Value kept = ExpOp::create(b, getLoc(), CausalMaskOp::create(b, getLoc(), getDocs(), zeros));
  return {Value(), MulOp::create(b, getLoc(), cotangents[0], kept)};
}

/// dx = y (g - sum(g y))
SmallVector<Value> SoftmaxOp::buildAdjoint(OpBuilder &b, ValueRange cotangents) {
  RankedTensorType type = tensorType(getX());
  int64_t last = type.getRank() - 1;
  Value gy = MulOp::create(b, getLoc(), cotangents[0], getResult());
  Value sum = ReduceSumOp::create(
      b, getLoc(), RankedTensorType::get(type.getShape().drop_back(), type.getElementType()), gy, ArrayRef(last));
  Value spread = BroadcastOp::create(b, getLoc(), type, sum, otherDims(type.getRank(), ArrayRef(last)));
  return {SubOp::create(b, getLoc(), gy, MulOp::create(b, getLoc(), getResult(), spread))};
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  SegmentsType docs = getDocs().getType();
  if (getRows().empty())
    return emitOpError("expected at least one row operand");
  int64_t tokens = shapeOf(getRows().front())[0];
  for (ValueRange values : {ValueRange(getRows()), ValueRange(getOutputs())})
    for (Value value : values) {
      if (shapeOf(value)[0] != tokens)
        return emitOpError("expected rows and results of as many tokens, got ")
               << getRows().front().getType() << " and " << value.getType();
      if (failed(expectTokens(*this, "each operand and result", value, docs)))
        return failure();
    }
  if (!cast<RankedTensorType>(getState()).hasStaticShape())
    return emitOpError("expected a state of known shape, got ") << getState();
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  auto slice = [](Type rows) {
    auto type = cast<RankedTensorType>(rows);
    return RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
  };
  SmallVector<Type> arguments{getState()}, yielded{getState()};
  for (Type rows : getRows().getTypes())
    arguments.push_back(slice(rows));
  for (Type outputs : getOutputs().getTypes())
    yielded.push_back(slice(outputs));
  if (getBody().getArgumentTypes() != TypeRange(arguments))
    return emitOpError("expected a body of (") << arguments << "), got (" << getBody().getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("expected the body to end in qt.yield, got ") << getBody().front().getTerminator()->getName();
  if (yield->getOperandTypes() != TypeRange(yielded))
    return emitOpError("expected the body to yield (") << yielded << "), got (" << yield->getOperandTypes() << ")";
  return success();
}

} // namespace qt
