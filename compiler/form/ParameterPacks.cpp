// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Projections of one input become one matrix product: their weights are stacked in a qt.parameter_pack, and the product
// is split into its parts.
#include "compiler/Passes.h"
#include "compiler/form/Compound.h"

#include "llvm/ADT/MapVector.h"

#include <tuple>

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_FORMPARAMETERPACKS
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kName = "qt.parameter_pack";

/// A projection by a parameter that nothing else reads.
struct Member {
  qt::LinearOp linear;
  qt::ParameterOp parameter;

  RankedTensorType type() { return cast<RankedTensorType>(parameter.getType()); }
  /// What members of a pack have in common: trainability, and the types of weight and result.
  auto kind() {
    return std::tuple(parameter.getFrozen(), type().getElementType(), type().getDimSize(1),
                      qt::tensorType(linear.getY()).getElementType());
  }
  std::string describeKind() {
    std::string text;
    llvm::raw_string_ostream(text) << (parameter.getFrozen() ? "a frozen " : "a trained ") << type();
    return text;
  }
};

class Packer {
public:
  explicit Packer(ModuleOp module) : module_(module), symbols_(module) {
    module.walk([&](qt::ReadOp read) { reads_[read.getSymbolAttr().getAttr()].push_back(read); });
  }

  void pack(ArrayRef<qt::LinearOp> linears);

private:
  /// The parameter of a projection that may join a pack; null and why otherwise.
  qt::ParameterOp parameterOf(qt::LinearOp linear, Why &why);
  void join(MutableArrayRef<Member> members);

  ModuleOp module_;
  SymbolTable symbols_;
  llvm::DenseMap<StringAttr, SmallVector<qt::ReadOp, 1>> reads_;
};

qt::ParameterOp Packer::parameterOf(qt::LinearOp linear, Why &why) {
  auto read = linear.getWeight().getDefiningOp<qt::ReadOp>();
  auto parameter = read ? symbols_.lookup<qt::ParameterOp>(read.getSymbol()) : qt::ParameterOp();
  if (!parameter) {
    why = "expected a parameter as weight; got " + describe(linear.getWeight());
    return {};
  }
  if (reads_[parameter.getSymNameAttr()].size() != 1 || readersOf(read.getValue()).size() != 1) {
    why = "expected nothing else to read @" + parameter.getSymName().str() + "; got other readers";
    return {};
  }
  return parameter;
}

void Packer::pack(ArrayRef<qt::LinearOp> linears) {
  SmallVector<SmallVector<Member>> groups;
  for (qt::LinearOp linear : linears) {
    Why why;
    Member member{linear, parameterOf(linear, why)};
    if (!member.parameter) {
      reportMissed(linear, kName, why);
      continue;
    }
    auto fits = [&](SmallVector<Member> &group) { return group.front().kind() == member.kind(); };
    auto group = llvm::find_if(groups, fits);
    if (group != groups.end()) {
      group->push_back(member);
      continue;
    }
    if (!groups.empty())
      reportMissed(linear, kName,
                   "expected a weight like the first projection's, " + groups.front().front().describeKind() +
                       ", up to its rows; got " + member.describeKind());
    groups.push_back({member});
  }
  for (SmallVector<Member> &group : groups)
    if (group.size() > 1)
      join(group);
}

void Packer::join(MutableArrayRef<Member> members) {
  SmallVector<Attribute> names;
  SmallVector<StringRef> texts;
  SmallVector<Type> parts;
  SmallVector<Operation *> merged;
  Operation *last = members.front().parameter;
  int64_t rows = 0;
  for (Member &member : members) {
    names.push_back(FlatSymbolRefAttr::get(member.parameter.getSymNameAttr()));
    texts.push_back(member.parameter.getSymName());
    parts.push_back(member.linear.getY().getType());
    merged.push_back(member.linear);
    rows += member.type().getDimSize(0);
    if (last->isBeforeInBlock(member.parameter))
      last = member.parameter;
  }
  StringRef prefix = commonDottedPrefix(texts), scope = mergeScopes(merged);
  std::string name = prefix.empty() ? "pack" : (prefix + ".pack").str();
  auto weightType =
      RankedTensorType::get({rows, members.front().type().getDimSize(1)}, members.front().type().getElementType());

  OpBuilder builder(module_.getContext());
  auto pack = qt::ParameterPackOp::create(builder, members.front().parameter.getLoc(), builder.getStringAttr(name),
                                          builder.getArrayAttr(names), TypeAttr::get(weightType));
  StringAttr symbol = symbols_.insert(pack, std::next(Block::iterator(last)));

  qt::LinearOp first = members.front().linear;
  Location loc = first.getLoc();
  builder.setInsertionPoint(first);
  auto read = qt::ReadOp::create(builder, loc, weightType, FlatSymbolRefAttr::get(symbol));
  RankedTensorType y = qt::tensorType(first.getY());
  auto linear = qt::LinearOp::create(builder, loc, y.clone({y.getDimSize(0), rows}), first.getX(), read.getValue());
  auto split = qt::SplitOp::create(builder, loc, parts, linear.getY(), builder.getI64IntegerAttr(1));
  for (Operation *op : {read.getOperation(), linear.getOperation(), split.getOperation()})
    setScope(op, scope);
  SmallVector<Value> replaced;
  for (auto [member, part] : llvm::zip(members, split.getParts())) {
    member.linear.getY().replaceAllUsesWith(part);
    replaced.push_back(member.linear.getY());
  }
  reportFormed(linear, replaced, kFormRemarks, texts);
  for (Member &member : members)
    member.linear.erase();
}

struct FormParameterPacks : impl::FormParameterPacksBase<FormParameterPacks> {
  void runOnOperation() override {
    // Projections of one input, in program order.
    llvm::MapVector<Value, SmallVector<qt::LinearOp>> projections;
    getOperation().walk([&](qt::LinearOp linear) { projections[linear.getX()].push_back(linear); });
    Packer packer(getOperation());
    for (auto &[input, linears] : projections)
      if (linears.size() > 1)
        packer.pack(linears);
    eraseDeadOps(getOperation());
  }
};

} // namespace
} // namespace qcc
