// A gated delta rule whose operands are not formed says once which one, and what it is.
// RUN: qcc-opt %s --form-gated-delta-inputs --remarks-filter-missed=form --split-input-file --verify-diagnostics | FileCheck %s --implicit-check-not=qt.gated_delta_inputs

// CHECK-LABEL: func @no_split
func.func @no_split(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>, %v1: tensor<?x4x3xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected v to be heads of a part of qt.split; got argument 7}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v1, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @no_silu
func.func @no_silu(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %q0, %k0, %v0 = qt.split %c dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected a split of a silu; got of qt.causal_conv}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @no_convolution
func.func @no_convolution(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %s = qt.silu %qkv : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected the silu of qt.causal_conv; got of argument 1}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @two_documents
func.func @two_documents(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>, %other: !qt.segments) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %other, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected one documents value; got different ones}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @order
func.func @order(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %v0, %q0, %k0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected the convolution to be split into q | k | v along dimension 1}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @keys_first
func.func @keys_first(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %k0, %q0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected q to be part 0 of the same split as v}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @not_normed
func.func @not_normed(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected k to come from qt.l2_norm; got qt.reshape}}
  %o = qt.gated_delta_rule %docs, %q, %k1, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @two_eps
func.func @two_eps(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-5 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected one eps of the norms of q and k; got different ones}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @beta_without_sigmoid
func.func @beta_without_sigmoid(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected beta to be a sigmoid; got argument 2}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %b scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @positive_decay
func.func @positive_decay(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %g = qt.mul %sp, %e : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected g = -exp(a_log) * softplus(a + dt_bias); got another product}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @decay_without_bias
func.func @decay_without_bias(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sp = qt.softplus %a : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected g's softplus of a sum; got of argument 3}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @bias_by_token
func.func @bias_by_token(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>, %more: tensor<?x4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %more : tensor<?x4xf32>, tensor<?x4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected a of b's type, and a_log and dt_bias of one number a head; got argument 3, argument 5 and argument 7 of other shapes}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @early_reader
func.func @early_reader(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> (tensor<?x4x3xf32>, tensor<?x4x3xf32>) {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %early = qt.exp %v : tensor<?x4x3xf32>
  %b2 = qt.exp %b : tensor<?x4xf32>
  %beta = qt.sigmoid %b2 : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected nothing to read qt.reshape before all of its operands are known; got qt.exp}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o, %early : tensor<?x4x3xf32>, tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @convolution_alone
func.func @convolution_alone(%docs: !qt.segments, %x: tensor<?x20xf32>, %w: tensor<20x1x4xf32>) -> tensor<?x20xf32> {
  // expected-remark @below {{expected qt.gated_delta_rule to read what the convolution gives}}
  %c = qt.causal_conv %docs, %x, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  return %c : tensor<?x20xf32>
}

// -----

// CHECK-LABEL: func @wide_rows
func.func @wide_rows(%docs: !qt.segments, %qkv: tensor<?x20xbf16>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xbf16>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xbf16>, tensor<20x1x4xbf16>
  %s = qt.silu %c : tensor<?x20xbf16>
  %sf = qt.cast %s : tensor<?x20xbf16> -> tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %sf dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected q, k and v in the convolution's element type; got another one}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

// -----

// CHECK-LABEL: func @wide_beta
func.func @wide_beta(%docs: !qt.segments, %qkv: tensor<?x20xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xbf16>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xbf16> {
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xbf16>, tensor<20x1x4xbf16>
  %s = qt.silu %c : tensor<?x20xbf16>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xbf16> -> tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x12xbf16>
  %q1 = qt.reshape %q0 : tensor<?x4xbf16> -> tensor<?x2x2xbf16>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xbf16> -> tensor<?x2x2xbf16>
  %k1 = qt.reshape %k0 : tensor<?x4xbf16> -> tensor<?x2x2xbf16>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xbf16> -> tensor<?x2x2xbf16>
  %v = qt.reshape %v0 : tensor<?x12xbf16> -> tensor<?x4x3xbf16>
  %bf = qt.cast %b : tensor<?x4xbf16> -> tensor<?x4xf32>
  %beta = qt.sigmoid %bf : tensor<?x4xf32>
  %sum = qt.add %a, %dt : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  // expected-remark @below {{expected b and beta in the convolution's element type; got another one}}
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x3xbf16>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xbf16>
  return %o : tensor<?x4x3xbf16>
}
