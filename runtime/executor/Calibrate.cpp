// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/Calibrate.h"

#include "runtime/program/InstructionCost.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qrt {
namespace {

/// What the instructions that share a fraction took beyond the fixed time, and their floors; in seconds.
struct Reached {
  double taken = 0, all = 0, floor = 0;

  void add(double seconds, double fixed, double itsFloor) {
    taken += seconds - fixed;
    all += seconds;
    floor += itsFloor;
  }
  /// Of instructions that take little but the fixed time nothing is known.
  void set(double &fraction) const {
    constexpr double kLeastShare = 0.1;
    if (floor > 0 && taken > kLeastShare * all)
      fraction = std::clamp(floor / taken, kLeastFraction, kMostFraction);
  }
};

} // namespace

StatusOr<MachineRates> calibratedRates(const Entry &entry, const ExecutionTimes &times, const ProfiledRow &row,
                                       const MachineRates &known, std::string_view device) {
  if (!(times.copyRate > 0 && times.gemmRate > 0))
    return error(StatusCode::Unsupported,
                 "entry {}: its arena has no room for a copy and a matrix product large enough to measure rates with",
                 entry.name());
  MachineRates rates = known;
  rates.machine = device;
  rates.copyRate = times.copyRate;
  MachineRates::Products &products = entryStorage(entry) == DType::BF16 ? rates.bf16 : rates.f32;
  products.rate = times.gemmRate;
  // Of instructions that one piece of work does, the first has it and its time, the others have none.
  double fixed = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < times.instructions.size(); ++i)
    if (times.works[i] > 0)
      fixed = std::min(fixed, times.instructions[i] * 1e-3);
  if (!(std::isfinite(fixed) && fixed > 0))
    return error(StatusCode::Unsupported, "entry {}: it has no instruction that takes time", entry.name());
  rates.launchSeconds = fixed;

  std::array<Reached, kNumKernels> kernels;
  std::array<Reached, kNumProductForms> forms;
  for (size_t i = 0; i < entry.instructions.size(); ++i) {
    const Instruction &instruction = entry.instructions[i];
    Cost cost = instructionCost(entry, instruction, row.equalLength(entry.bucket.tokens));
    double floor = floorSeconds(rates, entry, instruction, cost), seconds = times.instructions[i] * 1e-3;
    double itsFixed = times.works[i] > 0 ? fixed : 0;
    if (const Launch *launch = std::get_if<Launch>(&instruction.work))
      kernels[static_cast<size_t>(launch->kernel)].add(seconds, itsFixed, floor);
    else if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work);
             gemm && instructionStorage(entry, instruction) == entryStorage(entry))
      forms[static_cast<size_t>(productForm(gemm->transposeA, gemm->transposeB))].add(seconds, itsFixed, floor);
  }
  for (size_t kernel = 0; kernel < kNumKernels; ++kernel)
    kernels[kernel].set(rates.kernels[kernel]);
  for (size_t form = 0; form < kNumProductForms; ++form)
    forms[form].set(products.fractions[form]);
  return rates;
}

} // namespace qrt
