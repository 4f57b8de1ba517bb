// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_REMAT_REMAT_H
#define COMPILER_REMAT_REMAT_H

#include "compiler/Passes.h"
#include "runtime/cost/MachineRates.h"

namespace qcc {

/// The pass `remat` for a machine whose rates are given (of the target that the options name), in place of those that
/// are known of the target.
std::unique_ptr<mlir::Pass> createRemat(RematOptions options, qrt::MachineRates machine);

} // namespace qcc

#endif // COMPILER_REMAT_REMAT_H
