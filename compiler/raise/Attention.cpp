// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax(mask(c * q k^T)) v -> qt.attention: a softmax over the keys of one masked bilinear form, contracted with the
// values. Scale, casts, transposes and repeated heads are looked through.
#include "compiler/Match.h"
#include "compiler/Passes.h"
#include "compiler/Report.h"
#include "compiler/Scope.h"
#include "compiler/raise/CheckRaised.h"
#include "compiler/raise/Multilinear.h"
#include "compiler/raise/RowOperand.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_RAISEATTENTION
#include "compiler/Passes.h.inc"

namespace {

/// Rows and where tokens, heads and width are among their dimensions.
struct Role {
  Value rows;
  SmallVector<int64_t, 3> order;
};

struct Match {
  qt::CausalMaskOp mask;
  qt::ContractOp scores, output;
  Role q, k, v;
  double scale = 1;
  SmallVector<int64_t, 3> outputOrder; // where tokens, heads and width are in the output
};

/// Looks back through what a bilinear form is taken apart by: widening casts, transposes and, with `scales`, constants.
Value leafOf(Value value, bool scales) {
  while (Operation *op = value.getDefiningOp()) {
    if (Value narrow = widenedFrom(value))
      value = narrow;
    else if (isa<qt::TransposeOp>(op) || (scales && isa<qt::ScaleOp, qt::NegOp>(op)))
      value = op->getOperand(0);
    else
      break;
  }
  return value;
}

class Matcher {
public:
  explicit Matcher(qt::SoftmaxOp softmax) : softmax_(softmax) {}

  FailureOr<Match> match(std::string &why) {
    if (succeeded(matchScores()) && succeeded(matchOutput()))
      return match_;
    why = why_;
    return failure();
  }

private:
  LogicalResult differs(const Twine &text) {
    why_ = text.str();
    return failure();
  }
  /// Where the indices are among a factor's; failure unless the factor has each once and no other.
  static FailureOr<SmallVector<int64_t, 3>> orderOf(const Factor &factor, ArrayRef<int> indices) {
    SmallVector<int64_t, 3> order;
    for (int index : indices) {
      int64_t place = llvm::find(factor.indices, index) - factor.indices.begin();
      if (place == static_cast<int64_t>(factor.indices.size()))
        return failure();
      order.push_back(place);
    }
    if (order.size() != factor.indices.size())
      return failure();
    return order;
  }
  LogicalResult matchScores();
  LogicalResult matchOutput();

