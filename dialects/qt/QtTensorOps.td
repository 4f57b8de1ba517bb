// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mathematics as the model's author writes it. What compounds leave of these has no kernel of its own; but a sum has,
// since autodiff makes some.
#ifndef QT_TENSOR_OPS_TD
#define QT_TENSOR_OPS_TD

include "dialects/qt/QtBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Qt_UnaryOp<string mnemonic, string formula> : Qt_Op<mnemonic, [Pure, SameOperandsAndResultType, Qt_Pointwise, Qt_InModel, Qt_Differentiable]> {
  let summary = "elementwise: " # formula;
  let arguments = (ins Qt_Tensor:$x);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def Qt_ExpOp : Qt_UnaryOp<"exp", "e^x">;
def Qt_NegOp : Qt_UnaryOp<"neg", "-x">;
def Qt_SigmoidOp : Qt_UnaryOp<"sigmoid", "1 / (1 + e^-x)">;
def Qt_SiluOp : Qt_UnaryOp<"silu", "x / (1 + e^-x)">;
def Qt_SoftplusOp : Qt_UnaryOp<"softplus", "log(1 + e^x)">;

class Qt_BinaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : Qt_Op<mnemonic, !listconcat([Pure, AllTypesMatch<["lhs", "result"]>, Qt_Pointwise, Qt_InModel, Qt_Differentiable], traits)> {
  let summary = "elementwise: " # formula;
  let description = "`rhs` has the shape of `lhs`, or that of its last dimensions: then it is repeated along the others.";
  let arguments = (ins Qt_Tensor:$lhs, Qt_Tensor:$rhs);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasVerifier = 1;
}
def Qt_AddOp : Qt_BinaryOp<"add", "lhs + rhs", [KernelBackedOpInterface, CostOpInterface]> {
  // Of operands of one type: see checkKernels.
  let extraClassDeclaration = [{
    ::qrt::Kernel getKernel() { return ::qrt::Kernel::Add; }
    void getKernelParams(::llvm::SmallVectorImpl<::qrt::ParamValue> &params) {}
    double getFlops() { return ::qt::kernelFlops(getOperation()); }
    std::optional<unsigned> getTiedOperand(unsigned result) { return 0; }
  }];
}
def Qt_SubOp : Qt_BinaryOp<"sub", "lhs - rhs">;
def Qt_MulOp : Qt_BinaryOp<"mul", "lhs * rhs">;

