// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef COMPILER_EMIT_LAUNCHCALL_H
#define COMPILER_EMIT_LAUNCHCALL_H

#include "compiler/target/KernelCall.h"
#include "dialects/step/Step.h"

namespace qcc {

/// A launch of a planned module as a call, its workspace aside.
KernelCall callOf(step::LaunchOp launch);

} // namespace qcc

#endif // COMPILER_EMIT_LAUNCHCALL_H
