// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// qt.scan of the gated delta rule -> qt.gated_delta_rule. The rule, for a head (docs/model.md, Gated DeltaNet 6):
//
//   S' = e^g S + beta k v^T - beta k k^T e^g S,   out = S'^T q
//
// The body may spell it in any way that Multilinear.h brings to this form; which row is which follows from the form
// alone.
#include "compiler/Match.h"
#include "compiler/Passes.h"
#include "compiler/Report.h"
#include "compiler/Scope.h"
#include "compiler/raise/CheckRaised.h"
#include "compiler/raise/Multilinear.h"
#include "compiler/raise/RowOperand.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_RAISEGATEDDELTA
#include "compiler/Passes.h.inc"

namespace {

/// A row of the scan in its role. `order` says where the head and the width are among the dimensions of its slice.
struct Role {
  unsigned row = 0;
  SmallVector<int64_t, 2> order;
};

struct Match {
  Role q, k, v, g, beta;
  double scale = 1;
  SmallVector<int64_t, 2> outputOrder; // where the head and the value width are in the output's slice
};

/// Why a scan is not the gated delta rule, and the op where it differs, if it is one.
struct Difference {
  std::string text;
  Operation *where = nullptr;
};

class Matcher {
public:
  explicit Matcher(qt::ScanOp scan)
      : scan_(scan), body_(scan.getBody().front()), forms_(SmallVector<Value>(body_.getArguments()), namesOf(body_)) {}

  FailureOr<Match> match(Difference &difference) {
    if (succeeded(matchState()) && succeeded(matchOutput()))
      return match_;
    difference = difference_;
    return failure();
  }

private:
  static constexpr unsigned kState = 0; // leaf 0 is the state, leaf 1 + i is row i

  static SmallVector<std::string> namesOf(Block &body) {
    SmallVector<std::string> names = {"S"};
    for (unsigned row = 0; row + 1 < body.getNumArguments(); ++row)
      names.push_back("x" + std::to_string(row));
    return names;
  }
  LogicalResult differs(const Twine &text, Operation *where = nullptr) {
    difference_ = {text.str(), where};
    return failure();
  }
  FailureOr<Form> formOf(Value value, StringRef what) {
    std::string why;
    Operation *where = nullptr;
    FailureOr<Form> form = forms_.of(value, why, where);
    if (failed(form))
      return differs("expected " + what + " to be sums of products of the state and the rows; " + why, where);
    return form;
  }
  static unsigned rowOf(unsigned atom) { return Multilinear::leafOf(atom) - 1; }
  static Factor factor(unsigned atom, std::initializer_list<int> indices) {
    return Factor{atom, SmallVector<int, 3>(indices)};
  }
  /// The state with dimension `dim` replaced by an index.
  Factor stateWith(int dim, int index) const {
    Factor state = factor(forms_.leafAtom(kState), {0, 1, 2});
    state.indices[dim] = index;
    return state;
  }

  LogicalResult matchState();
  LogicalResult matchDecay(Form &kept);
  LogicalResult matchWrite(const Form &written);
  LogicalResult matchCorrection(const Form &rest);
  LogicalResult matchOutput();

