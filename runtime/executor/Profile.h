// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the time of a run goes: what was measured of an entry, by classes of work, beside what it has to do, what no
// device can do faster and what was predicted.
#ifndef RUNTIME_EXECUTOR_PROFILE_H
#define RUNTIME_EXECUTOR_PROFILE_H

#include "runtime/cost/MachineRates.h"
#include "runtime/device/Device.h"

#include <optional>
#include <string>
#include <vector>

namespace qrt {

/// The row of tokens that was run.
struct ProfiledRow {
  /// In documents, and trained.
  int64_t tokens = 0, trained = 0;
  /// Sum of the squares of the documents' lengths: what causal attention has to do.
  int64_t squaredLengths = 0;

  /// How long the documents of a bucket of so many tokens would all be for the same.
  int64_t equalLength(int64_t slots) const { return slots > 0 ? (squaredLengths + slots / 2) / slots : 0; }
};

/// What is known of a run.
struct ProfileInput {
  const Entry &entry;
  const ExecutionTimes &times;
  ProfiledRow row;
  /// By which to predict.
  const MachineRates &machine;
  /// Operations a second by the maker's data sheet (runtime/cost/PeakRates.h); nothing: unknown.
  std::optional<double> peak;
};

/// Instructions of one class: a kernel of the catalog, matrix products of one shape, copies, fills; those that compute
/// again what the forward pass computed are a class of their own.
struct ProfileRow {
  std::string name;
  int calls = 0;
  /// Pieces of work that the device gets.
  int works = 0;
  double milliseconds = 0;
  /// Attention's arithmetic is that of the row's documents.
  Cost cost;
  /// Milliseconds that the device needs at least, by the rates measured with it; 0: unknown.
  double floor = 0;
  double predicted = 0;
};

struct Profile {
  /// Those that take longest first.
  std::vector<ProfileRow> rows;
  /// All of them.
  ProfileRow sum;
  /// Milliseconds: a run, and what of it lies between instructions.
  double run = 0, idle = 0;
  /// Milliseconds of its matrix products alone; 0: not measured.
  double products = 0;
  /// Operations of the model: of all instructions but those that compute something again, and those again.
  double modelFlops = 0, recomputedFlops = 0;
  /// The part of the peak that the model's operations reach; nothing: the peak is unknown.
  std::optional<double> utilisation;
  std::optional<double> peak;
  /// Tokens a second; of an entry without a bucket 0.
  double trained = 0, real = 0, slots = 0;
};

Profile makeProfile(const ProfileInput &input);

/// "gated_delta_rule", "gemm 8192x16480x5120 a b^T", "swiglu, recomputed": the class of an instruction.
std::string className(const Entry &entry, const Instruction &instruction);

} // namespace qrt

#endif // RUNTIME_EXECUTOR_PROFILE_H
