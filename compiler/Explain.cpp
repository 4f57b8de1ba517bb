// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Explain.h"

#include "compiler/ExplainText.h"
#include "compiler/Kernels.h"
#include "compiler/Pipeline.h"
#include "compiler/Report.h"
#include "compiler/Scope.h"
#include "compiler/remat/Backward.h"
#include "dialects/qt/Entries.h"
#include "runtime/base/BucketShape.h"
#include "runtime/base/Digits.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace qcc {
namespace {

constexpr int kOpWidth = 28, kPlaceWidth = 28;

std::vector<std::string> textsOf(const remark::detail::Remark::Arg &arg) {
  std::vector<std::string> texts;
  if (auto array = dyn_cast_or_null<ArrayAttr>(arg.getAttribute()))
    for (auto text : array.getAsRange<StringAttr>())
      texts.push_back(withoutDialect(text.getValue()).str());
  return texts;
}

/// Collects the remarks of a context: what was formed, and what was missed.
class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  RemarkCollector(std::vector<Explanation::Formed> &formed, std::vector<Explanation::Missed> &missed)
      : formed_(formed), missed_(missed) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string compound = withoutDialect(remark.getRemarkName()).str();
    switch (remark.getRemarkType()) {
    case llvm::remarks::Type::Passed:
      return addFormed({"", compound, {}, {}, "", remark.getFunction().str()}, remark.getArgs());
    case llvm::remarks::Type::Missed:
      return addMissed({"", compound, ""}, remark.getArgs());
    default:
      return;
    }
  }

private:
  void addFormed(Explanation::Formed note, ArrayRef<remark::detail::Remark::Arg> args) {
    for (const remark::detail::Remark::Arg &arg : args) {
      if (arg.key == kScopeArgument)
        note.scope = arg.val;
      if (arg.key == kMadeOfArgument)
        note.madeOf = textsOf(arg);
      if (arg.key == kPackArgument)
        note.pack = textsOf(arg);
      if (arg.key == "Reason")
        note.why = arg.val;
    }
    // A part that was itself formed at this place before: what that was made of.
    for (auto earlier = formed_.begin(); earlier != formed_.end();) {
      auto part = llvm::find(note.madeOf, earlier->compound);
      if (earlier->scope != note.scope || part == note.madeOf.end() || !earlier->pack.empty()) {
        ++earlier;
        continue;
      }
      part = note.madeOf.erase(part);
      note.madeOf.insert(part, earlier->madeOf.begin(), earlier->madeOf.end());
      earlier = formed_.erase(earlier);
    }
    formed_.push_back(std::move(note));
  }
  void addMissed(Explanation::Missed note, ArrayRef<remark::detail::Remark::Arg> args) {
    for (const remark::detail::Remark::Arg &arg : args) {
      if (arg.key == kScopeArgument)
        note.scope = arg.val;
      if (arg.key == "Reason")
        note.reason = arg.val;
    }
    missed_.push_back(std::move(note));
  }

  std::vector<Explanation::Formed> &formed_;
  std::vector<Explanation::Missed> &missed_;
};

enum Pass { Forward, Backward, Update };

struct Cost {
  double flops = 0, bytes = 0;

  void add(const Cost &other) {
    flops += other.flops;
    bytes += other.bytes;
  }
  bool operator==(const Cost &) const = default;
};

struct Costs {
  Cost of[3]; // by Pass

  void add(const Costs &other) {
    for (int pass = 0; pass < 3; ++pass)
      of[pass].add(other.of[pass]);
  }
  bool operator==(const Costs &) const = default;
};

struct Row {
  int count = 0; // not counting adjoints
  int added = 0; // of these, what the model does not have
  /// What it is called if there is no op, but its adjoint.
  StringRef alone;
  Costs costs;
  std::vector<std::string> notes; // what each compound of the row was made of
  bool operator==(const Row &) const = default;
};

struct Layer {
  /// By (place in the layer, op), in the order of the program.
  llvm::MapVector<std::pair<StringRef, StringRef>, Row> rows;
  std::vector<Explanation::Missed> missed; // scopes relative to the layer
  int written = 0;

