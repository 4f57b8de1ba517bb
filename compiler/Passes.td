// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pass of the compiler, in the order of the phases. A pass is implemented in the folder of its concern, in a file named after it.
#ifndef COMPILER_PASSES_TD
#define COMPILER_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// model
//===----------------------------------------------------------------------===//

def VerifyModel : Pass<"verify-model", "mlir::ModuleOp"> {
  let summary = "one model function of ids, labels and one segments value; only tokens are counted by dynamic extents";
}

//===----------------------------------------------------------------------===//
// raised
//===----------------------------------------------------------------------===//

def RaiseGatedDelta : Pass<"raise-gated-delta", "mlir::ModuleOp"> {
  let summary = "qt.scan of the gated delta rule becomes qt.gated_delta_rule";
  let description = [{
    Reads mathematics, no names: the scan's body is brought to a multilinear normal form. Scale, casts and repeated heads of the rows are absorbed.
    Another scan is an error that says what differs. What is replaced and its replacement are evaluated on random rows: a difference is an error.
  }];
}

def RaiseAttention : Pass<"raise-attention", "mlir::ModuleOp"> {
  let summary = "a causal softmax of a bilinear form, contracted with values, becomes qt.attention";
  let description = [{
    Scale, casts, transposes and repeated heads are absorbed. Another softmax is an error that says what differs. What is replaced and its
    replacement are evaluated on random rows: a difference is an error.
  }];
}

def VerifyRaised : Pass<"verify-raised", "mlir::ModuleOp"> {
  let summary = "no scan and no softmax is left";
}

//===----------------------------------------------------------------------===//
// formed
//===----------------------------------------------------------------------===//
//
// Each pass forms one compound, before autodiff. Where an op promises a compound and does not become one, a missed remark of category "form" at that
// op says why; what was formed is a passed remark that names the ops it was made of. They run on the module, since remarks of passes that run in parallel race.

def FormGatedDeltaInputs : Pass<"form-gated-delta-inputs", "mlir::ModuleOp"> {
  let summary = "convolution, silu, norms and gates of a delta rule become qt.gated_delta_inputs";
}

def FormGatedNorm : Pass<"form-gated-norm", "mlir::ModuleOp"> {
  let summary = "plain_rms_norm times silu becomes qt.gated_rms_norm";
}

def FormQkNormRope : Pass<"form-qk-norm-rope", "mlir::ModuleOp"> {
  let summary = "norm and rope of an attention's queries and keys become qt.qk_norm_rope";
}

def FormAttentionGate : Pass<"form-attention-gate", "mlir::ModuleOp"> {
  let summary = "attention times a sigmoid becomes attention with its gate";
}

def FormSwiglu : Pass<"form-swiglu", "mlir::ModuleOp"> {
  let summary = "silu(gate) * up becomes qt.swiglu";
}

def FormAddNorm : Pass<"form-add-norm", "mlir::ModuleOp"> {
  let summary = "add and the norm of its sum become qt.add_rms_norm";
}

def FormLinearCrossEntropy : Pass<"form-linear-cross-entropy", "mlir::ModuleOp"> {
  let summary = "linear and cross_entropy become qt.linear_cross_entropy of the trained rows";
}

def FormParameterPacks : Pass<"form-parameter-packs", "mlir::ModuleOp"> {
  let summary = "projections of one input become one qt.linear by a qt.parameter_pack";
  let description = [{
    Members share trainability, element type and width, and nothing else reads them. They are stacked in the order of their projections. The pack is named
    after the dotted prefix of its members.
  }];
}

def WarnLeftOver : Pass<"warn-left-over", "mlir::ModuleOp"> {
  let summary = "a warning for pointwise ops that no compound took";
  let description = [{
    Clusters compute such ops, which costs memory traffic that a compound would save: a warning says which ops, of which function, how many bytes they
    read and write if one cluster has them all, and in notes which compounds were missed there and why. Layers that have the same share a warning. Takes
    what was noted of missed compounds (`qt.missed`) off the ops.
  }];
}

def VerifyFormed : Pass<"verify-formed", "mlir::ModuleOp"> {
  let summary = "compounds, linear ops, views and pointwise ops alone are left";
  let description = [{
    Clusters compute pointwise ops and repeat operands for them, but sum no gradient of what was repeated: that may not depend on a trained parameter.
  }];
}

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

def SpecializeBuckets : Pass<"specialize-buckets", "mlir::ModuleOp"> {
  let summary = "entry functions of each bucket: every extent known";
  let description = [{
    @step becomes @step.8192x16x8192x4096 and so on for each bucket; the functions for any row stay, to make those of further buckets from, and later passes
    leave them alone.
  }];
  let options = [Option<"buckets", "buckets", "std::string", "", "TOKENS or TOKENSxDOCUMENTSxLONGESTxTRAINED, separated by commas">];
}

