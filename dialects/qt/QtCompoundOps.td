// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one fused kernel computes. Formed before autodiff, so that forward and backward kernels always match.
#ifndef QT_COMPOUND_OPS_TD
#define QT_COMPOUND_OPS_TD

include "dialects/qt/QtBase.td"

def Qt_AddRmsNormOp : Qt_KernelOp<"add_rms_norm", "AddRmsNorm", ["getEps()"], [Qt_Differentiable, Qt_HasResiduals]> {
  let summary = "sum = x + delta, y = rms_norm(sum)";
  let arguments = (ins Qt_Rows:$x, Qt_Rows:$delta, Qt_Tensor:$weight, F64Attr:$eps);
  let results = (outs Qt_Rows:$sum, Qt_Rows:$y, Optional<Qt_Tensor>:$rstd);
  let assemblyFormat = [{
    $x `,` $delta `,` $weight `eps` $eps attr-dict `:` `(` type(operands) `)` `->` type($sum) `,` type($y) (`rstd` type($rstd)^)?
  }];
}

def Qt_GatedDeltaInputsOp : Qt_KernelOp<"gated_delta_inputs", "GatedDeltaInputs", ["getEps()"], [Qt_Differentiable]> {
  let summary = "what the delta rule reads: convolution, silu, 2-norms, decay and write strength";
  let description = [{
    c = silu(causal_conv(qkv)), split into q | k | v; q, k = l2_norm per head; beta = sigmoid(b); g = -exp(a_log) * softplus(a + dt_bias).
    Zeros outside every document (docs/model.md, Gated DeltaNet 2-5).
  }];
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$qkv, Qt_Rows:$b, Qt_Rows:$a, Qt_Tensor:$conv_weight, Qt_Tensor:$a_log,
                       Qt_Tensor:$dt_bias, F64Attr:$eps);
  let results = (outs Qt_Rows:$q, Qt_Rows:$k, Qt_Rows:$v, Qt_Rows:$g, Qt_Rows:$beta);
  let assemblyFormat = [{
    $docs `,` $qkv `,` $b `,` $a `conv` $conv_weight `,` $a_log `,` $dt_bias `eps` $eps attr-dict `:` functional-type(operands, results)
  }];
}

def Qt_GatedDeltaRuleOp : Qt_KernelOp<"gated_delta_rule", "GatedDeltaRule", ["getScale()"], [Qt_Differentiable, Qt_HasResiduals]> {
  let summary = "the gated delta rule of every document, its state zero before the first token";
  let description = [{
    S~ = e^g S; d = beta (v - S~^T k); S = S~ + k d^T; out = S^T (scale q), for each value head; value head j reads key head j / (W/K).
    q, k are [T,K,dk], v and out [T,W,dv], g and beta [T,W]. Residual: `inverse` [T,W,64], see the kernel catalog.
  }];
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$q, Qt_Rows:$k, Qt_Rows:$v, Qt_Rows:$g, Qt_Rows:$beta, F64Attr:$scale);
  let results = (outs Qt_Rows:$out, Optional<Qt_Tensor>:$inverse);
  let assemblyFormat = [{
    $docs `,` $q `,` $k `,` $v `,` $g `,` $beta `scale` $scale attr-dict `:` `(` type(operands) `)` `->` type($out)
    (`inverse` type($inverse)^)?
  }];
}

def Qt_GatedRmsNormOp : Qt_KernelOp<"gated_rms_norm", "GatedRmsNorm", ["getEps()"], [Qt_Differentiable, Qt_HasResiduals]> {
  let summary = "weight * (x * rsqrt(mean(x^2) + eps)) * silu(z) per value head, [T,W,dv]";
  let arguments = (ins Qt_Rows:$x, Qt_Rows:$z, Qt_Tensor:$weight, F64Attr:$eps);
  let results = (outs Qt_Rows:$y, Optional<Qt_Tensor>:$rstd);
  let assemblyFormat = [{
    $x `,` $z `,` $weight `eps` $eps attr-dict `:` `(` type(operands) `)` `->` type($y) (`rstd` type($rstd)^)?
  }];
}

def Qt_QkNormRopeOp : Qt_KernelOp<"qk_norm_rope", "QkNormRope", ["getEps()", "getTheta()", "getRotaryDims()"],
    [Qt_Differentiable, Qt_HasResiduals, AttrSizedResultSegments]> {
  let summary = "rms_norm and rope of the queries and of the keys, per head";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$q_in, Qt_Rows:$k_in, Qt_Tensor:$q_weight, Qt_Tensor:$k_weight, F64Attr:$eps,
                       F64Attr:$theta, I64Attr:$rotary_dims);
  let results = (outs Qt_Rows:$q, Qt_Rows:$k, Optional<Qt_Tensor>:$q_rstd, Optional<Qt_Tensor>:$k_rstd);
  let assemblyFormat = [{
    $docs `,` $q_in `,` $k_in `,` $q_weight `,` $k_weight `eps` $eps `theta` $theta `dims` $rotary_dims attr-dict `:` `(` type(operands) `)`
    `->` type($q) `,` type($k) (`q_rstd` type($q_rstd)^)? (`k_rstd` type($k_rstd)^)?
  }];
}

