// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters and optimizer state are symbols of the module: buffers that outlive a step. Functions read their values at entry and update each at
// most once.
#ifndef QT_STATE_OPS_TD
#define QT_STATE_OPS_TD

include "dialects/qt/QtBase.td"

def Qt_ParameterOp : Qt_Op<"parameter", [Symbol, Qt_InModel]> {
  let summary = "a weight of the model";
  let description = [{
    ```mlir
    qt.parameter @layers.0.mlp.up_proj.weight : tensor<160x64xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.mlp.up_proj.weight"]
    ```
    `names` are the names a checkpoint may hold it under, the preferred one (for export from scratch) first. `tied` are
    names under which a checkpoint may hold the same values once more. A `frozen` parameter is not trained. Weight decay
    applies to parameters of two or more dimensions.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Qt_Tensor>:$type, Qt_InitAttr:$init, StrArrayAttr:$names, UnitAttr:$frozen,
                       OptionalAttr<StrArrayAttr>:$tied);
  let assemblyFormat = "$sym_name `:` $type (`frozen` $frozen^)? `init` $init `names` $names (`tied` $tied^)? attr-dict";
  let hasVerifier = 1;
}

def Qt_ParameterPackOp : Qt_Op<"parameter_pack", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "parameters that lie one behind the other, read and updated as one";
  let description = [{
    The members are stacked along their first dimension, in order; they share the other dimensions, the element type and whether they are trained.
    Projections of one input become one matrix product. Checkpoints, shards and tests see the members.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefArrayAttr:$members, TypeAttrOf<Qt_Tensor>:$type);
  let assemblyFormat = "$sym_name $members `:` $type attr-dict";
}

def Qt_StateOp : Qt_Op<"state", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a buffer of the optimizer: `qt.state @x.exp_avg exp_avg of @x : tensor<...>`";
  let description = "It belongs to a parameter or a pack; the counters (i64 [2]: steps taken, steps skipped) belong to none.";
  let arguments = (ins SymbolNameAttr:$sym_name, Qt_StateKindAttr:$kind, OptionalAttr<FlatSymbolRefAttr>:$parameter, TypeAttrOf<Qt_AnyTensor>:$type);
  let assemblyFormat = "$sym_name $kind (`of` $parameter^)? `:` $type attr-dict";
}

def Qt_ReadOp : Qt_Op<"read", [Pure, Qt_InModel, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value that a parameter, pack or state has when the function is entered";
  let arguments = (ins FlatSymbolRefAttr:$symbol);
  let results = (outs Qt_AnyTensor:$value);
  let assemblyFormat = "$symbol attr-dict `:` type($value)";
}

def Qt_UpdateOp : Qt_Op<"update", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value that a parameter, pack or state has when the function returns";
  let arguments = (ins FlatSymbolRefAttr:$symbol, Qt_AnyTensor:$value);
  let assemblyFormat = "$symbol `,` $value attr-dict `:` type($value)";
}

def Qt_GlobalNormOp : Qt_Op<"global_norm", [Pure, KernelBackedOpInterface, CostOpInterface]> {
  let summary = "the 2-norm of all gradients together, added up in the order given";
  let arguments = (ins Variadic<Qt_Tensor>:$gradients);
  let results = (outs Qt_Scalar:$norm);
  let assemblyFormat = "$gradients attr-dict `:` `(` type(operands) `)` `->` type($norm)";
  let extraClassDeclaration = [{
    ::qrt::Kernel getKernel() { return ::qrt::Kernel::GlobalNorm; }
    void getKernelParams(::llvm::SmallVectorImpl<::qrt::ParamValue> &params) {}
    double getFlops() { return 0; }
  }];
}

def Qt_OptimizerStepOp : Qt_Op<"optimizer_step", [Pure, KernelBackedOpInterface, CostOpInterface]> {
  let summary = "counts a step taken, or skipped where the norm is not finite";
  let arguments = (ins Qt_Scalar:$norm, Qt_AnyTensor:$counters);
  let results = (outs Qt_AnyTensor:$updated);
  let assemblyFormat = "$norm `,` $counters attr-dict `:` `(` type(operands) `)` `->` type($updated)";
  let extraClassDeclaration = [{
    ::qrt::Kernel getKernel() { return ::qrt::Kernel::OptimizerStep; }
    void getKernelParams(::llvm::SmallVectorImpl<::qrt::ParamValue> &params) {}
    double getFlops() { return 0; }
    std::optional<unsigned> getTiedOperand(unsigned result) { return 1; }
  }];
  let hasVerifier = 1;
}

def Qt_AdamWOp : Qt_Op<"adamw", [Pure, KernelBackedOpInterface, CostOpInterface]> {
  let summary = "one AdamW update of a parameter or pack: new weight, moments and master";
  let description = [{
    Nothing changes where the norm is not finite. `members` lists (key, elements) of the members of a pack: the random numbers of stochastic rounding depend on
    the member's own name and element alone.
  }];
  let arguments = (ins Qt_Tensor:$gradient, Qt_Scalar:$norm, Qt_AnyTensor:$counters, Qt_Tensor:$hyper, Qt_AnyTensor:$seed, Qt_Tensor:$weight,
                       Qt_Tensor:$exp_avg, Qt_Tensor:$exp_avg_sq, Optional<Qt_Tensor>:$master, BoolAttr:$decay, DenseI64ArrayAttr:$members);
  let results = (outs Qt_Tensor:$new_weight, Qt_Tensor:$new_exp_avg, Qt_Tensor:$new_exp_avg_sq, Optional<Qt_Tensor>:$new_master);
  let assemblyFormat = [{
    $gradient `norm` $norm `counters` $counters `hyper` $hyper `seed` $seed `weight` $weight `moments` $exp_avg `,` $exp_avg_sq
    (`master` $master^)? `decay` $decay `members` $members attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::qrt::Kernel getKernel() { return ::qrt::Kernel::AdamW; }
    double getFlops() { return ::qt::kernelFlops(getOperation()); }
    void getKernelParams(::llvm::SmallVectorImpl<::qrt::ParamValue> &params) {
      ::qt::appendParam(params, static_cast<int64_t>(getDecay()));
      for (int64_t value : getMembers())
        ::qt::appendParam(params, value);
    }
    std::optional<unsigned> getTiedOperand(unsigned result) { return 5 + result; }
  }];
  let hasVerifier = 1;
}

#endif // QT_STATE_OPS_TD