  qt::SoftmaxOp softmax_;
  std::string why_;
  Match match_;
};

LogicalResult Matcher::matchScores() {
  Value masked = softmax_.getX();
  for (Value narrow = masked; narrow; narrow = widenedFrom(masked))
    masked = narrow;
  match_.mask = masked.getDefiningOp<qt::CausalMaskOp>();
  if (!match_.mask)
    return differs("expected a softmax of causally masked scores; got " + describe(masked));
  RankedTensorType type = qt::tensorType(match_.mask.getScores());
  if (type.getRank() != 3)
    return differs("expected scores [heads, tokens, tokens]; got " + Twine(type.getRank()) + " dimensions");

  Value product = leafOf(match_.mask.getScores(), /*scales=*/true);
  match_.scores = product.getDefiningOp<qt::ContractOp>();
  if (!match_.scores)
    return differs("expected scores of one product of queries and keys; got " + describe(product));
  SmallVector<Value> leaves = {leafOf(match_.scores.getLhs(), true), leafOf(match_.scores.getRhs(), true)};
  Multilinear forms(leaves, {"x", "y"});
  std::string why;
  Operation *where = nullptr;
  FailureOr<Form> form = forms.of(match_.mask.getScores(), why, where);
  if (failed(form))
    return differs("expected scores of one product of queries and keys; " + why);

  // Dimensions of the scores: 0 heads, 1 queries, 2 keys; the width is summed.
  if (form->size() == 1 && form->front().factors.size() == 2)
    for (unsigned i : {0, 1}) {
      const Factor &query = form->front().factors[i], &key = form->front().factors[1 - i];
      FailureOr<SmallVector<int64_t, 3>> queryOrder = orderOf(query, {1, 0, ~0}), keyOrder = orderOf(key, {2, 0, ~0});
      if (failed(queryOrder) || failed(keyOrder))
        continue;
      match_.q = {leaves[Multilinear::leafOf(query.atom)], *queryOrder};
      match_.k = {leaves[Multilinear::leafOf(key.atom)], *keyOrder};
      match_.scale = form->front().coefficient;
      return success();
    }
  return differs("expected scores c q[b,a,s] k[c,a,s] for head a, query b and key c; got " + forms.text(*form));
}

LogicalResult Matcher::matchOutput() {
  Value weights = softmax_.getResult();
  while (true) {
    SmallVector<Operation *> readers = readersOf(weights);
    if (readers.size() != 1)
      return differs("expected one reader of the softmax; got " + Twine(readers.size()));
    auto cast = dyn_cast<qt::CastOp>(readers.front());
    if (!cast) {
      match_.output = dyn_cast<qt::ContractOp>(readers.front());
      break;
    }
    weights = cast.getResult();
  }
  if (!match_.output)
    return differs("expected the softmax to be contracted with the values; got " +
                   readersOf(weights).front()->getName().getStringRef());
  qt::ContractOp output = match_.output;
  bool left = output.getLhs() == weights;
  SmallVector<Value> leaves = {weights, leafOf(left ? output.getRhs() : output.getLhs(), false)};
  Multilinear forms(leaves, {"p", "v"});
  std::string why;
  Operation *where = nullptr;
  FailureOr<Form> form = forms.of(output.getResult(), why, where);
  if (failed(form))
    return differs("expected the softmax to be contracted with the values; " + why);

  // p has the dimensions heads, queries and keys; the keys are summed.
  if (leaves[0] != leaves[1] && form->size() == 1 && form->front().factors.size() == 2) {
    const Factor &p = form->front().factors[0], &v = form->front().factors[1];
    if (p.atom == forms.leafAtom(0) && v.atom == forms.leafAtom(1) && p.indices.size() == 3 && p.indices[2] == ~0 &&
        p.indices[0] >= 0 && p.indices[1] >= 0) {
      int head = p.indices[0], query = p.indices[1], width = 3 - head - query;
      if (FailureOr<SmallVector<int64_t, 3>> order = orderOf(v, {~0, head, width}); succeeded(order)) {
        match_.v = {leaves[1], *order};
        match_.outputOrder = {query, head, width};
        return success();
      }
    }
  }
  return differs("expected the softmax to be contracted over the keys with values of the same heads; got " +
                 forms.text(*form));
}

RowOperand operandOf(OpBuilder &builder, Location loc, const Role &role, Absorb absorb) {
  return absorbed(arranged(builder, loc, role.rows, role.order), absorb);
}

LogicalResult raise(qt::SoftmaxOp softmax, const Match &match, RaisedCheck &check) {
  qt::ContractOp scores = match.scores, output = match.output;
  qt::CausalMaskOp mask = match.mask;
  OpBuilder builder(output);
  Location loc = softmax.getLoc();
  RowOperand q = operandOf(builder, loc, match.q, {.scales = true});
  RowOperand k = operandOf(builder, loc, match.k, {.scales = true, .repeats = true});
  RowOperand v = operandOf(builder, loc, match.v, {.repeats = true});
  if (k.repeat != v.repeat) {
    k = operandOf(builder, loc, match.k, {.scales = true});
    v = operandOf(builder, loc, match.v, {});
  }
  if (int64_t keys = qt::tensorType(k.value).getDimSize(2), values = qt::tensorType(v.value).getDimSize(2);
      keys != values)
    return softmax.emitOpError() << "is not the attention there is a kernel for: expected values of the keys' width "
                                 << keys << "; got " << values;

  SmallVector<Value> rows = {q.value, k.value, v.value};
  SmallVector<Value> inputs = rows;
  unifyElementTypes(builder, loc, rows);
  auto attention = qt::AttentionOp::create(builder, loc, rows[0].getType(), /*lse=*/Type(), /*o=*/Type(),
                                           mask.getDocs(), rows[0], rows[1], rows[2],
                                           /*gate=*/Value(), llvm::APFloat(match.scale * q.scale * k.scale));
  setScope(attention, mergeScopes({softmax, scores, output}));

  Value old = output.getResult();
  if (failed(check(softmax, old, restored(builder, old, attention.getY(), match.outputOrder), attention.getDocs(),
                   inputs)))
    return failure();
  replaceRows(builder, old, attention.getY(), match.outputOrder);
  reportFormed(attention, {old}, kRaiseRemarks);
  return success();
}

struct RaiseAttention : impl::RaiseAttentionBase<RaiseAttention> {
  void runOnOperation() override {
    RaisedCheck check;
    SmallVector<qt::SoftmaxOp> softmaxes;
    getOperation().walk([&](qt::SoftmaxOp softmax) { softmaxes.push_back(softmax); });
    for (qt::SoftmaxOp softmax : softmaxes) {
      std::string why;
      FailureOr<Match> match = Matcher(softmax).match(why);
      if (failed(match)) {
        softmax.emitOpError() << "is not the attention there is a kernel for: " << why;
        signalPassFailure();
      } else if (failed(raise(softmax, *match, check))) {
        signalPassFailure();
      }
    }
    eraseDeadOps(getOperation());
  }
};

} // namespace
} // namespace qcc