def Qt_AttentionOp : Qt_KernelOp<"attention", "Attention", ["getScale()"],
    [Qt_Differentiable, Qt_HasResiduals, AttrSizedResultSegments]> {
  let summary = "causal softmax attention inside each document, with its output gate if there is one";
  let description = [{
    q is [T,H,D], k and v are [T,G,D]; query head h reads head h / (H/G). y = o, or o * sigmoid(gate). Residuals: `lse` [T,H] f32 (log-sum-exp of
    the scaled scores) and, with a gate, `o` [T,H,D], the output before it. Zeros outside every document.
  }];
  let arguments = (ins Qt_SegmentsType:$docs, Qt_Rows:$q, Qt_Rows:$k, Qt_Rows:$v, Optional<Qt_Rows>:$gate, F64Attr:$scale);
  let results = (outs Qt_Rows:$y, Optional<Qt_Tensor>:$lse, Optional<Qt_Rows>:$o);
  let assemblyFormat = [{
    $docs `,` $q `,` $k `,` $v (`gate` $gate^)? `scale` $scale attr-dict `:` `(` type(operands) `)` `->` type($y) (`lse` type($lse)^)?
    (`o` type($o)^)?
  }];
}

def Qt_SwigluOp : Qt_KernelOp<"swiglu", "Swiglu", [], [Qt_Differentiable]> {
  let summary = "silu(gate) * up";
  let arguments = (ins Qt_Rows:$gate, Qt_Rows:$up);
  let results = (outs Qt_Rows:$y);
  let assemblyFormat = "$gate `,` $up attr-dict `:` `(` type(operands) `)` `->` type($y)";
}

def Qt_GatherRowsOp : Qt_KernelOp<"gather_rows", "GatherRows", [], [Qt_Differentiable]> {
  let summary = "the trained rows of x; past their count zeros, or -100 where x holds labels";
  let arguments = (ins Qt_SegmentsType:$docs, Qt_AnyTensor:$x);
  let results = (outs Qt_AnyTensor:$out);
  let assemblyFormat = "$docs `,` $x attr-dict `:` `(` type(operands) `)` `->` type($out)";
}

def Qt_LinearCrossEntropyOp : Qt_KernelOp<"linear_cross_entropy", "LinearCrossEntropy", [], [Qt_Differentiable]> {
  let summary = "the summed cross-entropy of the logits x W^T, which exist a tile at a time";
  let description = [{
    Autodiff replaces it by `qt.linear_cross_entropy_grad`, which gives the loss and its gradients at once. `row_loss` is asked for where each row's
    loss is wanted (evaluation).
  }];
  let arguments = (ins Qt_Rows:$x, Qt_Tensor:$weight, Qt_Ids:$labels);
  let results = (outs Qt_Scalar:$loss, Optional<Qt_Tensor>:$row_loss);
  let assemblyFormat = [{
    $x `,` $weight `,` $labels attr-dict `:` `(` type(operands) `)` `->` type($loss) (`row_loss` type($row_loss)^)?
  }];
}

def Qt_PointwiseOp : Qt_Op<"pointwise", [Pure, IsolatedFromAbove, SingleBlock, KernelBackedOpInterface, CostOpInterface]> {
  let summary = "a cluster: each element of the results by one expression of the operands' elements";
  let description = [{
    What compounds leave of pointwise ops is gathered after autodiff, so that it is read and written once. The body sees one element of each operand
    and yields one of each result; its ops are pointwise ones on tensors without dimensions. All results have one shape. Dimensions of an operand are
    those of the results, from the last on; it is repeated along those that it lacks or has as 1.

    ```mlir
    %y = qt.pointwise %gate, %up : tensor<128x96xbf16>, tensor<128x96xbf16> -> tensor<128x96xbf16> {
    ^bb0(%g: tensor<bf16>, %u: tensor<bf16>):
      %0 = qt.scale %g by 1.702 : tensor<bf16>
      %1 = qt.sigmoid %0 : tensor<bf16>
      %2 = qt.mul %g, %1 : tensor<bf16>, tensor<bf16>
      %3 = qt.mul %2, %u : tensor<bf16>, tensor<bf16>
      qt.yield %3 : tensor<bf16>
    }
    ```
    A kernel computes all of the body in f32 and rounds what it writes: casts in it round nothing.
  }];
  let arguments = (ins Variadic<Qt_Tensor>:$inputs);
  let results = (outs Variadic<Qt_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($outputs) $body";
  let extraClassDeclaration = [{
    ::qrt::Kernel getKernel() { return ::qrt::Kernel::Pointwise; }
    void getKernelParams(::llvm::SmallVectorImpl<::qrt::ParamValue> &params) {}
    std::optional<::qrt::Expression> getExpression();
    double getFlops() { return ::qt::kernelFlops(getOperation()); }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // QT_COMPOUND_OPS_TD
