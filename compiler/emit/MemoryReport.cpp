// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/MemoryReport.h"

#include "compiler/plan/Lifetimes.h"
#include "dialects/step/Step.h"
#include "runtime/base/Digits.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <array>

using namespace mlir;

namespace qcc {
namespace {

enum class TransientClass : uint8_t { Activation, Gradient, Workspace };

/// Gradients are what the norm of all is taken over and the optimizer reads; workspace is what kernels need besides.
DenseMap<Value, TransientClass> classify(step::EntryOp entry) {
  DenseMap<Value, TransientClass> classes;
  for (auto launch : entry.getBody()->getOps<step::LaunchOp>()) {
    const qrt::KernelInfo &info = qrt::kernelInfo(launch.getKernel());
    bool optimizer = launch.getKernel() == qrt::Kernel::AdamW;
    for (auto [i, value] : llvm::enumerate(launch.getCallArguments())) {
      if (!value)
        continue;
      qrt::ArgEffect effect = info.args[std::min(i, info.args.size() - 1)].effect;
      Value buffer = step::viewOf(value).buffer;
      if (effect == qrt::ArgEffect::ReadVariadic || (optimizer && i == 0))
        classes[buffer] = TransientClass::Gradient;
    }
    if (Value workspace = launch.getWorkspace())
      classes[step::viewOf(workspace).buffer] = TransientClass::Workspace;
  }
  return classes;
}

void reportEntry(step::EntryOp entry, MemoryReport::Entry &out) {
  out.name = entry.getSymName().str();
  out.kind = entry.getKind();
  out.io = entry.getIoBytes();
  out.transient = entry.getTransientBytes();

  DenseMap<Value, TransientClass> classes = classify(entry);
  SmallVector<Operation *> instructions;
  for (Operation &op : *entry.getBody())
    if (isa<step::InstructionOpInterface>(op))
      instructions.push_back(&op);
  // The change of each class at each instruction, then the sums.
  std::vector<std::array<int64_t, 3>> changes(instructions.size() + 1);
  for (auto [buffer, lifetime] : lifetimesOf(entry)) {
    auto transient = buffer.getDefiningOp<step::TransientOp>();
    if (!transient)
      continue;
    auto which = static_cast<size_t>(classes.lookup(buffer));
    int64_t bytes = step::bytesOf(transient.getMemory().getType());
    changes[lifetime.first][which] += bytes;
    changes[lifetime.last + 1][which] -= bytes;
  }
  std::array<int64_t, 3> live{};
  int64_t most = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    for (size_t c = 0; c < 3; ++c)
      live[c] += changes[i][c];
    if (int64_t sum = live[0] + live[1] + live[2]; sum > most) {
      most = sum;
      out.activations = live[0];
      out.gradients = live[1];
      out.workspace = live[2];
      out.peakInstruction = static_cast<int64_t>(i);
    }
  }
  out.unused = out.transient - most;
  if (out.peakInstruction >= 0)
    if (auto scope = instructions[out.peakInstruction]->getAttrOfType<StringAttr>(qt::kScopeAttr))
      out.peakScope = scope.getValue().str();
}

void printLine(llvm::raw_ostream &out, StringRef name, int64_t bytes) {
  out << llvm::formatv("  {0,-44}{1,20}", name, qrt::groupDigits(bytes))
      << llvm::format("%12.3f\n", static_cast<double>(bytes) / (1 << 30));
}

void printTotal(llvm::raw_ostream &out, StringRef name, int64_t bytes, std::optional<int64_t> budget) {
  printLine(out, name, bytes);
  if (!budget)
    return;
  if (bytes <= *budget)
    out << "    fits\n";
  else
    out << llvm::format("    short by %.3f GiB\n", static_cast<double>(bytes - *budget) / (1 << 30));
}

} // namespace

/// The most that io and transient together need, over the entries of these kinds.
static int64_t largest(ArrayRef<MemoryReport::Entry> entries, ArrayRef<qt::EntryKind> kinds) {
  int64_t most = 0;
  for (const MemoryReport::Entry &entry : entries)
    if (llvm::is_contained(kinds, entry.kind))
      most = std::max(most, entry.io + entry.transient);
  return most;
}

int64_t MemoryReport::total() const { return state + largest(entries, {qt::EntryKind::Step, qt::EntryKind::Eval}); }

int64_t MemoryReport::totalAccumulating() const {
  return state + accumulatedGradients +
         largest(entries, {qt::EntryKind::Accumulate, qt::EntryKind::Apply, qt::EntryKind::Eval});
}

MemoryReport reportMemory(ModuleOp module) {
  MemoryReport report;
  for (auto layout : module.getOps<step::LayoutOp>()) {
    report.state = layout.getStateBytes();
    report.accumulatedGradients = layout.getGradientBytes();
    for (auto place : layout.getBody()->getOps<step::PlaceOp>()) {
      int64_t bytes = step::bytesOf(cast<MemRefType>(place.getType()));
      auto state = module.lookupSymbol<qt::StateOp>(place.getSymNameAttr());
      if (!state) {
        report.weights += bytes;
        continue;
      }
      switch (state.getKind()) {
      case qt::StateKind::Master:
        report.masters += bytes;
        break;
      case qt::StateKind::ExpAvg:
      case qt::StateKind::ExpAvgSq:
        report.moments += bytes;
        break;
      case qt::StateKind::Counters:
        report.counters += bytes;
        break;
      case qt::StateKind::Gradient: // in a space of its own
        break;
      }
    }
    report.padding = report.state - report.weights - report.masters - report.moments - report.counters;
  }
  for (auto entry : module.getOps<step::EntryOp>())
    reportEntry(entry, report.entries.emplace_back());
  return report;
}

void printMemoryReport(const MemoryReport &report, llvm::raw_ostream &out, std::optional<int64_t> budget) {
  out << llvm::formatv("  {0,-44}{1,20}{2,12}\n", "memory", "bytes", "GiB");
  printLine(out, "weights", report.weights);
  printLine(out, "masters", report.masters);
  printLine(out, "moments", report.moments);
  printLine(out, "counters", report.counters);
  printLine(out, "padding", report.padding);
  printLine(out, "state", report.state);
  printLine(out, "accumulated gradients", report.accumulatedGradients);
  for (const MemoryReport::Entry &entry : report.entries) {
    out << "  @" << entry.name << "\n";
    printLine(out, "  batch, tables, results", entry.io);
    printLine(out, "  transient", entry.transient);
    if (entry.peakInstruction < 0)
      continue;
    out << "      at its peak, instruction " << entry.peakInstruction
        << (entry.peakScope.empty() ? "" : " (" + entry.peakScope + ")") << ":\n";
    printLine(out, "    activations", entry.activations);
    printLine(out, "    gradients", entry.gradients);
    printLine(out, "    workspace", entry.workspace);
    printLine(out, "    unused", entry.unused);
  }
  printTotal(out, "total, one micro-batch a step", report.total(), budget);
  if (report.accumulatedGradients > 0)
    printTotal(out, "total, gradients accumulated", report.totalAccumulating(), budget);
}

} // namespace qcc