def VerifyBucketed : Pass<"verify-bucketed", "mlir::ModuleOp"> {
  let summary = "every bucket has its entry functions, of static shapes";
}

//===----------------------------------------------------------------------===//
// fused
//===----------------------------------------------------------------------===//

def FuseGradientSums : Pass<"fuse-gradient-sums", "mlir::ModuleOp"> {
  let summary = "sums of gradients go into the ops that compute a term of them";
  let description = [{
    `add(sum, dW)` becomes the operand `into` of the op that computes dW, and `add(d, dx)` of an rms_norm_grad's dx an add_rms_norm_grad: its kernel adds a
    cotangent that came by another way.
  }];
}

def ClusterPointwise : Pass<"cluster-pointwise", "mlir::ModuleOp"> {
  let summary = "what compounds leave of pointwise ops becomes clusters (qt.pointwise)";
  let description = [{
    A cluster has ops of one shape that can stand in one place of the program, at most as many as an expression may have. Operands that are repeated to
    that shape (`qt.broadcast`) are read as they are. What a cluster of the backward pass reads of the forward pass's pointwise ops it computes again,
    where it then reads no more. Sums of two tensors with no other pointwise op beside them stay: each is added in place (kernel `add`).
  }];
}

def VerifyFused : Pass<"verify-fused", "mlir::ModuleOp"> {
  let summary = "a kernel, a matrix product or a view for every op";
}

//===----------------------------------------------------------------------===//
// remat
//===----------------------------------------------------------------------===//

def TargetOption : Option<"targetKind", "target", "qt::Target", "qt::Target::Cpu", "what runs the programs",
  "llvm::cl::values(clEnumValN(qt::Target::Cpu, \"cpu\", \"processors\"), clEnumValN(qt::Target::Sm90a, \"sm_90a\", \"GPUs of compute capability 9.0\"))">;
def DisableKernelOption : Option<"disableKernel", "disable-kernel", "std::string", "\"\"", "a kernel that the target is to be taken not to have">;

def Remat : Pass<"remat", "mlir::ModuleOp"> {
  let summary = "backward passes compute activations again instead of keeping them";
  let description = [{
    Under a budget each entry function with a backward pass is searched for the ops whose second run frees the most bytes for a predicted second, until state,
    transient memory, batch and what the device takes beside them are within it. That holds for a run of one micro-batch a step; @accumulate keeps to the budget too where
    that can be, and else to the transient memory that @step may take.
  }];
  let options = [Option<"policy", "policy", "qt::RematPolicy", "qt::RematPolicy::None", "what is computed again",
    "llvm::cl::values(clEnumValN(qt::RematPolicy::None, \"none\", \"nothing\"), "
    "clEnumValN(qt::RematPolicy::MemoryBound, \"memory-bound\", \"outputs of norms, convolutions, gates and SwiGLU\"), "
    "clEnumValN(qt::RematPolicy::Budget, \"budget\", \"what `memory` needs\"))">,
    Option<"memory", "memory", "int64_t", "0", "of the policy `budget`: bytes of the device's memory">,
    TargetOption, DisableKernelOption];
}

def VerifyRemat : Pass<"verify-remat", "mlir::ModuleOp"> {
  let summary = "what is computed again waits for the backward pass";
}

//===----------------------------------------------------------------------===//
// planned
//===----------------------------------------------------------------------===//

def LowerToStep : Pass<"lower-to-step", "mlir::ModuleOp"> {
  let summary = "static entry functions become step programs";
  let description = [{
    Schedules each entry function, resolves views, packs what is alive into one arena, and writes the instructions. The table of what outlives a step comes from
    the module's parameters and states alone. An op that the target has no kernel for is an error; nothing falls back. Functions for any bucket
    (@apply among them) and symbols stay.
  }];
  let options = [
    TargetOption, DisableKernelOption];
  let dependentDialects = ["::step::StepDialect"];
}

def VerifyPlanned : Pass<"verify-planned", "mlir::ModuleOp"> {
  let summary = "the exit contract of `planned`, derived from the instructions alone";
  let description = [{
    No function with a bucket is left. Buffers that are alive at the same time are disjoint. Elements are written before they are read, once, and
    change later only through `inout`; no operand that an instruction writes shares elements with another. A state is read at its value at entry, or, where
    the catalog says so, after its update. Arguments are never written, results always.
  }];
}

#endif // COMPILER_PASSES_TD
