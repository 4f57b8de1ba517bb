// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the model to what a run calls: @step, @accumulate, @apply, @eval (docs/design.md, Entry functions), and the
// optimizer's state.
#include "compiler/Match.h"
#include "compiler/Passes.h"
#include "compiler/Scope.h"
#include "compiler/autodiff/Autodiff.h"
#include "compiler/autodiff/TrainedSymbols.h"
#include "dialects/qt/Entries.h"
#include "dialects/qt/TypeChecks.h"
#include "runtime/base/NameKey.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_BUILDENTRIES
#include "compiler/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kOptimizerScope = "optimizer";

/// A parameter or pack that is trained, with its state.
struct Trained {
  Operation *symbol;
  RankedTensorType type;
  qt::StateOp master, expAvg, expAvgSq, gradient; // master: null if it has none

  StringAttr name() const { return SymbolTable::getSymbolName(symbol); }
};

Type bufferType(Operation *symbol) {
  return TypeSwitch<Operation *, Type>(symbol).Case<qt::ParameterOp, qt::ParameterPackOp, qt::StateOp>(
      [](auto op) { return op.getType(); });
}

class EntryBuilder {
public:
  EntryBuilder(ModuleOp module, qt::StateFormat format)
      : module_(module), symbols_(module), builder_(module.getContext()), format_(format) {}

  LogicalResult run() {
    if (failed(findModel()) || failed(findTrained()))
      return failure();
    createStates();
    // Each clone goes before the model: step, accumulate, apply, eval.
    if (failed(buildStep()) || failed(buildAccumulate()))
      return failure();
    buildApply();
    buildEval();
    model_.erase();
    return success();
  }

private:
  LogicalResult findModel() {
    for (auto function : module_.getOps<func::FuncOp>()) {
      std::optional<qt::EntryKind> kind = qt::entryKind(function);
      if (!kind)
        continue;
      if (*kind != qt::EntryKind::Model)
        return function.emitOpError(
                   "expected the model alone before its entry functions are built, got an entry of kind ")
               << qt::stringifyEntryKind(*kind);
      if (model_)
        return function.emitOpError("expected one model, got a second");
      model_ = function;
    }
    if (!model_)
      return module_.emitError("expected a function with qt.entry = #qt.entry<model>, got none");
    for (qt::ArgumentRole role : {qt::ArgumentRole::Ids, qt::ArgumentRole::Labels, qt::ArgumentRole::Segments})
      if (!qt::findArgument(model_, role))
        return model_.emitOpError("expected an argument of the role ")
               << qt::stringifyArgumentRole(role) << ", got none";
    if (model_.getNumResults() != 1)
      return model_.emitOpError("expected one result, of the role loss, got ") << model_.getNumResults() << " results";
    auto role = model_.getResultAttrOfType<qt::ResultRoleAttr>(0, qt::kResultAttr);
    if (!role || role.getValue() != qt::ResultRole::Loss)
      return model_.emitOpError("expected one result, of the role loss, got one without that role");
    if (!model_.getBody().hasOneBlock())
      return model_.emitOpError("expected a body of one block");
    for (qt::EntryKind kind :
         {qt::EntryKind::Step, qt::EntryKind::Accumulate, qt::EntryKind::Apply, qt::EntryKind::Eval})
      if (Operation *other = symbols_.lookup(qt::stringifyEntryKind(kind)); other && other != model_)
        return other->emitError("expected the name @")
               << qt::stringifyEntryKind(kind) << " to be free for an entry function";
    return success();
  }

  LogicalResult findTrained() {
    DenseMap<StringAttr, qt::ParameterPackOp> packs = packsOfMembers(module_);
    for (auto pack : module_.getOps<qt::ParameterPackOp>())
      for (auto member : pack.getMembers().getAsRange<FlatSymbolRefAttr>())
        if (qt::ParameterPackOp first = packs.lookup(member.getAttr()); first != pack)
          return pack.emitOpError("expected each parameter in one pack, got ")
                 << member << " of @" << first.getSymName();
    for (Operation *symbol : trainedSymbols(module_, symbols_))
      trained_.push_back({symbol, cast<RankedTensorType>(bufferType(symbol)), {}, {}, {}, {}});
    LogicalResult result = success();
    model_.walk([&](qt::ReadOp read) {
      if (auto pack = packs.lookup(read.getSymbolAttr().getAttr())) {
        read.emitOpError("expected a member of @")
            << pack.getSymName() << " to be read through its pack only, got " << read.getSymbolAttr();
        result = failure();
      }
    });
    return result;
  }

