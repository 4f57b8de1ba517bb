// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/raise/RowOperand.h"

#include "compiler/Match.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace qcc {
namespace {

bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::all_of(llvm::enumerate(permutation),
                      [](auto pair) { return static_cast<int64_t>(pair.index()) == pair.value(); });
}

/// Dimension i of the result is dimension first[second[i]] of the first one's operand.
SmallVector<int64_t> compose(ArrayRef<int64_t> first, ArrayRef<int64_t> second) {
  SmallVector<int64_t> composed;
  for (int64_t dim : second)
    composed.push_back(first[dim]);
  return composed;
}

/// x [T,K,d] of a reshape [T,K,r,d] -> [T,K*r,d] of a broadcast of x or of its reshape [T,K,1,d]: each head r times in
/// a row. Null if it is another reshape.
Value repeatedHeadsOf(qt::ReshapeOp reshape, int64_t &repeat) {
  auto broadcast = reshape.getX().getDefiningOp<qt::BroadcastOp>();
  RankedTensorType to = qt::tensorType(reshape.getResult());
  if (!broadcast || to.getRank() != 3)
    return {};
  RankedTensorType full = qt::tensorType(broadcast.getResult());
  if (full.getRank() != 4 || full.getDimSize(0) != to.getDimSize(0) || full.getDimSize(3) != to.getDimSize(2))
    return {};
  SmallVector<int64_t> heads = {full.getDimSize(0), full.getDimSize(1), full.getDimSize(3)};
  Value x = broadcast.getX();
  if (llvm::equal(broadcast.getDims(), ArrayRef<int64_t>{0, 1, 2, 3})) {
    SmallVector<int64_t> unit = {heads[0], heads[1], 1, heads[2]};
    auto inner = x.getDefiningOp<qt::ReshapeOp>();
    if (!inner || qt::tensorType(x).getShape() != ArrayRef(unit))
      return {};
    x = inner.getX();
  } else if (!llvm::equal(broadcast.getDims(), ArrayRef<int64_t>{0, 1, 3})) {
    return {};
  }
  if (qt::tensorType(x).getShape() != ArrayRef(heads))
    return {};
  repeat = full.getDimSize(2);
  return x;
}

} // namespace

Value widenedFrom(Value value) {
  auto cast = value.getDefiningOp<qt::CastOp>();
  if (!cast || qt::tensorType(cast.getX()).getElementTypeBitWidth() >= qt::tensorType(value).getElementTypeBitWidth())
    return {};
  return cast.getX();
}

RowOperand absorbed(Value rows, Absorb absorb) {
  RowOperand operand{rows};
  while (true) {
    if (Value narrow = widenedFrom(operand.value)) {
      operand.value = narrow;
      continue;
    }
    if (auto scale = operand.value.getDefiningOp<qt::ScaleOp>(); scale && absorb.scales) {
      operand.scale *= scale.getFactor().convertToDouble();
      operand.value = scale.getX();
      continue;
    }
    if (auto reshape = operand.value.getDefiningOp<qt::ReshapeOp>(); reshape && absorb.repeats) {
      int64_t repeat = 1;
      if (Value heads = repeatedHeadsOf(reshape, repeat)) {
        operand.value = heads;
        operand.repeat *= repeat;
        continue;
      }
    }
    return operand;
  }
}

void unifyElementTypes(OpBuilder &builder, Location loc, MutableArrayRef<Value> values) {
  Type widest = qt::tensorType(values.front()).getElementType();
  for (Value value : values)
    if (qt::tensorType(value).getElementTypeBitWidth() > widest.getIntOrFloatBitWidth())
      widest = qt::tensorType(value).getElementType();
  for (Value &value : values)
    if (qt::tensorType(value).getElementType() != widest)
      value = qt::CastOp::create(builder, loc, qt::tensorType(value).clone(widest), value);
}

Value arranged(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation))
    return value;
  if (auto transpose = value.getDefiningOp<qt::TransposeOp>())
    return arranged(builder, loc, transpose.getX(), compose(transpose.getPermutation(), permutation));
  auto type = qt::tensorType(value);
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  return qt::TransposeOp::create(builder, loc, type.clone(shape), value, permutation);
}

Value restored(OpBuilder &builder, Value old, Value raised, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, dim] : llvm::enumerate(permutation))
    inverse[dim] = static_cast<int64_t>(i);
  Value value = arranged(builder, old.getLoc(), raised, inverse);
  if (value.getType() != old.getType())
    value = qt::CastOp::create(builder, old.getLoc(), old.getType(), value);
  return value;
}

void replaceRows(OpBuilder &builder, Value old, Value raised, ArrayRef<int64_t> permutation) {
  if (isIdentity(permutation) && old.getType() == raised.getType()) {
    old.replaceAllUsesWith(raised);
    return;
  }
  // Readers that undo the difference first.
  for (Operation *user : llvm::to_vector(old.getUsers())) {
    if (auto transpose = dyn_cast<qt::TransposeOp>(user)) {
      // Dimension i of the transpose is dimension p[i] of old; the raised one's dimension j is dimension permutation[j]
      // of old.
      SmallVector<int64_t> remaining;
      for (int64_t dim : permutation)
        remaining.push_back(llvm::find(transpose.getPermutation(), dim) - transpose.getPermutation().begin());
      if (isIdentity(remaining))
        replaceRows(builder, transpose.getResult(), raised, remaining);
    } else if (auto cast = dyn_cast<qt::CastOp>(user)) {
      if (qt::tensorType(cast.getResult()).getElementType() == qt::tensorType(raised).getElementType())
        replaceRows(builder, cast.getResult(), raised, permutation);
    }
  }
  auto alive = [](Operation *user) { return !isOpTriviallyDead(user); };
  if (llvm::none_of(old.getUsers(), alive))
    return;
  old.replaceAllUsesWith(restored(builder, old, raised, permutation));
}

} // namespace qcc
