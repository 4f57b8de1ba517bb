// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases of the compiler, their order and options; nothing else. A module records the phase it has reached
// (`qt.phase`) and the choices that were made, so a dump of any phase is compiled further like the model itself, to the
// same bytes.
#ifndef COMPILER_PIPELINE_H
#define COMPILER_PIPELINE_H

#include "dialects/qt/Qt.h"
#include "runtime/base/BucketShape.h"
#include "runtime/base/Status.h"
#include "runtime/cost/MachineRates.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace qcc {

using qt::Phase;

/// What a build is asked for. An option that a module has recorded may be left out; another value than the recorded one
/// is an error.
struct PipelineOptions {
  std::optional<qt::StateFormat> states; // default: f32
  std::optional<qt::RematPolicy> remat;  // default: budget where `memory` is given, else none
  std::optional<int64_t> memory;         // bytes of the device's memory; with another policy it decides nothing
  std::optional<qt::Target> target;      // default: cpu
  /// Needed unless the module is `bucketed` or later.
  std::vector<qrt::BucketShape> buckets;
  /// What the machine achieves, of the same target; default: what is known of that. Decides what is computed again
  /// under a budget.
  std::optional<qrt::MachineRates> machine;
  /// A kernel the target is to be taken not to have: shows that nothing falls back.
  std::string disabledKernel;
};

/// Sets the choices that a command line spells; empty: not made. InvalidUsage for another spelling.
qrt::Status parseChoices(const std::string &states, const std::string &remat, const std::string &target,
                         std::optional<int64_t> memory, PipelineOptions &options);

/// The phase a module is in: what it records, else `model`.
Phase phaseOf(mlir::ModuleOp module);

/// What the module is compiled for: the target it records, else the one asked for, else cpu.
qt::Target targetOf(mlir::ModuleOp module, const PipelineOptions &options);

/// What decides which ops of the module are computed again: the policy it records, else the one asked for, else budget
/// where there is `memory`, else none.
qt::RematPolicy policyOf(mlir::ModuleOp module, const PipelineOptions &options);

/// Compiles the module up to and including the phase `until`, which must not be before the module's and is at most
/// `planned` (emitProgram goes further). Choices that were asked for are recorded, those of later phases too. The
/// module has to keep the contract of the phase it is in; each further phase ends with its verifier. Failures are
/// diagnosed.
mlir::LogicalResult compileTo(mlir::ModuleOp module, Phase until, const PipelineOptions &options);

} // namespace qcc

#endif // COMPILER_PIPELINE_H
