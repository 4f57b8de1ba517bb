// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adjoints of the model and compound ops. `into` holds what the weight gradients are added to: nothing, or one value each.
#ifndef QT_GRAD_OPS_TD
#define QT_GRAD_OPS_TD

include "dialects/qt/QtBase.td"

def Qt_EmbeddingGradOp : Qt_KernelOp<"embedding_grad", "EmbeddingGrad", [], [], 1> {
  let summary = "adds each token's cotangent to the row of its id, in ascending order of tokens";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Ids:$ids, Qt_Ids:$order, Qt_Rows:$dout, Variadic<Qt_Tensor>:$into);
  let results = (outs Qt_Tensor:$dweight);
  let assemblyFormat = [{
    $docs `,` $ids `,` $order `,` $dout (`into` $into^)? attr-dict `:` `(` type(operands) `)` `->` type($dweight)
  }];
}

def Qt_LinearInputGradOp : Qt_Op<"linear_input_grad", [Pure, Qt_MatrixProduct, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "dx = dy W: dy [rows, out], W [out, in]";
  let arguments = (ins Qt_Rows:$dy, Qt_Tensor:$weight);
  let results = (outs Qt_Rows:$dx);
  let assemblyFormat = "$dy `,` $weight attr-dict `:` type($dy) `,` type($weight) `->` type($dx)";
  let hasVerifier = 1;
}

def Qt_LinearWeightGradOp : Qt_Op<"linear_weight_grad", [Pure, Qt_MatrixProduct, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "dW = dy^T x: dy [rows, out], x [rows, in]";
  let arguments = (ins Qt_Rows:$dy, Qt_Rows:$x, Optional<Qt_Tensor>:$into);
  let results = (outs Qt_Tensor:$dweight);
  let assemblyFormat = [{
    $dy `,` $x (`into` $into^)? attr-dict `:` `(` type(operands) `)` `->` type($dweight)
  }];
  let hasVerifier = 1;
}

def Qt_RmsNormGradOp : Qt_KernelOp<"rms_norm_grad", "RmsNormGrad", ["getEps()"], [AttrSizedOperandSegments], 1> {
  let summary = "adjoint of qt.rms_norm";
  let arguments = (ins Qt_Rows:$x, Qt_Tensor:$weight, Optional<Qt_Tensor>:$rstd, Qt_Rows:$dy, Variadic<Qt_Tensor>:$into, F64Attr:$eps);
  let results = (outs Qt_Rows:$dx, Qt_Tensor:$dweight);
  let assemblyFormat = [{
    $x `,` $weight (`rstd` $rstd^)? `dy` $dy (`into` $into^)? `eps` $eps attr-dict `:` functional-type(operands, results)
  }];
}

def Qt_AddRmsNormGradOp : Qt_KernelOp<"add_rms_norm_grad", "AddRmsNormGrad", ["getEps()"], [AttrSizedOperandSegments], 1> {
  let summary = "adjoint of qt.add_rms_norm: dx is the cotangent of x and of delta alike";
  let arguments = (ins Qt_Rows:$sum, Qt_Tensor:$weight, Optional<Qt_Tensor>:$rstd, Optional<Qt_Rows>:$dsum, Qt_Rows:$dy,
                       Variadic<Qt_Tensor>:$into, F64Attr:$eps);
  let results = (outs Qt_Rows:$dx, Qt_Tensor:$dweight);
  let assemblyFormat = [{
    $sum `,` $weight (`rstd` $rstd^)? (`dsum` $dsum^)? `dy` $dy (`into` $into^)? `eps` $eps attr-dict `:`
    functional-type(operands, results)
  }];
}

def Qt_GatedDeltaInputsGradOp : Qt_KernelOp<"gated_delta_inputs_grad", "GatedDeltaInputsGrad", ["getEps()"], [], 1> {
  let summary = "adjoint of qt.gated_delta_inputs";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$qkv, Qt_Rows:$b, Qt_Rows:$a, Qt_Tensor:$conv_weight, Qt_Tensor:$a_log,
                       Qt_Tensor:$dt_bias, Qt_Rows:$dq, Qt_Rows:$dk, Qt_Rows:$dv, Qt_Rows:$dg, Qt_Rows:$dbeta, Variadic<Qt_Tensor>:$into, F64Attr:$eps);
  let results = (outs Qt_Rows:$dqkv, Qt_Rows:$db, Qt_Rows:$da, Qt_Tensor:$dconv_weight, Qt_Tensor:$da_log, Qt_Tensor:$ddt_bias);
  let assemblyFormat = [{
    $docs `,` $qkv `,` $b `,` $a `conv` $conv_weight `,` $a_log `,` $dt_bias `grads` $dq `,` $dk `,` $dv `,` $dg `,` $dbeta (`into` $into^)?
    `eps` $eps attr-dict `:` functional-type(operands, results)
  }];
}

