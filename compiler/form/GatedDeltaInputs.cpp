// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What feeds a gated delta rule -> qt.gated_delta_inputs (docs/model.md, Gated DeltaNet 2-5): convolution, silu, split,
// the 2-norms of q and k, beta = sigmoid(b), g = -exp(a_log) * softplus(a + dt_bias).
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMGATEDDELTAINPUTS
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.gated_delta_inputs";

class Former {
public:
  explicit Former(qt::GatedDeltaRuleOp rule) : rule_(rule) {}

  LogicalResult form(Why &why) {
    if (succeeded(matchRows()) && succeeded(matchBeta()) && succeeded(matchDecay()) && succeeded(replace()))
      return success();
    why = why_;
    return failure();
  }

private:
  LogicalResult differs(const Twine &why) {
    why_ = why.str();
    return failure();
  }
  /// The part of a split that, as heads, is `rows`.
  FailureOr<OpResult> partOf(Value rows, StringRef what) {
    auto reshape = producerOf<qt::ReshapeOp>(rows);
    auto part = reshape ? dyn_cast<OpResult>(withoutCasts(reshape.getX())) : OpResult();
    if (!part || !isa<qt::SplitOp>(part.getOwner()))
      return differs("expected " + what + " to be heads of a part of qt.split; got " + describe(withoutCasts(rows)));
    merged_.push_back(part.getOwner());
    return part;
  }
  LogicalResult matchRows();
  LogicalResult matchBeta();
  LogicalResult matchDecay();
  LogicalResult replace();
  /// Takes a product apart, constants aside; factors that repeat along the tokens as they were before.
  void takeApart(Value value, double &coefficient, SmallVectorImpl<Value> &factors);

  qt::GatedDeltaRuleOp rule_;
  Why why_;
  SmallVector<Operation *> merged_;
  qt::CausalConvOp conv_;
  Value b_, a_, aLog_, dtBias_;
  FloatAttr eps_;
};

/// A value of one number a head, before it is repeated for each token.
Value withoutRepeats(Value value) {
  while (true) {
    value = withoutCasts(value);
    auto broadcast = value.getDefiningOp<qt::BroadcastOp>();
    if (!broadcast || !llvm::equal(broadcast.getDims(), ArrayRef<int64_t>{1}))
      return value;
    value = broadcast.getX();
  }
}

LogicalResult Former::matchRows() {
  FailureOr<OpResult> v = partOf(rule_.getV(), "v");
  if (failed(v))
    return failure();
  auto split = cast<qt::SplitOp>(v->getOwner());
  auto silu = producerOf<qt::SiluOp>(split.getX());
  if (!silu)
    return differs("expected a split of a silu; got of " + describe(withoutCasts(split.getX())));
  conv_ = producerOf<qt::CausalConvOp>(silu.getX());
  if (!conv_)
    return differs("expected the silu of qt.causal_conv; got of " + describe(withoutCasts(silu.getX())));
  if (conv_.getDocs() != rule_.getDocs())
    return differs("expected one documents value; got different ones");
  if (split.getParts().size() != 3 || split.getDim() != 1 || v->getResultNumber() != 2)
    return differs("expected the convolution to be split into q | k | v along dimension 1");
  merged_.append({silu, conv_});

  qt::L2NormOp norms[2];
  for (unsigned i : {0, 1}) {
    StringRef what = i == 0 ? "q" : "k";
    Value rows = i == 0 ? rule_.getQ() : rule_.getK();
    norms[i] = producerOf<qt::L2NormOp>(rows);
    if (!norms[i])
      return differs("expected " + what + " to come from qt.l2_norm; got " + describe(withoutCasts(rows)));
    FailureOr<OpResult> part = partOf(norms[i].getX(), what);
    if (failed(part))
      return failure();
    if (part->getOwner() != split || part->getResultNumber() != i)
      return differs("expected " + what + " to be part " + Twine(i) + " of the same split as v");
    merged_.push_back(norms[i]);
  }
  if (norms[0].getEps() != norms[1].getEps())
    return differs("expected one eps of the norms of q and k; got different ones");
  eps_ = norms[0].getEpsAttr();
  Type element = qt::tensorType(conv_.getX()).getElementType();
  for (Value rows : {rule_.getQ(), rule_.getK(), rule_.getV()})
    if (qt::tensorType(rows).getElementType() != element)
      return differs("expected q, k and v in the convolution's element type; got another one");
  return success();
}

LogicalResult Former::matchBeta() {
  auto sigmoid = producerOf<qt::SigmoidOp>(rule_.getBeta());
  if (!sigmoid)
    return differs("expected beta to be a sigmoid; got " + describe(withoutCasts(rule_.getBeta())));
  b_ = withoutCasts(sigmoid.getX());
  Type element = qt::tensorType(conv_.getX()).getElementType();
  if (rule_.getBeta().getType() != b_.getType() || qt::tensorType(b_).getElementType() != element)
    return differs("expected b and beta in the convolution's element type; got another one");
  merged_.push_back(sigmoid);
  return success();
}

