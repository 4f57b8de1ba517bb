// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Explain.h"

#include "compiler/Report.h"
#include "compiler/Scope.h"
#include "dialects/qt/Entries.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace qcc {
namespace {

constexpr int kOpWidth = 28, kPlaceWidth = 28, kLineWidth = 112;

StringRef withoutDialect(StringRef op) {
  op.consume_front("qt.");
  return op;
}

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
      return addFormed({"", compound, {}, {}}, remark.getArgs());
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

/// "layers.3" of "layers.3.mlp.up_proj", otherwise the first part of the scope; and the rest.
std::pair<StringRef, StringRef> splitLayer(StringRef scope) {
  auto [first, rest] = scope.split('.');
  if (first != "layers")
    return {first, rest};
  StringRef number = rest.split('.').first;
  size_t length = first.size() + 1 + number.size();
  return {scope.take_front(length), scope.drop_front(length).ltrim('.')};
}

struct Cost {
  double flops = 0, bytes = 0;

  void add(qt::CostOpInterface op) {
    flops += op.getFlops();
    bytes += op.getBytes();
  }
  void add(const Cost &other) {
    flops += other.flops;
    bytes += other.bytes;
  }
  bool operator==(const Cost &) const = default;
};

struct Row {
  int count = 0; // in the forward pass
  Cost forward, backward;
  std::vector<std::string> made; // what each compound of the row was made of
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

/// The forward op that an op is or whose gradient it computes, and whether it is the latter.
std::pair<StringRef, bool> forwardOf(Operation *op) {
  if (isa<qt::LinearInputGradOp, qt::LinearWeightGradOp>(op))
    return {withoutDialect(qt::LinearOp::getOperationName()), true};
  if (isa<qt::ScatterRowsOp>(op))
    return {withoutDialect(qt::GatherRowsOp::getOperationName()), true};
  StringRef name = withoutDialect(op->getName().getStringRef());
  bool grad = name.consume_back("_grad");
  return {name, grad};
}

/// "2 reshape, silu" of reshape, silu, reshape; and the members of a pack, without what their names share.
std::string describe(const Explanation::Formed &note) {
  llvm::MapVector<StringRef, int> counts;
  for (const std::string &op : note.madeOf)
    ++counts[op];
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(counts, out, [&](const auto &entry) {
    if (entry.second > 1)
      out << entry.second << ' ';
    out << entry.first;
  });
  if (note.pack.empty())
    return text;
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

/// Prints words, breaking long lines; those after the first are indented by `indent`.
void printWrapped(llvm::raw_ostream &out, StringRef text, int column, int indent) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  bool first = true;
  for (StringRef word : words) {
    int length = static_cast<int>(word.size());
    if (!first && column + 1 + length > kLineWidth) {
      out << "\n" << std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out << ' ';
      ++column;
    }
    out << word;
    column += length;
    first = false;
  }
  out << "\n";
}

/// "layers 0-2, 4, lm_head": the numbers of layers in ranges.
std::string nameLayers(ArrayRef<StringRef> names) {
  if (names.size() == 1)
    return (names.front().empty() ? "without a scope" : names.front()).str();
  std::string text;
  llvm::raw_string_ostream out(text);
  bool inNumbers = false;
  for (size_t i = 0; i < names.size();) {
    auto numberOf = [&](size_t at) {
      int number = -1;
      StringRef name = at < names.size() ? names[at] : StringRef();
      return name.consume_front("layers.") && !name.getAsInteger(10, number) ? number : -1;
    };
    out << (i > 0 ? ", " : "");
    int from = numberOf(i), to = from;
    if (from < 0) {
      out << names[i++];
      inNumbers = false;
      continue;
    }
    while (numberOf(++i) == to + 1)
      ++to;
    out << (inNumbers ? "" : "layers ") << from;
    if (to > from)
      out << '-' << to;
    inNumbers = true;
  }
  return text;
}

class Printer {
public:
  Printer(llvm::raw_ostream &out, bool costs) : out_(out), costs_(costs) {}

