// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/TransientPeaks.h"

#include "compiler/Scope.h"
#include "compiler/emit/LaunchCall.h"
#include "compiler/plan/Lifetimes.h"
#include "dialects/step/Step.h"
#include "runtime/base/BucketShape.h"

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
      qrt::ArgEffect effect = info.arg(i).effect;
      Value buffer = step::viewOf(value).buffer;
      bool normed = launch.getKernel() == qrt::Kernel::GlobalNorm && effect == qrt::ArgEffect::ReadVariadic;
      if (normed || (optimizer && i == 0))
        classes[buffer] = TransientClass::Gradient;
    }
    if (Value workspace = launch.getWorkspace())
      classes[step::viewOf(workspace).buffer] = TransientClass::Workspace;
  }
  return classes;
}

/// As the runtime names it (qrt::Entry::name).
std::string nameOf(step::EntryOp entry) {
  std::string name = qt::stringifyEntryKind(entry.getKind()).str();
  if (ArrayRef<int64_t> b = entry.getBucket(); !b.empty())
    name += " " + qrt::printBucket({b[0], b[1], b[2], b[3]});
  return name;
}

TransientPeak findPeak(step::EntryOp entry, const Target &target) {
  TransientPeak out;
  out.entry = nameOf(entry);
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
      out.instruction = static_cast<int64_t>(i);
    }
  }
  out.unused = out.transient - most;
  if (out.instruction < 0)
    return out;
  Operation *fullest = instructions[out.instruction];
  out.scope = scopeOf(fullest).str();
  if (auto launch = dyn_cast<step::LaunchOp>(fullest)) {
    KernelCall call = callOf(launch);
    out.documents = call.bucket.documents;
    out.documentBytes = documentBytes(call, target);
  }
  return out;
}

} // namespace

std::vector<TransientPeak> findTransientPeaks(ModuleOp module, const Target &target) {
  std::vector<TransientPeak> peaks;
  for (auto entry : module.getOps<step::EntryOp>())
    peaks.push_back(findPeak(entry, target));
  return peaks;
}

} // namespace qcc