void Former::takeApart(Value value, double &coefficient, SmallVectorImpl<Value> &factors) {
  value = withoutRepeats(value);
  Operation *op = value.getDefiningOp();
  if (auto mul = dyn_cast_or_null<qt::MulOp>(op)) {
    takeApart(mul.getLhs(), coefficient, factors);
    takeApart(mul.getRhs(), coefficient, factors);
  } else if (auto neg = dyn_cast_or_null<qt::NegOp>(op)) {
    coefficient = -coefficient;
    takeApart(neg.getX(), coefficient, factors);
  } else if (auto scale = dyn_cast_or_null<qt::ScaleOp>(op)) {
    coefficient *= scale.getFactor().convertToDouble();
    takeApart(scale.getX(), coefficient, factors);
  } else {
    factors.push_back(value);
  }
}

LogicalResult Former::matchDecay() {
  double coefficient = 1;
  SmallVector<Value> factors;
  takeApart(rule_.getG(), coefficient, factors);
  qt::SoftplusOp softplus;
  qt::ExpOp exp;
  for (Value factor : factors) {
    if (auto op = factor.getDefiningOp<qt::SoftplusOp>())
      softplus = op;
    if (auto op = factor.getDefiningOp<qt::ExpOp>())
      exp = op;
  }
  if (factors.size() != 2 || !softplus || !exp || coefficient != -1)
    return differs("expected g = -exp(a_log) * softplus(a + dt_bias); got another product");
  aLog_ = withoutRepeats(exp.getX());
  auto add = producerOf<qt::AddOp>(softplus.getX());
  if (!add)
    return differs("expected g's softplus of a sum; got of " + describe(withoutCasts(softplus.getX())));
  a_ = withoutRepeats(add.getLhs());
  dtBias_ = withoutRepeats(add.getRhs());
  if (qt::tensorType(a_).getRank() < qt::tensorType(dtBias_).getRank())
    std::swap(a_, dtBias_);
  if (a_.getType() != b_.getType() || qt::tensorType(dtBias_).getRank() != 1 || qt::tensorType(aLog_).getRank() != 1)
    return differs("expected a of b's type, and a_log and dt_bias of one number a head; got " + describe(a_) + ", " +
                   describe(aLog_) + " and " + describe(dtBias_) + " of other shapes");
  merged_.append({softplus, exp});
  return success();
}

LogicalResult Former::replace() {
  Value old[] = {rule_.getQ(), rule_.getK(), rule_.getV(), rule_.getG(), rule_.getBeta()};
  FailureOr<OpBuilder> builder = placeFor({conv_.getX(), b_, a_, conv_.getWeight(), aLog_, dtBias_}, old, why_);
  if (failed(builder))
    return failure();
  auto compound = qt::GatedDeltaInputsOp::create(*builder, conv_.getLoc(), TypeRange(ValueRange(old)), conv_.getDocs(),
                                                 conv_.getX(), b_, a_, conv_.getWeight(), aLog_, dtBias_, eps_);
  setScope(compound, mergeScopes(merged_));
  for (auto [before, after] : llvm::zip(old, compound.getResults()))
    before.replaceAllUsesWith(after);
  reportFormed(compound, old);
  return success();
}

/// Adds the convolutions that a value comes from, other than by a projection or a compound.
void addConvolutionsOf(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<qt::LinearOp, qt::KernelBackedOpInterface>(op) || !seen.insert(op).second)
    return;
  if (!isa<qt::CausalConvOp>(op))
    for (Value operand : op->getOperands())
      addConvolutionsOf(operand, seen);
}

struct FormGatedDeltaInputs : impl::FormGatedDeltaInputsBase<FormGatedDeltaInputs> {
  void runOnOperation() override {
    SmallVector<qt::GatedDeltaRuleOp> rules;
    getOperation().walk([&](qt::GatedDeltaRuleOp rule) { rules.push_back(rule); });
    llvm::SmallPtrSet<Operation *, 4> explained;
    for (qt::GatedDeltaRuleOp rule : rules) {
      Why why;
      if (succeeded(Former(rule).form(why)))
        continue;
      reportMissed(rule, kName, why);
      for (Value rows : {rule.getQ(), rule.getK(), rule.getV()})
        addConvolutionsOf(rows, explained);
    }
    eraseDeadOps(getOperation());
    getOperation().walk([&](qt::CausalConvOp conv) {
      if (!explained.contains(conv))
        reportMissed(conv, kName, "expected qt.gated_delta_rule to read what the convolution gives");
    });
  }
};

} // namespace
} // namespace qcc