  qt::ScanOp scan_;
  Block &body_;
  Multilinear forms_;
  Difference difference_;
  Match match_;
  Form next_;                                // the next state
  int head_ = 0, keyDim_ = 0, valueDim_ = 0; // dimensions of the state
  Factor first_, second_;                    // the two rows that are written, one the key and one the value
};

/// Where a factor has an index.
int64_t placeOf(const Factor &factor, int index) { return llvm::find(factor.indices, index) - factor.indices.begin(); }

LogicalResult Matcher::matchState() {
  if (scan_.getOutputs().size() != 1)
    return differs("expected one output a token; got " + Twine(scan_.getOutputs().size()));
  auto state = cast<RankedTensorType>(scan_.getState());
  if (state.getRank() != 3)
    return differs("expected a state of three dimensions (heads, key width, value width); got " +
                   Twine(state.getRank()));
  auto yield = cast<qt::YieldOp>(body_.getTerminator());
  FailureOr<Form> next = formOf(yield.getState(), "the next state");
  if (failed(next))
    return failure();
  next_ = *next;

  Form written, kept;
  for (const Term &term : next_) {
    int count = term.count(forms_.leafAtom(kState));
    if (count > 1 || term.count(forms_.expAtom(kState)))
      return differs("expected the next state to be linear in the state; got " + forms_.text(term));
    (count ? kept : written).push_back(term);
  }
  return failure(failed(matchDecay(kept)) || failed(matchWrite(written)) || failed(matchCorrection(kept)));
}

/// e^g S: takes that term out of `kept`, and learns g and which dimension of the state counts heads.
LogicalResult Matcher::matchDecay(Form &kept) {
  Factor state = stateWith(0, 0);
  for (const Term &term : kept) {
    if (term.factors.size() != 2 || !term.summed.empty() || term.coefficient != 1 ||
        !llvm::is_contained(term.factors, state))
      continue;
    const Factor &decay = term.factors[term.factors[0] == state ? 1 : 0];
    if (!Multilinear::isExp(decay.atom) || decay.indices.size() != 1)
      continue;
    match_.g = {rowOf(decay.atom), {0}};
    head_ = decay.indices[0];
    kept.erase(&term);
    return success();
  }
  return differs("expected the state to be multiplied by exp of a row of one number a head; got " + forms_.text(kept));
}

/// beta k v^T: learns beta, and the two rows of which the correction tells the key.
LogicalResult Matcher::matchWrite(const Form &written) {
  SmallVector<Factor, 2> wide;
  bool hasBeta = false;
  auto fits = [&](const Term &term) {
    if (term.factors.size() != 3 || !term.summed.empty() || std::abs(term.coefficient - 1) > 1e-9)
      return false;
    for (const Factor &part : term.factors) {
      if (Multilinear::isExp(part.atom) || !llvm::is_contained(part.indices, head_))
        return false;
      if (part.indices.size() == 1 && !hasBeta) {
        hasBeta = true;
        match_.beta = {rowOf(part.atom), {0}};
      } else if (part.indices.size() == 2) {
        wide.push_back(part);
      }
    }
    return hasBeta && wide.size() == 2;
  };
  if (written.size() != 1 || !fits(written.front()))
    return differs("expected one number a head times a key times a value to be added to the state; got " +
                   forms_.text(written));
  first_ = wide[0];
  second_ = wide[1];
  return success();
}

/// -beta k k^T e^g S.
LogicalResult Matcher::matchCorrection(const Form &rest) {
  for (const auto &[key, value] : {std::pair(first_, second_), std::pair(second_, first_)}) {
    int keyDim = key.indices[1 - placeOf(key, head_)];
    Factor seen = key;
    seen.indices[placeOf(key, keyDim)] = ~0;
    Term term;
    term.coefficient = -1;
    term.summed = {cast<RankedTensorType>(scan_.getState()).getDimSize(keyDim)};
    term.factors = {factor(forms_.leafAtom(1 + match_.beta.row), {head_}), key, seen,
                    factor(forms_.expAtom(1 + match_.g.row), {head_}), stateWith(keyDim, ~0)};
    FailureOr<Form> expected = forms_.normalize({term});
    if (failed(expected) || !sameForm(*expected, rest))
      continue;
    auto roleOf = [&](const Factor &part) {
      int64_t head = placeOf(part, head_);
      return Role{rowOf(part.atom), {head, 1 - head}};
    };
    match_.k = roleOf(key);
    match_.v = roleOf(value);
    keyDim_ = keyDim;
    valueDim_ = 3 - head_ - keyDim;
    return success();
  }
  return differs("expected beta k k^T times the decayed state to be subtracted; got " + forms_.text(rest));
}

/// S'^T q times any constant.
LogicalResult Matcher::matchOutput() {
  auto yield = cast<qt::YieldOp>(body_.getTerminator());
  FailureOr<Form> output = formOf(yield.getOutputs()[0], "the output");
  if (failed(output))
    return failure();
  auto state = cast<RankedTensorType>(scan_.getState());
  bool flat = cast<RankedTensorType>(yield.getOutputs()[0].getType()).getRank() == 2;
  for (unsigned row = 0; flat && !output->empty() && row + 1 < body_.getNumArguments(); ++row) {
    auto type = cast<RankedTensorType>(body_.getArgument(1 + row).getType());
    if (type.getRank() != 2)
      continue;
    for (int outHead : {0, 1})
      for (int rowHead : {0, 1}) {
        if (type.getDimSize(rowHead) != state.getDimSize(head_) ||
            type.getDimSize(1 - rowHead) != state.getDimSize(keyDim_))
          continue;
        Term query;
        query.factors.push_back(factor(forms_.leafAtom(1 + row), {0, 1}));
        SmallVector<int> rowMap(2), stateMap(3);
        rowMap[rowHead] = stateMap[head_] = outHead;
        rowMap[1 - rowHead] = stateMap[keyDim_] = ~0;
        stateMap[valueDim_] = 1 - outHead;
        Form sum;
        for (const Term &term : next_)
          sum.push_back(Multilinear::product(term, stateMap, query, rowMap, {state.getDimSize(keyDim_)}));
        FailureOr<Form> expected = forms_.normalize(sum);
        if (failed(expected) || expected->empty() || !expected->front().sameProduct(output->front()))
          continue;
        double scale = output->front().coefficient / expected->front().coefficient;
        for (Term &term : *expected)
          term.coefficient *= scale;
        if (!sameForm(*expected, *output))
          continue;
        match_.q = {row, {rowHead, 1 - rowHead}};
        match_.scale = scale;
        match_.outputOrder = {outHead, 1 - outHead};
        return success();
      }
  }
  return differs("expected the output to be the next state contracted with a row over the key width; got " +
                 forms_.text(*output));
}

/// Rows [tokens, heads, width] of a role, and what the raised op does of what was done to them.
RowOperand operandOf(OpBuilder &builder, qt::ScanOp scan, const Role &role, Absorb absorb) {
  RowOperand outer = absorbed(scan.getRows()[role.row], {absorb.scales, absorb.repeats && role.order[0] == 0});
  if (role.order[0] == 0)
    return outer;
  Value turned = arranged(builder, scan.getLoc(), outer.value, {0, 1 + role.order[0], 1 + role.order[1]});
  RowOperand inner = absorbed(turned, absorb);
  return {inner.value, outer.scale * inner.scale, inner.repeat};
}

LogicalResult raise(qt::ScanOp scan, const Match &match, RaisedCheck &check) {
  OpBuilder builder(scan);
  Location loc = scan.getLoc();
  RowOperand q = operandOf(builder, scan, match.q, {.scales = true, .repeats = true});
  RowOperand k = operandOf(builder, scan, match.k, {.repeats = true});
  if (q.repeat != k.repeat) {
    q = operandOf(builder, scan, match.q, {.scales = true});
    k = operandOf(builder, scan, match.k, {});
  }
  RowOperand v = operandOf(builder, scan, match.v, {});
  Value beta = absorbed(scan.getRows()[match.beta.row], {}).value, g = scan.getRows()[match.g.row];

  SmallVector<Value> inputs = {q.value, k.value, v.value, g, beta};
  for (auto [row, value] : llvm::enumerate(scan.getRows()))
    if (!llvm::is_contained({match.q.row, match.k.row, match.v.row, match.g.row, match.beta.row}, row))
      inputs.push_back(value);

  SmallVector<Value> rows = {q.value, k.value, v.value};
  unifyElementTypes(builder, loc, rows);
  // The decay is never narrower than f32, the write strength never narrower than the rows.
  unsigned width = cast<RankedTensorType>(rows[0].getType()).getElementTypeBitWidth();
  auto widened = [&](Value value, unsigned bits) -> Value {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementTypeBitWidth() >= bits)
      return value;
    Type element = bits == 64 ? builder.getF64Type() : builder.getF32Type();
    return qt::CastOp::create(builder, loc, type.clone(element), value);
  };
  g = widened(g, std::max(width, 32u));
  beta = widened(beta, width);
  auto rule = qt::GatedDeltaRuleOp::create(builder, loc, rows[2].getType(), /*inverse=*/Type(), scan.getDocs(), rows[0],
                                           rows[1], rows[2], g, beta, llvm::APFloat(q.scale * match.scale));
  setScope(rule, scopeOf(scan));

