// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/raise/Multilinear.h"

#include "compiler/Match.h"
#include "dialects/qt/TypeChecks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace qcc {
namespace {

/// Beyond these a body is none of the recurrences we know, and ordering its products would take long.
constexpr size_t kMaxSummed = 6, kMaxTerms = 64;
/// Coefficients are small products of written constants.
constexpr double kTolerance = 1e-9;

bool sameNumber(double a, double b) { return std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b)); }

int compare(const Factor &a, const Factor &b) {
  if (a.atom != b.atom)
    return a.atom < b.atom ? -1 : 1;
  if (a.indices == b.indices)
    return 0;
  return std::lexicographical_compare(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end()) ? -1 : 1;
}

bool before(const Factor &a, const Factor &b) { return compare(a, b) < 0; }

/// Products in lexicographic order.
bool productBefore(const Term &a, const Term &b) {
  if (!(a.factors == b.factors))
    return std::lexicographical_compare(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(), before);
  return std::lexicographical_compare(a.summed.begin(), a.summed.end(), b.summed.begin(), b.summed.end());
}

/// Drops summed indices that no factor has: the sum is then a multiple.
LogicalResult dropUnusedSums(Term &term) {
  SmallVector<int> renamed(term.summed.size(), -1);
  for (const Factor &factor : term.factors)
    for (int index : factor.indices)
      if (index < 0)
        renamed[~index] = 0;
  SmallVector<int64_t, 2> kept;
  for (auto [i, extent] : llvm::enumerate(term.summed)) {
    if (renamed[i] == 0) {
      renamed[i] = static_cast<int>(kept.size());
      kept.push_back(extent);
    } else if (ShapedType::isDynamic(extent)) {
      return failure();
    } else {
      term.coefficient *= static_cast<double>(extent);
    }
  }
  for (Factor &factor : term.factors)
    for (int &index : factor.indices)
      if (index < 0)
        index = ~renamed[~index];
  term.summed = kept;
  return success();
}

/// Of all ways to number the summed indices, the one whose sorted factors come first.
void sortProduct(Term &term) {
  SmallVector<int> order(term.summed.size());
  std::iota(order.begin(), order.end(), 0);
  Term best;
  bool first = true;
  do {
    Term candidate = term;
    for (Factor &factor : candidate.factors)
      for (int &index : factor.indices)
        if (index < 0)
          index = ~order[~index];
    for (auto [from, to] : llvm::enumerate(order))
      candidate.summed[to] = term.summed[from];
    llvm::sort(candidate.factors, before);
    if (first || productBefore(candidate, best))
      best = candidate;
    first = false;
  } while (std::next_permutation(order.begin(), order.end()));
  term = best;
}

SmallVector<int> identity(int64_t rank, int offset = 0) {
  SmallVector<int> map(rank);
  std::iota(map.begin(), map.end(), offset);
  return map;
}

int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

} // namespace

int Term::count(unsigned atom) const {
  return llvm::count_if(factors, [&](const Factor &factor) { return factor.atom == atom; });
}

bool sameForm(const Form &a, const Form &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           const auto &[x, y] = pair;
           return x.sameProduct(y) && sameNumber(x.coefficient, y.coefficient);
         });
}

Multilinear::Multilinear(ArrayRef<Value> leaves, ArrayRef<std::string> names) : leaves_(leaves), names_(names) {
  for (auto [i, leaf] : llvm::enumerate(leaves)) {
    Factor factor{leafAtom(i), {}};
    llvm::append_range(factor.indices, identity(rankOf(leaf)));
    Term term;
    term.factors.push_back(factor);
    known_[leaf] = Form{term};
  }
}

FailureOr<Form> Multilinear::of(Value value, std::string &why, Operation *&where) {
  FailureOr<Form> form = build(value);
  if (failed(form)) {
    why = why_;
    where = where_;
  }
  return form;
}

LogicalResult Multilinear::fail(Operation *op, std::string why) {
  why_ = std::move(why);
  where_ = op;
  return failure();
}

