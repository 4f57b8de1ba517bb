// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/ExplainMemory.h"

#include "compiler/ExplainText.h"
#include "compiler/Scope.h"
#include "compiler/plan/UnreadResiduals.h"
#include "compiler/remat/Backward.h"
#include "dialects/qt/Residuals.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

#include <map>

using namespace mlir;

namespace qcc {
namespace {

constexpr int kTensorWidth = 28, kPlaceWidth = 28, kNumberWidth = 13;

/// Bytes of a tensor by what becomes of it until the backward pass reads it, and the time of its second run.
struct Saved {
  double kept = 0, again = 0, dropped = 0, seconds = 0;

  void add(const Saved &other) {
    kept += other.kept;
    again += other.again;
    dropped += other.dropped;
    seconds += other.seconds;
  }
  bool operator==(const Saved &) const = default;
};

/// A tensor of a layer.
struct Row {
  StringRef place; // in the layer
  std::string tensor;
  Saved saved;
  bool operator==(const Row &) const = default;
};
/// In the order of the program.
using Layer = std::vector<Row>;

/// "attention lse": what an op writes as its kernel's argument number `argument`.
std::string tensorName(Operation *op, int argument) {
  std::string name = withoutDialect(op->getName().getStringRef()).str();
  if (auto kernel = dyn_cast<qt::KernelBackedOpInterface>(op))
    name += " " + std::string(qrt::kernelInfo(kernel.getKernel()).args[argument].name);
  return name;
}

/// What the backward pass of a planned step reads of its forward pass.
class SavedTensors {
public:
  SavedTensors(func::FuncOp step, const EntryPlan &plan, const CostModel &costs) {
    llvm::DenseSet<Operation *> backward = backwardOps(step);
    auto first = llvm::find_if(plan.instructions, [&](const auto &i) { return backward.contains(i.op); });
    int64_t begin = first - plan.instructions.begin();
    for (auto [i, instruction] : llvm::enumerate(plan.instructions)) {
      Operation *op = instruction.op;
      bool again = op->hasAttr(qt::kRecomputedAttr);
      if (!again && static_cast<int64_t>(i) >= begin)
        continue;
      double seconds = again ? costs.seconds(plan, instruction) : 0;
      ArrayRef<PlannedAccess> accesses = ArrayRef(instruction.accesses).drop_back(instruction.hasWorkspace);
      for (auto [argument, access] : llvm::enumerate(accesses)) {
        if (access.effect != step::Effect::Write)
          continue;
        const PlannedBuffer &buffer = plan.buffers[access.view->buffer];
        bool written = buffer.first < static_cast<int64_t>(i); // in part, by another op, which counts it
        if (buffer.space != step::Space::Transient || written || (!again && buffer.last < begin))
          continue;
        auto bytes = static_cast<double>(step::bytesOf(buffer.type));
        row(op, tensorName(op, static_cast<int>(argument))).add({again ? 0 : bytes, again ? bytes : 0, 0, seconds});
        seconds = 0;
      }
    }
    addDropped(step);
  }

  void print(llvm::raw_ostream &out) const {
    line(out, "", "", {"kept MiB", "again MiB", "again ms", "dropped MiB"});
    forEachKindOfLayer(layers_, [&](ArrayRef<StringRef> units, const Layer &layer) {
      out << nameUnits(units) << "\n";
      Saved sum;
      for (const Row &row : layer) {
        line(out, row.tensor, row.place, row.saved);
        sum.add(row.saved);
      }
      if (layer.size() > 1 || units.size() > 1)
        line(out, "sum", units.size() > 1 ? "of each" : "", sum);
    });
    Saved all;
    for (auto &[unit, layer] : layers_)
      for (const Row &row : layer)
        all.add(row.saved);
    line(out, "all", "", all);
  }

private:
  /// Residuals that no run of an op gives.
  void addDropped(func::FuncOp step) {
    std::map<std::pair<StringRef, StringRef>, unsigned> given; // by scope and name: the most results
    for (Operation &op : step.getOps()) {
      unsigned &most = given[{scopeOf(&op), op.getName().getStringRef()}];
      most = std::max(most, op.getNumResults());
    }
    for (Operation &op : step.getOps()) {
      auto residual = dyn_cast<qt::ResidualOpInterface>(op);
      if (!residual || op.hasAttr(qt::kRecomputedAttr))
        continue;
      SmallVector<Type> types = residual.getResidualTypes();
      size_t present = given[{scopeOf(&op), op.getName().getStringRef()}] - qt::numPrimals(&op);
      size_t next = 0;
      ArrayRef<qrt::ArgInfo> args = qrt::kernelInfo(cast<qt::KernelBackedOpInterface>(op).getKernel()).args;
      for (auto [argument, info] : llvm::enumerate(args))
        if (info.effect == qrt::ArgEffect::WriteOptional && next < types.size() && next++ >= present)
          row(&op, tensorName(&op, static_cast<int>(argument)))
              .add({0, 0, static_cast<double>(qt::tensorBytes(types[next - 1])), 0});
    }
  }