  void createStates() {
    builder_.setInsertionPoint(model_);
    auto create = [&](Location loc, const Twine &name, qt::StateKind kind, FlatSymbolRefAttr of, Type type) {
      auto state = qt::StateOp::create(builder_, loc, builder_.getStringAttr(name),
                                       qt::StateKindAttr::get(builder_.getContext(), kind), of, TypeAttr::get(type));
      symbols_.insert(state);
      return state;
    };
    counters_ = create(model_.getLoc(), "optimizer.counters", qt::StateKind::Counters, {}, countersType());
    for (Trained &each : trained_) {
      Location loc = each.symbol->getLoc();
      auto of = FlatSymbolRefAttr::get(each.name());
      Type element = each.type.getElementType(), wide = qt::accumulatorType(element);
      bool narrow = element != wide;
      auto moments =
          RankedTensorType::get(each.type.getShape(), narrow && format_ == qt::StateFormat::BF16 ? element : wide);
      auto full = RankedTensorType::get(each.type.getShape(), wide);
      StringRef name = each.name().getValue();
      if (narrow && format_ == qt::StateFormat::F32)
        each.master = create(loc, name + ".master", qt::StateKind::Master, of, full);
      each.expAvg = create(loc, name + ".exp_avg", qt::StateKind::ExpAvg, of, moments);
      each.expAvgSq = create(loc, name + ".exp_avg_sq", qt::StateKind::ExpAvgSq, of, moments);
      each.gradient = create(loc, name + ".gradient", qt::StateKind::Gradient, of, full);
    }
  }

  RankedTensorType countersType() { return RankedTensorType::get(2, builder_.getI64Type()); }

  /// A clone of the model, named after its kind.
  func::FuncOp cloneModel(qt::EntryKind kind) {
    func::FuncOp clone = model_.clone();
    clone.setName(qt::stringifyEntryKind(kind));
    clone->setAttr(qt::kEntryAttr, qt::EntryKindAttr::get(builder_.getContext(), kind));
    builder_.setInsertionPoint(model_);
    builder_.insert(clone);
    symbols_.insert(clone);
    return clone;
  }

  static func::ReturnOp returnOf(func::FuncOp function) {
    return cast<func::ReturnOp>(function.getBody().front().getTerminator());
  }

  void appendResult(func::FuncOp function, Value value, qt::ResultRole role) {
    NamedAttribute attr(builder_.getStringAttr(qt::kResultAttr), qt::ResultRoleAttr::get(builder_.getContext(), role));
    bool inserted =
        succeeded(function.insertResult(function.getNumResults(), value.getType(), builder_.getDictionaryAttr(attr)));
    assert(inserted && "a function takes further results");
    (void)inserted;
    returnOf(function)->insertOperands(returnOf(function)->getNumOperands(), value);
  }

  /// Appends the reverse pass to a clone of the model; its arguments `embedding_order` and `inverse_tokens` are added.
  FailureOr<Contributions> differentiate(func::FuncOp function) {
    qt::appendArgument(function, qt::findArgument(function, qt::ArgumentRole::Ids).getType(),
                       qt::ArgumentRole::EmbeddingOrder);
    Value loss = returnOf(function).getOperand(0);
    Value seed = qt::appendArgument(function, loss.getType(), qt::ArgumentRole::InverseTokens);
    FailureOr<Contributions> contributions = appendReversePass(function, loss, seed);
    if (failed(contributions))
      return failure();
    for (Trained &each : trained_)
      if (!contributions->contains(each.name()))
        return each.symbol->emitOpError(
            "expected every trained parameter to have a gradient, but the loss does not depend on this one");
    return contributions;
  }