FailureOr<Form> Multilinear::normalize(Form form) const {
  for (Term &term : form) {
    if (failed(dropUnusedSums(term)) || term.summed.size() > kMaxSummed)
      return failure();
    sortProduct(term);
  }
  llvm::stable_sort(form, productBefore);
  Form sums;
  for (const Term &term : form) {
    if (sums.empty() || !sums.back().sameProduct(term))
      sums.push_back(term);
    else if (sameNumber(sums.back().coefficient, -term.coefficient))
      sums.back().coefficient = 0; // what cancels, cancels exactly
    else
      sums.back().coefficient += term.coefficient;
  }
  llvm::erase_if(sums, [](const Term &term) { return term.coefficient == 0; });
  return sums;
}

Term Multilinear::product(const Term &a, ArrayRef<int> aMap, const Term &b, ArrayRef<int> bMap,
                          ArrayRef<int64_t> summed) {
  Term term;
  term.coefficient = a.coefficient * b.coefficient;
  llvm::append_range(term.summed, summed);
  auto append = [&](const Term &part, ArrayRef<int> map) {
    int base = static_cast<int>(term.summed.size());
    llvm::append_range(term.summed, part.summed);
    for (Factor factor : part.factors) {
      for (int &index : factor.indices)
        index = index >= 0 ? map[index] : ~(base + ~index);
      term.factors.push_back(factor);
    }
  };
  append(a, aMap);
  append(b, bMap);
  return term;
}

FailureOr<Form> Multilinear::multiply(const Form &a, ArrayRef<int> aMap, const Form &b, ArrayRef<int> bMap,
                                      ArrayRef<int64_t> summed) {
  Form form;
  if (a.size() * b.size() > kMaxTerms)
    return failure();
  for (const Term &x : a)
    for (const Term &y : b)
      form.push_back(product(x, aMap, y, bMap, summed));
  return normalize(form);
}

