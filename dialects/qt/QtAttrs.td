// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef QT_ATTRS_TD
#define QT_ATTRS_TD

include "dialects/qt/QtDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Qt_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::qt";
  let genSpecializedAttr = 0;
}
class Qt_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<Qt_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Qt_EntryKind : Qt_Enum<"EntryKind", "what a function of the module is for", [
  I32EnumAttrCase<"Model", 0, "model">,           // ids, labels, segments -> summed loss
  I32EnumAttrCase<"Step", 1, "step">,             // one micro-batch: forward, backward, update
  I32EnumAttrCase<"Accumulate", 2, "accumulate">, // one of several micro-batches: gradients are added up
  I32EnumAttrCase<"Apply", 3, "apply">,           // update from the accumulated gradients, which become zero
  I32EnumAttrCase<"Eval", 4, "eval">]>;           // forward only: loss of each trained row
def Qt_EntryKindAttr : Qt_EnumAttr<Qt_EntryKind, "entry">;

def Qt_ArgumentRole : Qt_Enum<"ArgumentRole", "what the host fills an argument of an entry function with", [
  I32EnumAttrCase<"Ids", 0, "ids">,                        // i32 [T]
  I32EnumAttrCase<"Labels", 1, "labels">,                  // i32 [T], shifted inside each document; -100 = not trained
  I32EnumAttrCase<"EmbeddingOrder", 2, "embedding_order">, // i32 [T], positions sorted by (id, position); -1 = none
  I32EnumAttrCase<"Segments", 3, "segments">,              // the segment table
  I32EnumAttrCase<"InverseTokens", 4, "inverse_tokens">,   // f32, 1/N, N the trained tokens of the whole step
  I32EnumAttrCase<"Hyper", 5, "hyper">,                    // f32 [8], see runtime/kernels/Kernel.h
  I32EnumAttrCase<"Seed", 6, "seed">]>;                    // i64, of stochastic rounding
def Qt_ArgumentRoleAttr : Qt_EnumAttr<Qt_ArgumentRole, "argument">;

def Qt_ResultRole : Qt_Enum<"ResultRole", "what a result of an entry function is", [
  I32EnumAttrCase<"Loss", 0, "loss">,         // f32, summed over the trained tokens of the micro-batch
  I32EnumAttrCase<"RowLoss", 1, "row_loss">,  // f32 [R], of each trained row
  I32EnumAttrCase<"GradNorm", 2, "grad_norm">]>; // f32, of the gradients of the whole step
def Qt_ResultRoleAttr : Qt_EnumAttr<Qt_ResultRole, "result">;

def Qt_InitKind : Qt_Enum<"InitKind", "how a parameter begins when it is not loaded", [
  I32EnumAttrCase<"Zeros", 0, "zeros">,
  I32EnumAttrCase<"Ones", 1, "ones">,
  I32EnumAttrCase<"Normal", 2, "normal">,          // mean a, standard deviation b
  I32EnumAttrCase<"LogUniform", 3, "log_uniform">]>; // log of a uniform number in [a, b)

def Qt_InitAttr : AttrDef<Qt_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "the initial value of a parameter: `#qt.init<normal, 0.0, 0.02>`";
  let parameters = (ins EnumParameter<Qt_InitKind>:$kind, APFloatParameter<"mean, or lower bound">:$a,
                        APFloatParameter<"standard deviation, or upper bound">:$b);
  let builders = [AttrBuilder<(ins "InitKind":$kind, CArg<"double", "0.0">:$a, CArg<"double", "0.0">:$b), [{
    return $_get($_ctxt, kind, ::llvm::APFloat(a), ::llvm::APFloat(b));
  }]>];
  let hasCustomAssemblyFormat = 1;
}

def Qt_StateKind : Qt_Enum<"StateKind", "what a state buffer holds for its parameter", [
  I32EnumAttrCase<"Master", 0, "master">,
  I32EnumAttrCase<"ExpAvg", 1, "exp_avg">,
  I32EnumAttrCase<"ExpAvgSq", 2, "exp_avg_sq">,
  I32EnumAttrCase<"Gradient", 3, "gradient">,   // accumulated over micro-batches, f32
  I32EnumAttrCase<"Counters", 4, "counters">]>; // i64 [2]: optimizer steps taken and skipped; belongs to no parameter
def Qt_StateKindAttr : EnumAttr<Qt_Dialect, Qt_StateKind, "state_kind">;

//===----------------------------------------------------------------------===//
// What the pipeline records on the module: how far it has come, and the choices that are behind it.
//===----------------------------------------------------------------------===//

def Qt_Phase : Qt_Enum<"Phase", "how far a module is compiled", [
  I32EnumAttrCase<"Model", 0, "model">,       // the DSL, or parsing
  I32EnumAttrCase<"Raised", 1, "raised">,     // subgraphs are attention and the gated delta rule
  I32EnumAttrCase<"Formed", 2, "formed">,     // differentiable compounds, parameter packs
  I32EnumAttrCase<"Grad", 3, "grad">,         // reverse mode, entry functions
  I32EnumAttrCase<"Bucketed", 4, "bucketed">, // one set of entry functions a bucket, all shapes static
  I32EnumAttrCase<"Sharded", 5, "sharded">,   // placements and collectives: the identity on one rank
  I32EnumAttrCase<"Fused", 6, "fused">,       // gradient sums in place; a kernel, product or view for each op
  I32EnumAttrCase<"Remat", 7, "remat">,       // what is computed again
  I32EnumAttrCase<"Planned", 8, "planned">,   // instructions over slices
  I32EnumAttrCase<"Program", 9, "program">]>; // the artifact
def Qt_PhaseAttr : Qt_EnumAttr<Qt_Phase, "phase">;

def Qt_StateFormat : Qt_Enum<"StateFormat", "what the optimizer keeps of a bf16 weight", [
  I32EnumAttrCase<"F32", 0, "f32">,    // master and moments in f32
  I32EnumAttrCase<"BF16", 1, "bf16">]>; // moments in bf16, no master
def Qt_StateFormatAttr : Qt_EnumAttr<Qt_StateFormat, "states">;

def Qt_Target : Qt_Enum<"Target", "what runs the programs", [
  I32EnumAttrCase<"Cpu", 0, "cpu">,
  I32EnumAttrCase<"Sm90a", 1, "sm_90a">]>; // NVIDIA GPUs of compute capability 9.0
def Qt_TargetAttr : Qt_EnumAttr<Qt_Target, "target">;

def Qt_RematPolicy : Qt_Enum<"RematPolicy", "what the backward pass computes again", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"MemoryBound", 1, "memory-bound">, // outputs of norms, convolutions, gates and SwiGLU
  I32EnumAttrCase<"Budget", 2, "budget">]>;          // what a memory budget needs, at the least predicted time
def Qt_RematPolicyAttr : EnumAttr<Qt_Dialect, Qt_RematPolicy, "remat"> {
  // Printed in quotes where the name is no keyword: #qt.remat<"memory-bound">.
  let assemblyFormat = ?;
  let hasCustomAssemblyFormat = 1;
}

#endif // QT_ATTRS_TD