  /// `start` (or null) plus the contributions, each added where it is known.
  Value sum(Value start, ArrayRef<Value> contributions) {
    bool wide = start || contributions.size() > 1;
    Value total = start;
    for (Value contribution : contributions) {
      builder_.setInsertionPointAfterValue(contribution);
      Operation *source = contribution.getDefiningOp();
      if (wide)
        contribution = asAccumulator(builder_, contribution);
      if (!total) {
        total = contribution;
        continue;
      }
      builder_.setInsertionPointAfterValue(contribution);
      total = qt::AddOp::create(builder_, contribution.getLoc(), total, contribution);
      if (source)
        copyScope(source, total.getDefiningOp());
    }
    return total;
  }

  LogicalResult buildStep() {
    func::FuncOp function = cloneModel(qt::EntryKind::Step);
    FailureOr<Contributions> contributions = differentiate(function);
    if (failed(contributions))
      return failure();
    Block &body = function.getBody().front();
    SmallVector<Value> gradients;
    for (Trained &each : trained_)
      gradients.push_back(sum({}, (*contributions)[each.name()]));
    builder_.setInsertionPoint(body.getTerminator());
    for (auto [each, gradient] : llvm::zip_equal(trained_, gradients)) {
      auto watch =
          qt::WatchOp::create(builder_, gradient.getLoc(), gradient, each.name(), /*gradient=*/builder_.getUnitAttr());
      if (Operation *source = gradient.getDefiningOp())
        copyScope(source, watch);
    }
    appendResult(function, buildOptimizer(function, gradients), qt::ResultRole::GradNorm);
    eraseDeadOps(body);
    return success();
  }

  LogicalResult buildAccumulate() {
    func::FuncOp function = cloneModel(qt::EntryKind::Accumulate);
    function.walk([](qt::WatchOp watch) { watch.erase(); });
    FailureOr<Contributions> contributions = differentiate(function);
    if (failed(contributions))
      return failure();
    Block &body = function.getBody().front();
    SmallVector<Value> gradients;
    for (Trained &each : trained_) {
      builder_.setInsertionPoint(body.getTerminator());
      auto before = qt::ReadOp::create(builder_, each.symbol->getLoc(), each.gradient.getType(),
                                       FlatSymbolRefAttr::get(each.gradient.getSymNameAttr()));
      SmallVector<Value> &parts = (*contributions)[each.name()];
      if (Operation *first = parts.front().getDefiningOp())
        before->moveBefore(first);
      gradients.push_back(sum(before, parts));
    }
    builder_.setInsertionPoint(body.getTerminator());
    for (auto [each, gradient] : llvm::zip_equal(trained_, gradients))
      update(each.gradient, gradient);
    eraseDeadOps(body);
    return success();
  }