def Qt_ScaleOp : Qt_Op<"scale", [Pure, Qt_Pointwise, Qt_InModel, AllTypesMatch<["x", "result"]>, Qt_Differentiable]> {
  let summary = "x times a constant";
  let arguments = (ins Qt_Tensor:$x, F64Attr:$factor);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Qt_CastOp : Qt_Op<"cast", [Pure, Qt_Pointwise, Qt_InModel, Qt_Differentiable]> {
  let summary = "the same numbers, rounded to another element type";
  let arguments = (ins Qt_Tensor:$x);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Qt_ZerosOp : Qt_Op<"zeros", [Pure, Qt_InModel]> {
  let summary = "zeros";
  let arguments = (ins);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Qt_ReshapeOp : Qt_Op<"reshape", [Pure, ViewOpInterface, Qt_InModel, Qt_Differentiable]> {
  let summary = "the same elements in row-major order under another shape";
  let description = "The dynamic dimension, if there is one, is the first of both shapes.";
  let arguments = (ins Qt_Tensor:$x);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Qt_BroadcastOp : Qt_Op<"broadcast", [Pure, Qt_InModel, Qt_Differentiable]> {
  let summary = "repeats x: dimension i of x becomes dimension `dims[i]` of the result";
  let description = "`dims` ascend. A dimension of x keeps its size, or has size 1 and is repeated. The result's other dimensions repeat x.";
  let arguments = (ins Qt_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$x `dims` $dims attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Qt_TransposeOp : Qt_Op<"transpose", [Pure, Qt_InModel, Qt_Differentiable]> {
  let summary = "dimension i of the result is dimension `permutation[i]` of x";
  let arguments = (ins Qt_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Qt_ReduceSumOp : Qt_Op<"reduce_sum", [Pure, Qt_InModel, Qt_Differentiable]> {
  let summary = "the sum over the dimensions `dims`, which the result lacks";
  let arguments = (ins Qt_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$x `dims` $dims attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Qt_SplitOp : Qt_Op<"split", [Pure, ViewOpInterface, Qt_InModel, Qt_Differentiable]> {
  let summary = "cuts x along dimension `dim`: the results lie one behind the other";
  let description = "A view: no element moves.";
  let arguments = (ins Qt_Tensor:$x, I64Attr:$dim);
  let results = (outs Variadic<Qt_Tensor>:$parts);
  let assemblyFormat = "$x `dim` $dim attr-dict `:` type($x) `->` type($parts)";
  let hasVerifier = 1;
}

def Qt_JoinOp : Qt_Op<"join", [Pure, ViewOpInterface, Qt_InModel, Qt_Differentiable]> {
  let summary = "puts the parts one behind the other along dimension `dim`";
  let description = "A view where the plan can have each part written in its place at once.";
  let arguments = (ins Variadic<Qt_Tensor>:$parts, I64Attr:$dim);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$parts `dim` $dim attr-dict `:` type($parts) `->` type($result)";
  let hasVerifier = 1;
}

def Qt_ContractOp : Qt_Op<"contract", [Pure, Qt_InModel, Qt_Differentiable]> {
  let summary = "sum of products over the contracted dimensions, for each index of the batch dimensions";
  let description = [{
    The result's dimensions are the batch dimensions, the other dimensions of `lhs`, then the other dimensions of `rhs`, each in order. Scores of
    attention, `q` and `k` being tensor<?x4x32xf32> (tokens, heads, width):

    ```mlir
    %s = qt.contract %q, %k batch [1] x [1] over [2] x [2] : tensor<?x4x32xf32>, tensor<?x4x32xf32> -> tensor<4x?x?xf32>
    ```
  }];
  let arguments = (ins Qt_Tensor:$lhs, Qt_Tensor:$rhs, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contracted, DenseI64ArrayAttr:$rhs_contracted);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` $lhs_batch `x` $rhs_batch `over` $lhs_contracted `x` $rhs_contracted attr-dict `:` type($lhs) `,` type($rhs)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Qt_CausalMaskOp : Qt_Op<"causal_mask", [Pure, Qt_InModel, AllTypesMatch<["scores", "result"]>, Qt_Differentiable]> {
  let summary = "minus infinity where the key comes after the query or belongs to another document";
  let description = "The last two dimensions of `scores` are query tokens and key tokens. A query outside every document sees no key.";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Tensor:$scores);
  let results = (outs Qt_Tensor:$result);
  let assemblyFormat = "$docs `,` $scores attr-dict `:` qualified(type($docs)) `,` type($scores)";
  let hasVerifier = 1;
}

def Qt_SoftmaxOp : Qt_Op<"softmax", [Pure, Qt_InModel, AllTypesMatch<["x", "result"]>, Qt_Differentiable]> {
  let summary = "softmax over the last dimension; zeros where every entry is minus infinity";
  let arguments = (ins Qt_Rows:$x);
  let results = (outs Qt_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Qt_ScanOp : Qt_Op<"scan", [SingleBlock, Qt_InModel, RecursiveMemoryEffects]> {
  let summary = "a recurrence over the tokens of each document, its state zero before the first";
  let description = [{
    How the model's author writes a recurrence. The body sees one token: the state before it, then a slice of each row operand. It yields the
    state after it, then a slice of each result. It is raised to a compound op or rejected; it is never differentiated. Rows outside every
    document are zeros.

    ```mlir
    %o = qt.scan %docs, %q, %k, %v state tensor<6x16x16xf32>
        : !qt.segments, tensor<?x6x16xf32>, tensor<?x6x16xf32>, tensor<?x6x16xf32> -> tensor<?x6x16xf32> {
    ^bb0(%s: tensor<6x16x16xf32>, %q_t: tensor<6x16xf32>, %k_t: tensor<6x16xf32>, %v_t: tensor<6x16xf32>):
      ...
      qt.yield %next, %o_t : tensor<6x16x16xf32>, tensor<6x16xf32>
    }
    ```
  }];
  let arguments = (ins Qt_SegmentsType:$docs, Variadic<Qt_Rows>:$rows, TypeAttrOf<Qt_Tensor>:$state);
  let results = (outs Variadic<Qt_Rows>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $docs `,` $rows `state` $state attr-dict `:` qualified(type($docs)) `,` type($rows) `->` type($outputs) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Qt_YieldOp : Qt_Op<"yield", [Pure, Qt_InModel, Terminator, ParentOneOf<["ScanOp", "PointwiseOp"]>]> {
  let summary = "ends a body: of a scan with the next state, then a slice of each result; of a cluster with an element of each result";
  let arguments = (ins Variadic<Qt_Tensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let extraClassDeclaration = [{
    // Of a scan.
    ::mlir::Value getState() { return getValues().front(); }
    ::mlir::OperandRange getOutputs() { return getValues().drop_front(); }
  }];
}

def Qt_BarrierOp : Qt_Op<"barrier", [Pure, ViewOpInterface, AllTypesMatch<["x", "result"]>]> {
  let summary = "x, but not before `after` is known";
  let description = "Ties a recomputation to the backward pass, so that it is not merged with the first computation. A view.";
  let arguments = (ins Qt_AnyTensor:$x, Qt_AnyTensor:$after);
  let results = (outs Qt_AnyTensor:$result);
  let assemblyFormat = "$x `after` $after attr-dict `:` type($x) `,` type($after)";
  let extraClassDeclaration = "::mlir::OperandRange getViewed() { return (*this)->getOperands().take_front(1); }";
}

def Qt_WatchOp : Qt_Op<"watch", [MemoryEffects<[MemWrite]>, Qt_InModel]> {
  let summary = "names a value for the program's debug table";
  let description = [{
    No instruction comes of it: the debug table says which slice holds the value after which instruction, and the executor copies it out then if asked.
    `hidden` values are named after their place in the model; `gradient` values after their parameter or pack.
  }];
  let arguments = (ins Qt_Tensor:$x, StrAttr:$name, UnitAttr:$gradient);
  let assemblyFormat = "(`gradient` $gradient^)? $x `as` $name attr-dict `:` type($x)";
}

#endif // QT_TENSOR_OPS_TD
