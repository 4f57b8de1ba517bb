// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pass of the compiler, in the order of the phases. A pass is implemented in the folder of its concern, in a file named after it.
#ifndef COMPILER_PASSES_TD
#define COMPILER_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// raised
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// formed
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// grad
//===----------------------------------------------------------------------===//

def BuildEntries : Pass<"build-entries", "mlir::ModuleOp"> {
  let summary = "the model becomes the entry functions @step, @accumulate, @apply and @eval";
  let description = [{
    The reverse pass is appended to clones of the model (docs/design.md, Entry functions), and the optimizer's state becomes symbols: `X.exp_avg`,
    `X.exp_avg_sq`, `X.gradient` and, where it has one, `X.master` for each trained parameter or pack X, and `optimizer.counters`.
  }];
  let options = [Option<"states", "states", "qt::StateFormat", "qt::StateFormat::F32", "what the optimizer keeps of a bf16 weight",
    "llvm::cl::values(clEnumValN(qt::StateFormat::F32, \"f32\", \"master and moments in f32\"), "
    "clEnumValN(qt::StateFormat::BF16, \"bf16\", \"moments in bf16, no master\"))">];
}

def VerifyGrad : Pass<"verify-grad", "mlir::ModuleOp"> {
  let summary = "every trained parameter has exactly one gradient and update; buffers are updated once, after all reads";
}

//===----------------------------------------------------------------------===//
// bucketed
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// fused
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// remat
//===----------------------------------------------------------------------===//

//===----------------------------------------------------------------------===//
// planned
//===----------------------------------------------------------------------===//

#endif // COMPILER_PASSES_TD