  Saved &row(Operation *op, std::string tensor) {
    ScopeParts scope = splitScope(scopeOf(op));
    Layer &layer = layers_[scope.unit];
    auto row = llvm::find_if(layer, [&](const Row &r) { return r.place == scope.place && r.tensor == tensor; });
    if (row == layer.end())
      row = layer.insert(row, {scope.place, std::move(tensor), {}});
    return row->saved;
  }

  static void line(llvm::raw_ostream &out, StringRef tensor, StringRef place, const Saved &saved) {
    line(out, tensor, place,
         {printAmount(saved.kept / 0x1p20), printAmount(saved.again / 0x1p20), printAmount(saved.seconds * 1e3),
          printAmount(saved.dropped / 0x1p20)});
  }
  static void line(llvm::raw_ostream &out, StringRef tensor, StringRef place, ArrayRef<std::string> numbers) {
    out << "  " << llvm::left_justify(tensor, kTensorWidth) << llvm::left_justify(place, kPlaceWidth);
    for (const std::string &number : numbers)
      out << llvm::right_justify(number, kNumberWidth);
    out << "\n";
  }

  llvm::MapVector<StringRef, Layer> layers_;
};

/// A kind of work: products, each kernel, copies, fills.
std::string kindOf(const PlannedInstruction &instruction) {
  switch (instruction.kind) {
  case InstructionKind::Kernel:
    return std::string(qrt::kernelInfo(cast<qt::KernelBackedOpInterface>(instruction.op).getKernel()).name);
  case InstructionKind::Gemm:
    return "product";
  case InstructionKind::Copy:
    return "copy";
  case InstructionKind::Fill:
    return "fill";
  }
  llvm_unreachable("an instruction of no kind");
}

void printTimes(const EntryPlan &plan, const CostModel &costs, llvm::raw_ostream &out) {
  struct Times {
    std::string kind;
    int64_t calls = 0, again = 0;
    double seconds = 0, secondsAgain = 0;
  };
  std::vector<Times> kinds;
  Times all{"all"};
  for (const PlannedInstruction &instruction : plan.instructions) {
    double seconds = costs.seconds(plan, instruction);
    bool again = instruction.op->hasAttr(qt::kRecomputedAttr);
    std::string kind = kindOf(instruction);
    auto known = llvm::find_if(kinds, [&](const Times &times) { return times.kind == kind; });
    if (known == kinds.end())
      known = kinds.insert(known, {kind});
    for (Times *times : {&*known, &all}) {
      ++times->calls;
      times->again += again;
      times->seconds += seconds;
      times->secondsAgain += again ? seconds : 0;
    }
  }
  llvm::stable_sort(kinds, [](const Times &a, const Times &b) { return a.seconds > b.seconds; });
  auto line = [&](const Times &times) {
    out << "  " << llvm::left_justify(times.kind, kTensorWidth)
        << llvm::right_justify(std::to_string(times.calls), kNumberWidth)
        << llvm::right_justify(printAmount(times.seconds * 1e3), kNumberWidth)
        << llvm::right_justify(std::to_string(times.again), kNumberWidth)
        << llvm::right_justify(printAmount(times.secondsAgain * 1e3), kNumberWidth) << "\n";
  };
  out << "\npredicted time of the step on " << costs.machine() << "\n  " << llvm::left_justify("work", kTensorWidth);
  for (StringRef title : {"calls", "ms", "again", "again ms"})
    out << llvm::right_justify(title, kNumberWidth);
  out << "\n";
  llvm::for_each(kinds, line);
  line(all);
}

} // namespace

LogicalResult explainMemory(ModuleOp module, const Target &target, const CostModel &costs, llvm::raw_ostream &out) {
  auto functions = module.getOps<func::FuncOp>();
  auto step = llvm::find_if(functions, [](func::FuncOp function) {
    return qt::entryKind(function) == qt::EntryKind::Step && !qt::isGeneric(function);
  });
  if (step == functions.end())
    return success();
  OwningOpRef<func::FuncOp> copy = cast<func::FuncOp>((*step)->clone());
  StateLayout layout = layoutState(module);
  FailureOr<EntryPlan> plan = planWithoutUnread(
      *copy, layout, [&](Operation *op, const KernelCall &call) { return planCall(op, call, target); });
  if (failed(plan))
    return failure();
  out << "what the backward pass of @" << (*step).getName() << " reads of its forward pass\n";
  SavedTensors(*copy, *plan, costs).print(out);
  printTimes(*plan, costs, out);
  out << "\n";
  return success();
}

} // namespace qcc