  Value old = scan.getOutputs()[0];
  SmallVector<int64_t> order = {0, 1 + match.outputOrder[0], 1 + match.outputOrder[1]};
  if (failed(check(scan, old, restored(builder, old, rule.getOut(), order), scan.getDocs(), inputs)))
    return failure();
  replaceRows(builder, old, rule.getOut(), order);
  reportFormed(rule, {old}, kRaiseRemarks);
  return success();
}

struct RaiseGatedDelta : impl::RaiseGatedDeltaBase<RaiseGatedDelta> {
  void runOnOperation() override {
    RaisedCheck check;
    SmallVector<qt::ScanOp> scans;
    getOperation().walk([&](qt::ScanOp scan) { scans.push_back(scan); });
    for (qt::ScanOp scan : scans) {
      Difference difference;
      FailureOr<Match> match = Matcher(scan).match(difference);
      if (failed(match)) {
        InFlightDiagnostic diagnostic = scan.emitOpError() << "is not the gated delta rule: " << difference.text;
        if (StringRef(difference.text).contains('['))
          diagnostic << " (S is the state; x0, x1, ... are the rows)";
        if (difference.where && difference.where != scan)
          diagnostic.attachNote(difference.where->getLoc()) << "here";
        signalPassFailure();
      } else if (failed(raise(scan, *match, check))) {
        signalPassFailure();
      }
    }
    eraseDeadOps(getOperation());
  }
};

} // namespace
} // namespace qcc
