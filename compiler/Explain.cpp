// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Explain.h"

#include "compiler/Scope.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace qcc {
namespace {

class MissedStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit MissedStreamer(std::vector<Explanation::Missed> &missed) : missed_(missed) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    if (remark.getRemarkType() != llvm::remarks::Type::Missed)
      return;
    Explanation::Missed note;
    note.compound = remark.getRemarkName().str();
    for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
      if (arg.key == "Scope")
        note.scope = arg.val;
      if (arg.key == "Reason")
        note.reason = arg.val;
    }
    missed_.push_back(std::move(note));
  }

private:
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
  int count = 0;
  Cost forward, backward;
  bool operator==(const Row &) const = default;
};

/// A layer's rows by (place in the layer, op), in the order of the program.
using Table = llvm::MapVector<std::pair<StringRef, StringRef>, Row>;

/// The forward op that an op is or whose gradient it computes, and whether it is the latter.
std::pair<StringRef, bool> forwardOf(Operation *op) {
  if (isa<qt::LinearInputGradOp, qt::LinearWeightGradOp>(op))
    return {qt::LinearOp::getOperationName(), true};
  if (isa<qt::ScatterRowsOp>(op))
    return {qt::GatherRowsOp::getOperationName(), true};
  StringRef name = op->getName().getStringRef();
  bool grad = name.consume_back("_grad");
  return {name, grad};
}

bool sameRows(const Table &a, const Table &b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto &x, const auto &y) {
           return x.first == y.first && x.second == y.second;
         });
}

void printCost(llvm::raw_ostream &out, const Cost &cost) {
  out << llvm::format("%12.3f %10.1f", cost.flops / 1e9, cost.bytes / 1e6);
}

void printRow(llvm::raw_ostream &out, StringRef op, StringRef place, const Cost &forward, const Cost &backward) {
  out << "  " << llvm::left_justify(op, 28) << llvm::left_justify(place, 28);
  printCost(out, forward);
  out << "  ";
  printCost(out, backward);
  out << "\n";
}

} // namespace

Explanation::Explanation(MLIRContext &context) {
  remark::RemarkCategories categories;
  categories.missed = "form";
  // The streamer only collects: making it cannot fail.
  (void)remark::enableOptimizationRemarks(context, std::make_unique<MissedStreamer>(missed_),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

void Explanation::countWritten(ModuleOp module) {
  module.walk([this](Operation *op) {
    if (StringRef scope = scopeOf(op); !scope.empty() && !isa<qt::ReadOp, qt::WatchOp, qt::YieldOp>(op))
      ++written_[splitLayer(scope).first.str()];
  });
}

void Explanation::print(ModuleOp module, llvm::raw_ostream &out) const {
  func::FuncOp step;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto kind = func->getAttrOfType<qt::EntryKindAttr>(qt::kEntryAttr);
    if (!step && kind && kind.getValue() == qt::EntryKind::Step && llvm::any_of(func.getArgumentTypes(), [](Type type) {
          auto segments = dyn_cast<qt::SegmentsType>(type);
          return segments && segments.isStatic();
        }))
      step = func;
  }
  if (!step)
    return;

  llvm::MapVector<StringRef, Table> layers;
  for (Operation &op : step.getBody().front())
    if (auto cost = dyn_cast<qt::CostOpInterface>(op)) {
      auto [layer, place] = splitLayer(scopeOf(&op));
      auto [name, grad] = forwardOf(&op);
      Row &row = layers[layer][{place, name}];
      row.count += !grad;
      (grad ? row.backward : row.forward).add(cost);
    }

  out << "step of the bucket " << step.getSymName().split('.').second << "\n";
  Cost allForward, allBackward;
  llvm::SmallPtrSet<const void *, 32> printed;
  for (auto &[layer, table] : layers) {
    if (!printed.insert(layer.data()).second)
      continue;
    out << "\n" << layer;
    int alike = 1;
    for (auto &[other, otherTable] : layers)
      if (!printed.contains(other.data()) && sameRows(table, otherTable)) {
        printed.insert(other.data());
        out << (alike % 10 == 0 ? ",\n  " : ", ") << other;
        ++alike;
      }
    int ops = 0;
    for (auto &[key, row] : table)
      ops += row.count;
    if (auto written = written_.find(layer.str()); written != written_.end())
      out << ": written as " << written->second << " ops" << (alike > 1 ? " each" : "") << ", now " << ops;
    out << "\n  " << llvm::left_justify("op", 28) << llvm::left_justify("where", 28)
        << "forward GFLOP         MB  backward GFLOP       MB\n";
    Cost forward, backward;
    for (auto &[key, row] : table) {
      printRow(out, key.second, key.first, row.forward, row.backward);
      forward.add(row.forward);
      backward.add(row.backward);
    }
    printRow(out, "sum", alike > 1 ? "of each" : "", forward, backward);
    for (int i = 0; i < alike; ++i) {
      allForward.add(forward);
      allBackward.add(backward);
    }
  }
  out << "\n";
  printRow(out, "all", "", allForward, allBackward);
  out << "\nmissed: " << (missed_.empty() ? "nothing" : "") << "\n";
  for (const Missed &note : missed_)
    out << "  " << note.scope << ": " << note.compound << ": " << note.reason << "\n";
}

} // namespace qcc