FailureOr<Form> Multilinear::build(Value value) {
  if (auto it = known_.find(value); it != known_.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return fail(value.getParentBlock()->getParentOp(), "got " + describe(value));
  FailureOr<Form> form = buildOp(op);
  if (failed(form)) {
    if (!where_)
      (void)fail(op, "got a product of too many terms");
    return failure();
  }
  known_[value] = *form;
  return form;
}

FailureOr<Form> Multilinear::buildExp(Operation *op, Value x) {
  FailureOr<Form> form = build(x);
  if (failed(form))
    return failure();
  if (form->empty())
    return Form{Term()}; // e^0
  const Term &term = form->front();
  if (form->size() != 1 || term.factors.size() != 1 || !term.summed.empty() || isExp(term.factors.front().atom) ||
      !sameNumber(term.coefficient, 1))
    return fail(op, "got exp of " + text(*form));
  Form result = *form;
  result.front().factors.front().atom = expAtom(leafOf(term.factors.front().atom));
  return result;
}

FailureOr<Form> Multilinear::buildOp(Operation *op) {
  auto scaled = [&](Value x, double factor) -> FailureOr<Form> {
    FailureOr<Form> form = build(x);
    if (failed(form))
      return failure();
    for (Term &term : *form)
      term.coefficient *= factor;
    return normalize(*form);
  };
  auto renamed = [&](Value x, ArrayRef<int> map, ArrayRef<int64_t> summed) -> FailureOr<Form> {
    FailureOr<Form> form = build(x);
    return failed(form) ? form : multiply(*form, map, Form{Term()}, {}, summed);
  };
  auto sum = [&](Value lhs, Value rhs, double sign) -> FailureOr<Form> {
    FailureOr<Form> a = build(lhs), b = failed(a) ? a : build(rhs);
    if (failed(b))
      return failure();
    // The right side is repeated along the leading dimensions.
    SmallVector<int> map = identity(rankOf(rhs), static_cast<int>(rankOf(lhs) - rankOf(rhs)));
    Form form = *a;
    for (const Term &term : *b) {
      Term moved = product(term, map, Term(), {}, {});
      moved.coefficient *= sign;
      form.push_back(moved);
    }
    if (form.size() > kMaxTerms)
      return failure();
    return normalize(form);
  };
  return llvm::TypeSwitch<Operation *, FailureOr<Form>>(op)
      .Case([&](qt::CastOp cast) { return build(cast.getX()); })
      .Case([&](qt::ZerosOp) { return Form(); })
      .Case([&](qt::NegOp neg) { return scaled(neg.getX(), -1); })
      .Case([&](qt::ScaleOp scale) { return scaled(scale.getX(), scale.getFactor().convertToDouble()); })
      .Case([&](qt::AddOp add) { return sum(add.getLhs(), add.getRhs(), 1); })
      .Case([&](qt::SubOp sub) { return sum(sub.getLhs(), sub.getRhs(), -1); })
      .Case([&](qt::ExpOp exp) { return buildExp(op, exp.getX()); })
      .Case([&](qt::MulOp mul) -> FailureOr<Form> {
        FailureOr<Form> a = build(mul.getLhs()), b = failed(a) ? a : build(mul.getRhs());
        if (failed(b))
          return failure();
        int64_t lhs = rankOf(mul.getLhs()), rhs = rankOf(mul.getRhs());
        return multiply(*a, identity(lhs), *b, identity(rhs, static_cast<int>(lhs - rhs)), {});
      })
      .Case([&](qt::BroadcastOp broadcast) -> FailureOr<Form> {
        auto from = cast<RankedTensorType>(broadcast.getX().getType());
        auto to = cast<RankedTensorType>(broadcast.getResult().getType());
        SmallVector<int> map;
        for (auto [i, dim] : llvm::enumerate(broadcast.getDims())) {
          if (from.getDimSize(i) != to.getDimSize(dim))
            return fail(op, "got qt.broadcast of a dimension of size 1");
          map.push_back(static_cast<int>(dim));
        }
        return renamed(broadcast.getX(), map, {});
      })
      .Case([&](qt::TransposeOp transpose) {
        SmallVector<int> map(transpose.getPermutation().size());
        for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
          map[from] = static_cast<int>(i);
        return renamed(transpose.getX(), map, {});
      })
      .Case([&](qt::ReduceSumOp reduce) {
        auto type = cast<RankedTensorType>(reduce.getX().getType());
        SmallVector<int> map;
        SmallVector<int64_t> summed;
        int kept = 0;
        for (int64_t dim = 0; dim < type.getRank(); ++dim) {
          if (llvm::is_contained(reduce.getDims(), dim)) {
            map.push_back(~static_cast<int>(summed.size()));
            summed.push_back(type.getDimSize(dim));
          } else {
            map.push_back(kept++);
          }
        }
        return renamed(reduce.getX(), map, summed);
      })
      .Case([&](qt::ContractOp contract) -> FailureOr<Form> {
        FailureOr<Form> a = build(contract.getLhs()), b = failed(a) ? a : build(contract.getRhs());
        if (failed(b))
          return failure();
        auto lhs = cast<RankedTensorType>(contract.getLhs().getType());
        constexpr int kOpen = std::numeric_limits<int>::max();
        SmallVector<int> aMap(lhs.getRank(), kOpen), bMap(rankOf(contract.getRhs()), kOpen);
        SmallVector<int64_t> summed;
        int next = 0;
        for (auto [x, y] : llvm::zip(contract.getLhsBatch(), contract.getRhsBatch()))
          aMap[x] = bMap[y] = next++;
        for (auto [x, y] : llvm::zip(contract.getLhsContracted(), contract.getRhsContracted())) {
          aMap[x] = bMap[y] = ~static_cast<int>(summed.size());
          summed.push_back(lhs.getDimSize(x));
        }
        for (auto *map : {&aMap, &bMap})
          for (int &index : *map)
            if (index == kOpen)
              index = next++;
        return multiply(*a, aMap, *b, bMap, summed);
      })
      .Default([&](Operation *) { return fail(op, "got " + op->getName().getStringRef().str()); });
}

std::string Multilinear::text(const Term &term) const {
  auto letter = [](int index) { return index >= 0 ? std::string(1, 'a' + index) : std::string(1, 's' + ~index); };
  SmallVector<std::string> parts;
  if (term.factors.empty() || !sameNumber(std::abs(term.coefficient), 1))
    parts.push_back(qt::printNumber(term.coefficient));
  for (const Factor &factor : term.factors) {
    const std::string &name = names_[leafOf(factor.atom)];
    parts.push_back((isExp(factor.atom) ? "exp(" + name + ")" : name) + "[" +
                    llvm::join(llvm::map_range(factor.indices, letter), ",") + "]");
  }
  return (sameNumber(term.coefficient, -1) && !term.factors.empty() ? "-" : "") + llvm::join(parts, " ");
}

std::string Multilinear::text(const Form &form) const {
  if (form.empty())
    return "nothing";
  return llvm::join(llvm::map_range(form, [&](const Term &term) { return text(term); }), " + ");
}

} // namespace qcc
