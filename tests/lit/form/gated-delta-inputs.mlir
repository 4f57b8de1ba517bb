// All that a gated delta rule reads becomes one op.
// RUN: qcc-opt %s --form-gated-delta-inputs | FileCheck %s --implicit-check-not=qt.silu --implicit-check-not=qt.split --implicit-check-not=qt.l2_norm --implicit-check-not=qt.sigmoid --implicit-check-not=qt.mul --implicit-check-not=qt.exp --implicit-check-not=qt.cast --implicit-check-not=qt.causal_conv

// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[QKV:.*]]: tensor<?x20xbf16>, %[[B:.*]]: tensor<?x4xbf16>, %[[A:.*]]: tensor<?x4xbf16>)
func.func @written(%docs: !qt.segments, %qkv: tensor<?x20xbf16>, %b: tensor<?x4xbf16>, %a: tensor<?x4xbf16>) -> tensor<?x4x3xbf16> {
  // CHECK-DAG: %[[CONV:.*]] = qt.read @conv
  // CHECK-DAG: %[[A_LOG:.*]] = qt.read @a_log
  // CHECK-DAG: %[[DT:.*]] = qt.read @dt_bias
  // CHECK:     %[[Q:.*]], %[[K:.*]], %[[V:.*]], %[[G:.*]], %[[BETA:.*]] = qt.gated_delta_inputs %[[DOCS]], %[[QKV]], %[[B]], %[[A]] conv %[[CONV]], %[[A_LOG]], %[[DT]] eps 9.9999999999999995E-7 {qt.scope = "layers.0.linear_attn"}
  // CHECK-SAME:  -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x3xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  // CHECK:     qt.gated_delta_rule %[[DOCS]], %[[Q]], %[[K]], %[[V]], %[[G]], %[[BETA]] scale
  %w = qt.read @conv : tensor<20x1x4xbf16>
  %c = qt.causal_conv %docs, %qkv, %w {qt.scope = "layers.0.linear_attn.conv1d"} : !qt.segments, tensor<?x20xbf16>, tensor<20x1x4xbf16>
  %s = qt.silu %c {qt.scope = "layers.0.linear_attn"} : tensor<?x20xbf16>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xbf16> -> tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x12xbf16>
  %q1 = qt.reshape %q0 : tensor<?x4xbf16> -> tensor<?x2x2xbf16>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xbf16> -> tensor<?x2x2xbf16>
  %k1 = qt.reshape %k0 : tensor<?x4xbf16> -> tensor<?x2x2xbf16>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xbf16> -> tensor<?x2x2xbf16>
  %v = qt.reshape %v0 : tensor<?x12xbf16> -> tensor<?x4x3xbf16>
  %beta = qt.sigmoid %b : tensor<?x4xbf16>
  %al = qt.read @a_log : tensor<4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %n = qt.neg %e : tensor<4xf32>
  %af = qt.cast %a : tensor<?x4xbf16> -> tensor<?x4xf32>
  %dt = qt.read @dt_bias : tensor<4xbf16>
  %dtf = qt.cast %dt : tensor<4xbf16> -> tensor<4xf32>
  %sum = qt.add %af, %dtf : tensor<?x4xf32>, tensor<4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %g = qt.mul %sp, %n : tensor<?x4xf32>, tensor<4xf32>
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x3xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x3xbf16>
  return %o : tensor<?x4x3xbf16>
}

// The same in f32, where no cast is written, with the sign elsewhere and the bias repeated by hand.
// CHECK-LABEL: func @f32
// CHECK-SAME:  (%[[DOCS:.*]]: !qt.segments, %[[QKV:.*]]: tensor<?x20xf32>, %[[B:.*]]: tensor<?x4xf32>, %[[A:.*]]: tensor<?x4xf32>, %[[CONV:.*]]: tensor<20x1x4xf32>, %[[A_LOG:.*]]: tensor<4xf32>, %[[DT:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[Q:.*]], %[[K:.*]], %[[V:.*]], %[[G:.*]], %[[BETA:.*]] = qt.gated_delta_inputs %[[DOCS]], %[[QKV]], %[[B]], %[[A]] conv %[[CONV]], %[[A_LOG]], %[[DT]]
// CHECK-NEXT:    qt.gated_delta_rule %[[DOCS]], %[[Q]], %[[K]], %[[V]], %[[G]], %[[BETA]] scale
func.func @f32(%docs: !qt.segments, %qkv: tensor<?x20xf32>, %b: tensor<?x4xf32>, %a: tensor<?x4xf32>, %w: tensor<20x1x4xf32>, %al: tensor<4xf32>, %dt: tensor<4xf32>) -> tensor<?x4x3xf32> {
  %dtb = qt.broadcast %dt dims [1] : tensor<4xf32> -> tensor<?x4xf32>
  %sum = qt.add %dtb, %a : tensor<?x4xf32>, tensor<?x4xf32>
  %sp = qt.softplus %sum : tensor<?x4xf32>
  %e = qt.exp %al : tensor<4xf32>
  %p = qt.mul %sp, %e : tensor<?x4xf32>, tensor<4xf32>
  %g = qt.scale %p by -1.0 : tensor<?x4xf32>
  %beta = qt.sigmoid %b : tensor<?x4xf32>
  %c = qt.causal_conv %docs, %qkv, %w : !qt.segments, tensor<?x20xf32>, tensor<20x1x4xf32>
  %s = qt.silu %c : tensor<?x20xf32>
  %q0, %k0, %v0 = qt.split %s dim 1 : tensor<?x20xf32> -> tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
  %q1 = qt.reshape %q0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %q = qt.l2_norm %q1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %k1 = qt.reshape %k0 : tensor<?x4xf32> -> tensor<?x2x2xf32>
  %k = qt.l2_norm %k1 eps 1.0e-6 : tensor<?x2x2xf32> -> tensor<?x2x2xf32>
  %v = qt.reshape %v0 : tensor<?x12xf32> -> tensor<?x4x3xf32>
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 : (!qt.segments, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x4x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %o : tensor<?x4x3xf32>
}

qt.parameter @conv : tensor<20x1x4xbf16> init <zeros> names ["conv"]
qt.parameter @a_log : tensor<4xf32> init <zeros> names ["a_log"]
qt.parameter @dt_bias : tensor<4xbf16> init <zeros> names ["dt_bias"]
