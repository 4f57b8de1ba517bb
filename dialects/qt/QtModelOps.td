// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named concepts of the field: never decomposed, so never to be found again.
#ifndef QT_MODEL_OPS_TD
#define QT_MODEL_OPS_TD

include "dialects/qt/QtBase.td"

def Qt_EmbeddingOp : Qt_KernelOp<"embedding", "Embedding", [], [Qt_InModel, Qt_Differentiable]> {
  let summary = "row ids[t] of the table for each token; zeros outside every document";
  let description = [{
    Its adjoint needs the tokens sorted by id: autodiff builds it with the function's argument of the role `embedding_order`.
  }];
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Ids:$ids, Qt_Tensor:$weight);
  let results = (outs Qt_Rows:$out);
  let assemblyFormat = "$docs `,` $ids `,` $weight attr-dict `:` `(` type(operands) `)` `->` type($out)";
}

def Qt_LinearOp : Qt_Op<"linear", [Pure, Qt_MatrixProduct, Qt_InModel, Qt_Differentiable, DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "x W^T: x [rows, in], W [out, in]; products in the element type, sums in f32";
  let arguments = (ins Qt_Rows:$x, Qt_Tensor:$weight);
  let results = (outs Qt_Rows:$y);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight) `->` type($y)";
  let hasVerifier = 1;
}

def Qt_RmsNormOp : Qt_KernelOp<"rms_norm", "RmsNorm", ["getEps()"], [Qt_InModel, Qt_Differentiable, Qt_HasResiduals]> {
  let summary = "x * rsqrt(mean(x^2) + eps) * (1 + weight) over the last dimension";
  let arguments = (ins Qt_Rows:$x, Qt_Tensor:$weight, F64Attr:$eps);
  let results = (outs Qt_Rows:$y, Optional<Qt_Tensor>:$rstd);
  let assemblyFormat = [{
    $x `,` $weight `eps` $eps attr-dict `:` `(` type(operands) `)` `->` type($y) (`rstd` type($rstd)^)?
  }];
}

def Qt_PlainRmsNormOp : Qt_Op<"plain_rms_norm", [Pure, Qt_InModel, Qt_Differentiable]> {
  let summary = "weight * (x * rsqrt(mean(x^2) + eps)) over the last dimension: the norm of the gated delta net";
  let arguments = (ins Qt_Rows:$x, Qt_Tensor:$weight, F64Attr:$eps);
  let results = (outs Qt_Rows:$y);
  let assemblyFormat = "$x `,` $weight `eps` $eps attr-dict `:` type($x) `,` type($weight) `->` type($y)";
  let hasVerifier = 1;
}

def Qt_L2NormOp : Qt_Op<"l2_norm", [Pure, Qt_InModel, Qt_Differentiable]> {
  let summary = "x * rsqrt(sum(x^2) + eps) over the last dimension";
  let arguments = (ins Qt_Rows:$x, F64Attr:$eps);
  let results = (outs Qt_Rows:$y);
  let assemblyFormat = "$x `eps` $eps attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
}

def Qt_RopeOp : Qt_Op<"rope", [Pure, Qt_InModel, AllTypesMatch<["x", "y"]>, Qt_Differentiable]> {
  let summary = "rotary position embedding of x [tokens, heads, width], positions from the start of each document";
  let description = [{
    Rotates the pairs (i, i + rotary_dims/2), i < rotary_dims/2, by position * theta^(-2i/rotary_dims); the other dimensions pass. Zeros outside every
    document.
  }];
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$x, F64Attr:$theta, I64Attr:$rotary_dims);
  let results = (outs Qt_Rows:$y);
  let assemblyFormat = "$docs `,` $x `theta` $theta `dims` $rotary_dims attr-dict `:` qualified(type($docs)) `,` type($x)";
  let hasVerifier = 1;
}

def Qt_CausalConvOp : Qt_Op<"causal_conv", [Pure, Qt_InModel, AllTypesMatch<["x", "y"]>]> {
  let summary = "depthwise convolution: y_t = sum_j weight[:,0,j] x_{t-taps+1+j}, zeros before each document";
  let description = "Formed with what follows it before autodiff; it has no adjoint of its own.";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$x, Qt_Tensor:$weight);
  let results = (outs Qt_Rows:$y);
  let assemblyFormat = "$docs `,` $x `,` $weight attr-dict `:` qualified(type($docs)) `,` type($x) `,` type($weight)";
  let hasVerifier = 1;
}

def Qt_CrossEntropyOp : Qt_Op<"cross_entropy", [Pure, Qt_InModel]> {
  let summary = "sum over the rows with labels >= 0 of logsumexp(logits) - logits[label]";
  let description = "Formed with its linear op before autodiff; it has no adjoint of its own.";
  let arguments = (ins Qt_Rows:$logits, Qt_Ids:$labels);
  let results = (outs Qt_Scalar:$loss);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($loss)";
  let hasVerifier = 1;
}

#endif // QT_MODEL_OPS_TD