  void header() {
    out_ << "  " << llvm::left_justify("op", kOpWidth);
    if (costs_)
      out_ << llvm::left_justify("where", kPlaceWidth) << llvm::right_justify("forward GFLOP", kFlopsWidth)
           << llvm::right_justify("MB", kBytesWidth) << llvm::right_justify("backward GFLOP", kFlopsWidth)
           << llvm::right_justify("MB", kBytesWidth) << "\n";
    else
      out_ << "where\n";
  }
  void row(StringRef op, StringRef place, const Cost &forward, const Cost &backward) {
    out_ << "  ";
    if (costs_) {
      out_ << llvm::left_justify(op, kOpWidth) << llvm::left_justify(place, kPlaceWidth);
      cost(forward);
      cost(backward);
    } else {
      out_ << llvm::left_justify(op, place.empty() ? 0 : kOpWidth) << place;
    }
    out_ << "\n";
  }
  void made(StringRef text) {
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

  void cost(const Cost &cost) {
    out_ << llvm::format("%*.3f%*.1f", kFlopsWidth, cost.flops / 1e9, kBytesWidth, cost.bytes / 1e6);
  }

  llvm::raw_ostream &out_;
  bool costs_;
};

/// The step of the first bucket, or what there is of the model; null if the module has neither.
func::FuncOp functionToPrint(ModuleOp module) {
  func::FuncOp model;
  for (auto func : module.getOps<func::FuncOp>()) {
    std::optional<qt::EntryKind> kind = qt::entryKind(func);
    if (kind == qt::EntryKind::Step && !qt::isGeneric(func))
      return func;
    if (kind == qt::EntryKind::Model)
      model = func;
  }
  return model;
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

void Explanation::countWritten(ModuleOp module) {
  module.walk([this](Operation *op) {
    if (StringRef scope = scopeOf(op); !scope.empty() && !isa<qt::ReadOp, qt::WatchOp, qt::YieldOp>(op))
      ++written_[splitLayer(scope).first.str()];
  });
}

void Explanation::print(ModuleOp module, llvm::raw_ostream &out) const {
  func::FuncOp function = functionToPrint(module);
  if (!function)
    return;
  bool costs = qt::entryKind(function) == qt::EntryKind::Step;

  llvm::MapVector<StringRef, Layer> layers;
  for (Operation &op : function.getBody().front()) {
    auto cost = dyn_cast<qt::CostOpInterface>(op);
    if (costs ? !cost
              : !isa<qt::QtDialect>(op.getDialect()) || isa<qt::ReadOp, qt::WatchOp, qt::ReshapeOp, qt::SplitOp>(op))
      continue;
    auto [layer, place] = splitLayer(scopeOf(&op));
    auto [name, grad] = forwardOf(&op);
    Row &row = layers[layer].rows[{place, name}];
    // The head's adjoint gives the loss as well.
    row.count += !grad || isa<qt::LinearCrossEntropyGradOp>(op);
    if (costs)
      (grad ? row.backward : row.forward).add(cost);
  }
  for (const Formed &note : formed_) {
    auto [layer, place] = splitLayer(note.scope);
    auto &rows = layers[layer].rows;
    if (auto row = rows.find({place, note.compound}); row != rows.end())
      row->second.made.push_back(describe(note));
  }
  for (const Missed &note : missed_) {
    auto [layer, place] = splitLayer(note.scope);
    layers[layer].missed.push_back({place.str(), note.compound, note.reason});
  }
  for (auto &[name, layer] : layers)
    if (auto written = written_.find(name.str()); written != written_.end())
      layer.written = written->second;

  if (costs)
    out << "step of the bucket " << function.getSymName().split('.').second << "\n";
  else
    out << "the model, as far as it was formed\n";
  Printer printer(out, costs);
  Cost allForward, allBackward;
  llvm::DenseSet<StringRef> printed;
  for (auto &[first, layer] : layers) {
    if (printed.contains(first))
      continue;
    SmallVector<StringRef> alike;
    for (auto &[name, other] : layers)
      if (!printed.contains(name) && other == layer) {
        printed.insert(name);
        alike.push_back(name);
      }
    int ops = 0;
    for (auto &[key, row] : layer.rows)
      ops += row.count;
    std::string title = nameLayers(alike);
    if (layer.written)
      title += ": written as " + std::to_string(layer.written) + (layer.written == 1 ? " op" : " ops") +
               (alike.size() > 1 ? " each" : "") + ", now " + std::to_string(ops);
    out << "\n";
    printWrapped(out, title, 0, 2);
    printer.header();
    Cost forward, backward;
    for (auto &[key, row] : layer.rows) {
      // An adjoint that took another one's cotangent along stands alone.
      printer.row(key.second.str() + (row.count ? "" : "_grad"), key.first, row.forward, row.backward);
      for (const std::string &made : row.made)
        printer.made(made);
      forward.add(row.forward);
      backward.add(row.backward);
    }
    for (const Missed &note : layer.missed)
      printer.missed(note);
    if (costs)
      printer.row("sum", alike.size() > 1 ? "of each" : "", forward, backward);
    for (size_t i = 0; i < alike.size(); ++i) {
      allForward.add(forward);
      allBackward.add(backward);
    }
  }
  out << "\n";
  if (costs)
    printer.row("all", "", allForward, allBackward);
  out << "missed: " << (missed_.empty() ? "nothing" : std::to_string(missed_.size()) + ", see above") << "\n\n";
}

} // namespace qcc