  bool operator==(const Layer &other) const {
    return written == other.written && missed == other.missed && rows.size() == other.rows.size() &&
           std::equal(rows.begin(), rows.end(), other.rows.begin(),
                      [](const auto &x, const auto &y) { return x.first == y.first && x.second == y.second; });
  }
};

/// The op whose line an op of a step belongs to, and which pass it is of; `backward` are the ops of the backward pass.
std::pair<StringRef, Pass> lineOf(Operation *op, const llvm::DenseSet<Operation *> &backward) {
  StringRef name = withoutDialect(op->getName().getStringRef());
  if (isa<qt::GlobalNormOp, qt::OptimizerStepOp, qt::AdamWOp>(op))
    return {name, Update};
  if (isa<qt::LinearInputGradOp, qt::LinearWeightGradOp>(op))
    return {withoutDialect(qt::LinearOp::getOperationName()), Backward};
  if (isa<qt::ScatterRowsOp>(op))
    return {withoutDialect(qt::GatherRowsOp::getOperationName()), Backward};
  // Their names do not say whether they are of gradients.
  if (isa<qt::AddOp, qt::PointwiseOp>(op))
    return {name, backward.contains(op) ? Backward : Forward};
  bool grad = name.consume_back("_grad");
  return {name, grad ? Backward : Forward};
}

/// What it was made of; and the members of a pack, without what their names share.
std::string describe(const Explanation::Formed &note) {
  if (!note.why.empty())
    return "added: " + note.why;
  std::string text = countNames(SmallVector<StringRef>(note.madeOf.begin(), note.madeOf.end()));
  if (note.pack.empty())
    return text;
  llvm::raw_string_ostream out(text);
  SmallVector<StringRef> members(note.pack.begin(), note.pack.end());
  StringRef prefix = commonDottedPrefix(members);
  out << " on the pack [";
  llvm::interleaveComma(members, out, [&](StringRef member) {
    member = member.drop_front(prefix.size()).ltrim('.');
    member.consume_back(".weight");
    out << member;
  });
  out << "]";
  return text;
}

/// A table. Its lines have the costs of one pass or of several, or none.
class Printer {
public:
  Printer(llvm::raw_ostream &out, ArrayRef<Pass> passes, bool places = true)
      : out_(out), passes_(passes), placeWidth_(places ? kPlaceWidth : 0) {}

  void header(StringRef what = "op", StringRef place = "where") {
    out_ << "  " << llvm::left_justify(what, kOpWidth);
    if (passes_.empty()) {
      out_ << place << "\n";
      return;
    }
    out_ << llvm::left_justify(place, placeWidth_);
    for (Pass pass : passes_)
      out_ << llvm::right_justify(std::string(kPassNames[pass]) + " GFLOP", kFlopsWidth)
           << llvm::right_justify("MiB", kBytesWidth);
    out_ << "\n";
  }
  void row(StringRef op, StringRef place, const Costs &costs) {
    out_ << "  ";
    if (passes_.empty()) {
      out_ << llvm::left_justify(op, place.empty() ? 0 : kOpWidth) << place << "\n";
      return;
    }
    out_ << llvm::left_justify(op, kOpWidth) << llvm::left_justify(place, placeWidth_);
    for (Pass pass : passes_)
      out_ << llvm::right_justify(printAmount(costs.of[pass].flops / 1e9), kFlopsWidth)
           << llvm::right_justify(printAmount(costs.of[pass].bytes / 0x1p20), kBytesWidth);
    out_ << "\n";
  }
  void note(StringRef text) {
    out_ << "    <- ";
    printWrapped(out_, text, 7, 7);
  }
  void missed(const Explanation::Missed &note) {
    std::string text = "missed " + note.compound + (note.scope.empty() ? "" : " at " + note.scope) + ": " + note.reason;
    out_ << "  ";
    printWrapped(out_, text, 2, 4);
  }

private:
  static constexpr int kFlopsWidth = 16, kBytesWidth = 11;
  static constexpr StringLiteral kPassNames[] = {"forward", "backward", "update"};