  void buildApply() {
    builder_.setInsertionPoint(model_);
    auto function = func::FuncOp::create(builder_, model_.getLoc(), qt::stringifyEntryKind(qt::EntryKind::Apply),
                                         builder_.getFunctionType({}, {}));
    symbols_.insert(function);
    function->setAttr(qt::kEntryAttr, qt::EntryKindAttr::get(builder_.getContext(), qt::EntryKind::Apply));
    Block *body = function.addEntryBlock();
    builder_.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder_, model_.getLoc());
    builder_.setInsertionPoint(body->getTerminator());
    SmallVector<Value> gradients;
    for (Trained &each : trained_)
      gradients.push_back(read(each.gradient));
    appendResult(function, buildOptimizer(function, gradients), qt::ResultRole::GradNorm);
    for (Trained &each : trained_) {
      auto zeros = qt::ZerosOp::create(builder_, each.symbol->getLoc(), each.gradient.getType());
      setScope(zeros, kOptimizerScope);
      update(each.gradient, zeros);
    }
  }

  /// The model, and the loss of each trained row where it comes from the fused head.
  void buildEval() {
    func::FuncOp function = cloneModel(qt::EntryKind::Eval);
    auto head = returnOf(function).getOperand(0).getDefiningOp<qt::LinearCrossEntropyOp>();
    if (!head)
      return;
    builder_.setInsertionPoint(head);
    auto rowLoss =
        RankedTensorType::get(head.getLabels().getType().getShape(), head.getLoss().getType().getElementType());
    auto rows = qt::LinearCrossEntropyOp::create(builder_, head.getLoc(), head.getLoss().getType(), rowLoss,
                                                 head.getX(), head.getWeight(), head.getLabels());
    rows->setDiscardableAttrs(head->getDiscardableAttrDictionary());
    head.getLoss().replaceAllUsesWith(rows.getLoss());
    if (head.getRowLoss())
      head.getRowLoss().replaceAllUsesWith(rows.getRowLoss());
    head.erase();
    appendResult(function, rows.getRowLoss(), qt::ResultRole::RowLoss);
  }

  /// Appends norm, counters, updates of weights and state from the gradients, one for each trained symbol; returns the
  /// norm.
  Value buildOptimizer(func::FuncOp function, ArrayRef<Value> gradients) {
    Value hyper = qt::appendArgument(
        function, RankedTensorType::get(sizeof(qrt::Hyperparameters) / sizeof(float), builder_.getF32Type()),
        qt::ArgumentRole::Hyper);
    Value seed = qt::appendArgument(function, RankedTensorType::get({}, builder_.getI64Type()), qt::ArgumentRole::Seed);
    Location loc = model_.getLoc();
    Type scalar = RankedTensorType::get({}, cast<RankedTensorType>(model_.getResultTypes()[0]).getElementType());
    auto norm = qt::GlobalNormOp::create(builder_, loc, scalar, gradients);
    setScope(norm, kOptimizerScope);
    auto counted = qt::OptimizerStepOp::create(builder_, loc, countersType(), norm, read(counters_));
    setScope(counted, kOptimizerScope);

    SmallVector<std::pair<Operation *, Value>> updates{{counters_, counted.getUpdated()}};
    for (auto [each, gradient] : llvm::zip_equal(trained_, gradients)) {
      SmallVector<int64_t> members;
      for (qt::ParameterOp member : membersOf(each.symbol, symbols_)) {
        members.push_back(qrt::nameKey(cast<StringAttr>(member.getNames()[0]).getValue()));
        members.push_back(cast<RankedTensorType>(member.getType()).getNumElements());
      }
      Value weight = read(each.symbol), expAvg = read(each.expAvg), expAvgSq = read(each.expAvgSq);
      Value master = each.master ? read(each.master) : Value();
      // Members of a pack share their number of dimensions, so they decay alike.
      bool decay = each.type.getRank() >= 2;
      auto step = qt::AdamWOp::create(builder_, each.symbol->getLoc(), weight.getType(), expAvg.getType(),
                                      expAvgSq.getType(), master ? master.getType() : Type(), gradient, norm, counted,
                                      hyper, seed, weight, expAvg, expAvgSq, master, decay, members);
      setScope(step, kOptimizerScope);
      updates.push_back({each.symbol, step.getNewWeight()});
      updates.push_back({each.expAvg, step.getNewExpAvg()});
      updates.push_back({each.expAvgSq, step.getNewExpAvgSq()});
      if (each.master)
        updates.push_back({each.master, step.getNewMaster()});
    }
    for (auto [symbol, value] : updates)
      update(symbol, value);
    return norm;
  }

  Value read(Operation *symbol) {
    auto op = qt::ReadOp::create(builder_, symbol->getLoc(), bufferType(symbol),
                                 FlatSymbolRefAttr::get(SymbolTable::getSymbolName(symbol)));
    setScope(op, kOptimizerScope);
    return op;
  }

  void update(Operation *symbol, Value value) {
    auto op = qt::UpdateOp::create(builder_, symbol->getLoc(),
                                   FlatSymbolRefAttr::get(SymbolTable::getSymbolName(symbol)), value);
    setScope(op, kOptimizerScope);
  }

  ModuleOp module_;
  SymbolTable symbols_;
  OpBuilder builder_;
  qt::StateFormat format_;
  func::FuncOp model_;
  SmallVector<Trained> trained_;
  qt::StateOp counters_;
};

struct BuildEntries : impl::BuildEntriesBase<BuildEntries> {
  using BuildEntriesBase::BuildEntriesBase;
  void runOnOperation() override {
    if (failed(EntryBuilder(getOperation(), states).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace qcc
