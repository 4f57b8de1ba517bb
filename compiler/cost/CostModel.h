// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long instructions are expected to take on a machine.
#ifndef COMPILER_COST_COSTMODEL_H
#define COMPILER_COST_COSTMODEL_H

#include "compiler/plan/EntryPlan.h"
#include "runtime/cost/MachineRates.h"

namespace qcc {

/// Predictions by the same formulas as `qrun profile`'s (runtime/cost).
class CostModel {
public:
  explicit CostModel(qrt::MachineRates rates) : rates_(std::move(rates)) {}

  /// In words: what machine the predictions are for.
  const std::string &machine() const { return rates_.machine; }

  /// Seconds of one instruction of a plan.
  double seconds(const EntryPlan &plan, const PlannedInstruction &instruction) const;

private:
  qrt::MachineRates rates_;
};

} // namespace qcc

#endif // COMPILER_COST_COSTMODEL_H