  llvm::raw_ostream &out_;
  ArrayRef<Pass> passes_;
  int placeWidth_;
};

/// "rows of 8,192 tokens: at most 16 documents of at most 4,096 tokens, 2,048 trained".
std::string describeBucket(qt::SegmentsType type) {
  std::string text = "rows of " + qrt::countOf(type.getTokens(), "token");
  qrt::BucketShape bucket{type.getTokens(), type.getDocuments(), type.getLongest(), type.getTrained()};
  if (bucket == qrt::BucketShape::anyOf(bucket.tokens))
    return "any " + text;
  return text + ": at most " + qrt::countOf(bucket.documents, "document") + " of at most " +
         qrt::countOf(bucket.longest, "token") + ", " + qrt::groupDigits(bucket.trained) + " trained";
}

qt::SegmentsType bucketOf(func::FuncOp step) {
  return cast<qt::SegmentsType>(qt::findArgument(step, qt::ArgumentRole::Segments).getType());
}

std::string bucketName(func::FuncOp step) {
  qt::SegmentsType type = bucketOf(step);
  return qrt::printBucket({type.getTokens(), type.getDocuments(), type.getLongest(), type.getTrained()});
}

Costs costsOf(func::FuncOp step) {
  Costs costs;
  llvm::DenseSet<Operation *> backward = backwardOps(step);
  for (Operation &op : step.getBody().front())
    if (auto cost = dyn_cast<qt::CostOpInterface>(op))
      costs.of[lineOf(&op, backward).second].add({cost.getFlops(), cost.getBytes()});
  return costs;
}

void printLayer(ArrayRef<StringRef> names, const Layer &layer, bool hasCosts, llvm::raw_ostream &out) {
  int ops = 0, added = 0;
  Costs sum;
  for (auto &[key, row] : layer.rows) {
    ops += row.count;
    added += row.added;
    sum.add(row.costs);
  }
  std::string title = nameUnits(names);
  if (layer.written) {
    title += ": written as " + qrt::countOf(layer.written, "op") + (names.size() > 1 ? " each" : "") + ", now " +
             std::to_string(ops - added);
    if (added)
      title += " and " + std::to_string(added) + " added";
  }
  out << "\n";
  printWrapped(out, title, 0, 2);

  static constexpr Pass kPropagation[] = {Forward, Backward}, kUpdate[] = {Update};
  bool isUpdate = sum.of[Update] != Cost();
  Printer printer(out, !hasCosts  ? ArrayRef<Pass>()
                       : isUpdate ? ArrayRef<Pass>(kUpdate)
                                  : ArrayRef<Pass>(kPropagation));
  printer.header();
  for (auto &[key, row] : layer.rows) {
    // An adjoint that took another one's cotangent along stands alone.
    std::string op = (row.count ? key.second : row.alone).str();
    printer.row(row.count > 1 ? op + " (" + std::to_string(row.count) + ")" : op, key.first, row.costs);
    for (const std::string &note : row.notes)
      printer.note(note);
  }
  for (const Explanation::Missed &note : layer.missed)
    printer.missed(note);
  if (hasCosts && (layer.rows.size() > 1 || names.size() > 1))
    printer.row("sum", names.size() > 1 ? "of each" : "", sum);
}

/// A line for each bucket: all of its step.
void printBuckets(ArrayRef<func::FuncOp> steps, llvm::raw_ostream &out) {
  static constexpr Pass kAll[] = {Forward, Backward, Update};
  Printer printer(out, kAll, /*places=*/false);
  out << "\nthe whole step, by bucket: TOKENSxDOCUMENTSxLONGESTxTRAINED, or TOKENS for any rows of so many\n";
  printer.header("bucket", "");
  for (func::FuncOp step : steps)
    printer.row(bucketName(step), "", costsOf(step));
}

/// What there is to print: the steps of all buckets, or the model as far as it came, or nothing.
SmallVector<func::FuncOp> functionsToPrint(ModuleOp module) {
  SmallVector<func::FuncOp> steps, models;
  for (auto func : module.getOps<func::FuncOp>()) {
    std::optional<qt::EntryKind> kind = qt::entryKind(func);
    if (kind == qt::EntryKind::Step && !qt::isGeneric(func))
      steps.push_back(func);
    if (kind == qt::EntryKind::Model)
      models.push_back(func);
  }
  return steps.empty() ? models : steps;
}

} // namespace

