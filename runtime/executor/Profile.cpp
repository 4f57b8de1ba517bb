// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/Profile.h"

#include "runtime/program/InstructionCost.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace qrt {

std::string className(const Entry &entry, const Instruction &instruction) {
  std::string name(instructionName(instruction));
  if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work)) {
    const TensorShape &a = entry.slices[static_cast<size_t>(gemm->a)].shape,
                      &c = entry.slices[static_cast<size_t>(gemm->c)].shape;
    name += fmt::format(" {}x{}x{}{}", c.dims[0], c.dims[1], a.dims[gemm->transposeA ? 0 : 1],
                        gemm->transposeA   ? " a^T b"
                        : gemm->transposeB ? " a b^T"
                                           : " a b");
  }
  return instruction.recomputed ? name + ", recomputed" : name;
}

/// The rates that were measured with the times, in place of those that predict.
static MachineRates measuredRates(const ProfileInput &input) {
  MachineRates rates = input.machine;
  rates.copyRate = input.times.copyRate;
  (entryStorage(input.entry) == DType::BF16 ? rates.bf16 : rates.f32).rate = input.times.gemmRate;
  return rates;
}

Profile makeProfile(const ProfileInput &input) {
  const auto &[entry, times, row, machine, peak] = input;
  int64_t longest = row.equalLength(entry.bucket.tokens);
  bool hasFloors = times.copyRate > 0 && times.gemmRate > 0;
  MachineRates measured = measuredRates(input);

  Profile profile;
  std::map<std::string, ProfileRow> classes;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const Instruction &instruction = entry.instructions[i];
    ProfileRow its{"", 1, times.works[i], times.instructions[i], instructionCost(entry, instruction, longest), 0, 0};
    if (hasFloors)
      its.floor = 1e3 * floorSeconds(measured, entry, instruction, its.cost);
    its.predicted = 1e3 * predictedSeconds(machine, entry, instruction, its.cost);
    (instruction.recomputed ? profile.recomputedFlops : profile.modelFlops) += its.cost.flops;
    for (ProfileRow *sum : {&classes[className(entry, instruction)], &profile.sum}) {
      sum->calls += its.calls;
      sum->works += its.works;
      sum->milliseconds += its.milliseconds;
      sum->cost.add(its.cost);
      sum->floor += its.floor;
      sum->predicted += its.predicted;
    }
  }
  for (auto &[name, row] : classes) {
    row.name = name;
    profile.rows.push_back(row);
  }
  std::sort(profile.rows.begin(), profile.rows.end(), [](const ProfileRow &a, const ProfileRow &b) {
    return std::tuple(-a.milliseconds, a.name) < std::tuple(-b.milliseconds, b.name);
  });

  profile.run = times.run;
  profile.idle = times.run - profile.sum.milliseconds;
  profile.products = times.gemms;
  double seconds = times.run * 1e-3;
  profile.peak = peak;
  if (peak)
    profile.utilisation = profile.modelFlops / seconds / *peak;
  if (entry.bucket.tokens > 0) {
    profile.trained = static_cast<double>(row.trained) / seconds;
    profile.real = static_cast<double>(row.tokens) / seconds;
    profile.slots = static_cast<double>(entry.bucket.tokens) / seconds;
  }
  return profile;
}

} // namespace qrt