def Qt_GatedDeltaRuleGradOp : Qt_KernelOp<"gated_delta_rule_grad", "GatedDeltaRuleGrad", ["getScale()"]> {
  let summary = "adjoint of qt.gated_delta_rule";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$q, Qt_Rows:$k, Qt_Rows:$v, Qt_Rows:$g, Qt_Rows:$beta, Optional<Qt_Tensor>:$inverse,
                       Qt_Rows:$dout, F64Attr:$scale);
  let results = (outs Qt_Rows:$dq, Qt_Rows:$dk, Qt_Rows:$dv, Qt_Rows:$dg, Qt_Rows:$dbeta);
  let assemblyFormat = [{
    $docs `,` $q `,` $k `,` $v `,` $g `,` $beta (`inverse` $inverse^)? `dout` $dout `scale` $scale attr-dict `:`
    functional-type(operands, results)
  }];
}

def Qt_GatedRmsNormGradOp : Qt_KernelOp<"gated_rms_norm_grad", "GatedRmsNormGrad", ["getEps()"], [AttrSizedOperandSegments], 1> {
  let summary = "adjoint of qt.gated_rms_norm";
  let arguments = (ins Qt_Rows:$x, Qt_Rows:$z, Qt_Tensor:$weight, Optional<Qt_Tensor>:$rstd, Qt_Rows:$dy, Variadic<Qt_Tensor>:$into,
                       F64Attr:$eps);
  let results = (outs Qt_Rows:$dx, Qt_Rows:$dz, Qt_Tensor:$dweight);
  let assemblyFormat = [{
    $x `,` $z `,` $weight (`rstd` $rstd^)? `dy` $dy (`into` $into^)? `eps` $eps attr-dict `:` functional-type(operands, results)
  }];
}

def Qt_QkNormRopeGradOp : Qt_KernelOp<"qk_norm_rope_grad", "QkNormRopeGrad", ["getEps()", "getTheta()", "getRotaryDims()"],
    [AttrSizedOperandSegments], 1> {
  let summary = "adjoint of qt.qk_norm_rope";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$q_in, Qt_Rows:$k_in, Qt_Tensor:$q_weight, Qt_Tensor:$k_weight,
                       Optional<Qt_Tensor>:$q_rstd, Optional<Qt_Tensor>:$k_rstd, Qt_Rows:$dq, Qt_Rows:$dk, Variadic<Qt_Tensor>:$into,
                       F64Attr:$eps, F64Attr:$theta, I64Attr:$rotary_dims);
  let results = (outs Qt_Rows:$dq_in, Qt_Rows:$dk_in, Qt_Tensor:$dq_weight, Qt_Tensor:$dk_weight);
  let assemblyFormat = [{
    $docs `,` $q_in `,` $k_in `,` $q_weight `,` $k_weight (`q_rstd` $q_rstd^)? (`k_rstd` $k_rstd^)? `grads` $dq `,` $dk (`into` $into^)?
    `eps` $eps `theta` $theta `dims` $rotary_dims attr-dict `:` functional-type(operands, results)
  }];
}

def Qt_AttentionGradOp : Qt_KernelOp<"attention_grad", "AttentionGrad", ["getScale()"], [AttrSizedOperandSegments]> {
  let summary = "adjoint of qt.attention; dgate where there is a gate";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$q, Qt_Rows:$k, Qt_Rows:$v, Optional<Qt_Rows>:$gate, Optional<Qt_Tensor>:$lse,
                       Optional<Qt_Rows>:$o, Qt_Rows:$dy, F64Attr:$scale);
  let results = (outs Qt_Rows:$dq, Qt_Rows:$dk, Qt_Rows:$dv, Optional<Qt_Rows>:$dgate);
  let assemblyFormat = [{
    $docs `,` $q `,` $k `,` $v (`gate` $gate^)? (`lse` $lse^)? (`o` $o^)? `dy` $dy `scale` $scale attr-dict `:`
    functional-type(operands, results)
  }];
}

def Qt_SwigluGradOp : Qt_KernelOp<"swiglu_grad", "SwigluGrad"> {
  let summary = "adjoint of qt.swiglu";
  let arguments = (ins Qt_Rows:$gate, Qt_Rows:$up, Qt_Rows:$dy);
  let results = (outs Qt_Rows:$dgate, Qt_Rows:$dup);
  let assemblyFormat = "$gate `,` $up `dy` $dy attr-dict `:` functional-type(operands, results)";
}

def Qt_ScatterRowsOp : Qt_KernelOp<"scatter_rows", "ScatterRows"> {
  let summary = "adjoint of qt.gather_rows: each trained row in its token's place, zeros elsewhere";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$dout);
  let results = (outs Qt_Rows:$dx);
  let assemblyFormat = "$docs `,` $dout attr-dict `:` functional-type(operands, results)";
}

def Qt_LinearCrossEntropyGradOp : Qt_KernelOp<"linear_cross_entropy_grad", "LinearCrossEntropyGrad", [], [], 1> {
  let summary = "the summed cross-entropy of x W^T, and dloss times its gradients in x and W";
  let description = "`dweight` is absent where the head is frozen.";
  let arguments = (ins Qt_Rows:$x, Qt_Tensor:$weight, Qt_Ids:$labels, Qt_Scalar:$dloss, Variadic<Qt_Tensor>:$into);
  let results = (outs Qt_Scalar:$loss, Qt_Rows:$dx, Optional<Qt_Tensor>:$dweight);
  let assemblyFormat = [{
    $x `,` $weight `,` $labels `dloss` $dloss (`into` $into^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // QT_GRAD_OPS_TD