Explanation::Explanation(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.missed = kFormRemarks.str();
  categories.passed = (kRaiseRemarks + "|" + kFormRemarks).str();
  // The streamer only collects: making it cannot fail.
  (void)remark::enableOptimizationRemarks(context, std::make_unique<RemarkCollector>(formed_, missed_),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

void Explanation::begin(ModuleOp module) {
  Phase phase = phaseOf(module);
  formedBefore_ = phase >= Phase::Formed;
  if (phase != Phase::Model)
    return;
  module.walk([this](Operation *op) {
    if (StringRef scope = scopeOf(op); !scope.empty() && !isa<qt::ReadOp, qt::WatchOp, qt::YieldOp>(op))
      ++written_[splitScope(scope).unit.str()];
  });
}

void Explanation::print(ModuleOp module, llvm::raw_ostream &out) const {
  SmallVector<func::FuncOp> functions = functionsToPrint(module);
  if (functions.empty())
    return;
  func::FuncOp function = functions.front();
  bool hasCosts = qt::entryKind(function) == qt::EntryKind::Step;

  llvm::DenseSet<Operation *> backward;
  if (hasCosts)
    backward = backwardOps(function);
  llvm::MapVector<StringRef, Layer> layers;
  for (Operation &op : function.getBody().front()) {
    auto cost = dyn_cast<qt::CostOpInterface>(op);
    if (hasCosts ? !cost : needsNoKernel(&op))
      continue;
    ScopeParts scope = splitScope(scopeOf(&op));
    auto [name, pass] = lineOf(&op, backward);
    auto [entry, isNew] = layers[scope.unit].rows.try_emplace({scope.place, name});
    Row &row = entry->second;
    if (isNew)
      row.alone = withoutDialect(op.getName().getStringRef());
    bool givesBoth = isa<qt::LinearCrossEntropyGradOp>(op);
    row.count += pass != Backward || givesBoth;
    if (hasCosts)
      row.costs.of[pass].add({cost.getFlops(), cost.getBytes()});
    if (givesBoth)
      row.notes.push_back("its kernel gives the loss and its gradients at once: all under backward");
  }
  for (const Formed &note : formed_) {
    // Each function has clusters of its own; compounds come from the model, which is gone.
    if (note.function != function.getName() && module.lookupSymbol(note.function))
      continue;
    ScopeParts scope = splitScope(note.scope);
    auto &rows = layers[scope.unit].rows;
    auto row = rows.find({scope.place, note.compound});
    if (row == rows.end())
      continue;
    row->second.added += !note.why.empty();
    std::string text = describe(note);
    if (note.why.empty() || !llvm::is_contained(row->second.notes, text))
      row->second.notes.insert(row->second.notes.begin(), text);
  }
  for (const Missed &note : missed_) {
    ScopeParts scope = splitScope(note.scope);
    layers[scope.unit].missed.push_back({scope.place.str(), note.compound, note.reason});
  }
  for (auto &[name, layer] : layers)
    if (auto written = written_.find(name.str()); written != written_.end())
      layer.written = written->second;

  if (hasCosts) {
    std::string title = "step of the bucket " + bucketName(function);
    if (functions.size() > 1)
      title += ", the first of " + std::to_string(functions.size());
    printWrapped(out, title + ": " + describeBucket(bucketOf(function)), 0, 2);
  } else {
    out << "the model, as far as it was formed\n";
  }
  forEachKindOfLayer(layers,
                     [&](ArrayRef<StringRef> units, const Layer &layer) { printLayer(units, layer, hasCosts, out); });
  if (hasCosts)
    printBuckets(functions, out);
  out << "\nmissed: ";
  if (!missed_.empty())
    out << missed_.size() << ", see above";
  else
    out << (formedBefore_ ? "not known, the module was formed before" : "nothing");
  out << "\n\n";
}

} // namespace qcc
