// Text and bytecode keep every op, with and without its optional parts.
// RUN: qcc-opt %s -o %t.mlir
// RUN: qcc-opt %t.mlir | diff %t.mlir -
// RUN: qcc-opt %s --emit-bytecode | qcc-opt | diff %t.mlir -
// RUN: FileCheck %s < %t.mlir

// CHECK: qt.parameter @w : tensor<8x4xbf16> init <normal, 0.000000e+00, 2.000000e-02> names ["model.w", "w"]
qt.parameter @w : tensor<8x4xbf16> init <normal, 0.0, 0.02> names ["model.w", "w"]
// CHECK: qt.parameter @u : tensor<2x4xbf16> init <zeros> names ["u"] tied ["t", "v"]
qt.parameter @u : tensor<2x4xbf16> init <zeros> names ["u"] tied ["t", "v"]
// CHECK: qt.parameter @frozen : tensor<6xf32> frozen init <log_uniform, 1.000000e-02, 1.600000e+01> names ["f"]
qt.parameter @frozen : tensor<6xf32> frozen init <log_uniform, 0.01, 16.0> names ["f"]
// CHECK: qt.parameter_pack @pack [@w, @u] : tensor<10x4xbf16>
qt.parameter_pack @pack [@w, @u] : tensor<10x4xbf16>
// CHECK: qt.state @pack.exp_avg exp_avg of @pack : tensor<10x4xf32>
qt.state @pack.exp_avg exp_avg of @pack : tensor<10x4xf32>
qt.state @pack.exp_avg_sq exp_avg_sq of @pack : tensor<10x4xf32>
qt.state @pack.master master of @pack : tensor<10x4xf32>
// CHECK: qt.state @counters counters : tensor<2xi64>
qt.state @counters counters : tensor<2xi64>

// CHECK-LABEL: func @tensor_ops
func.func @tensor_ops(%docs: !qt.segments, %x: tensor<?x4x6xf32>, %v: tensor<6xf32>, %h: tensor<?x4x6xbf16>) -> tensor<?x24xf32> {
  %0 = qt.exp %x : tensor<?x4x6xf32>
  %1 = qt.neg %0 : tensor<?x4x6xf32>
  %2 = qt.sigmoid %1 : tensor<?x4x6xf32>
  // CHECK: qt.silu %{{.*}} {qt.scope = "layers.0.mlp"} : tensor<?x4x6xf32>
  %3 = qt.silu %2 {qt.scope = "layers.0.mlp"} : tensor<?x4x6xf32>
  %4 = qt.softplus %3 : tensor<?x4x6xf32>
  // CHECK: qt.add %{{.*}}, %{{.*}} : tensor<?x4x6xf32>, tensor<6xf32>
  %5 = qt.add %4, %v : tensor<?x4x6xf32>, tensor<6xf32>
  %6 = qt.sub %5, %v : tensor<?x4x6xf32>, tensor<6xf32>
  %7 = qt.mul %6, %x : tensor<?x4x6xf32>, tensor<?x4x6xf32>
  // CHECK: qt.scale %{{.*}} by 5.000000e-01 : tensor<?x4x6xf32>
  %8 = qt.scale %7 by 0.5 : tensor<?x4x6xf32>
  %9 = qt.cast %h : tensor<?x4x6xbf16> -> tensor<?x4x6xf32>
  %zeros = qt.zeros : tensor<4x6xf32>
  // CHECK: qt.broadcast %{{.*}} dims [1, 2] : tensor<4x6xf32> -> tensor<?x4x6xf32>
  %b = qt.broadcast %zeros dims [1, 2] : tensor<4x6xf32> -> tensor<?x4x6xf32>
  // CHECK: qt.transpose %{{.*}} [1, 0, 2] : tensor<?x4x6xf32> -> tensor<4x?x6xf32>
  %t = qt.transpose %9 [1, 0, 2] : tensor<?x4x6xf32> -> tensor<4x?x6xf32>
  %r = qt.reduce_sum %t dims [0, 2] : tensor<4x?x6xf32> -> tensor<?xf32>
  // CHECK: qt.split %{{.*}} dim 2 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x4x4xf32>
  %p:2 = qt.split %8 dim 2 : tensor<?x4x6xf32> -> tensor<?x4x2xf32>, tensor<?x4x4xf32>
  // CHECK: qt.join %{{.*}}, %{{.*}} dim 2 : tensor<?x4x4xf32>, tensor<?x4x2xf32> -> tensor<?x4x6xf32>
  %j = qt.join %p#1, %p#0 dim 2 : tensor<?x4x4xf32>, tensor<?x4x2xf32> -> tensor<?x4x6xf32>
  // CHECK: qt.contract %{{.*}}, %{{.*}} batch [1] x [1] over [2] x [2] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<4x?x?xf32>
  %s = qt.contract %j, %b batch [1] x [1] over [2] x [2] : tensor<?x4x6xf32>, tensor<?x4x6xf32> -> tensor<4x?x?xf32>
  // CHECK: qt.causal_mask %{{.*}}, %{{.*}} : !qt.segments, tensor<4x?x?xf32>
  %m = qt.causal_mask %docs, %s : !qt.segments, tensor<4x?x?xf32>
  %sm = qt.softmax %m : tensor<4x?x?xf32>
  // CHECK: qt.barrier %{{.*}} after %{{.*}} : tensor<?x4x6xf32>, tensor<?xf32>
  %z = qt.barrier %j after %r : tensor<?x4x6xf32>, tensor<?xf32>
  // CHECK: qt.watch %{{.*}} as "hidden.0" : tensor<?x4x6xf32>
  qt.watch %z as "hidden.0" : tensor<?x4x6xf32>
  // CHECK: qt.watch gradient %{{.*}} as "w" : tensor<4x?x?xf32>
  qt.watch gradient %sm as "w" : tensor<4x?x?xf32>
  %y = qt.reshape %z : tensor<?x4x6xf32> -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}

// CHECK-LABEL: func @model_ops
// CHECK-SAME: {qt.argument = #qt.argument<ids>}
// CHECK-SAME: -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>}
func.func @model_ops(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                     %docs: !qt.segments {qt.argument = #qt.argument<segments>}, %c: tensor<4x1x4xf32>, %n: tensor<4xf32>)
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %w = qt.read @w : tensor<8x4xbf16>
  // CHECK: qt.embedding %{{.*}}, %{{.*}}, %{{.*}} : (!qt.segments, tensor<?xi32>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
  %e = qt.embedding %docs, %ids, %w : (!qt.segments, tensor<?xi32>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
  // CHECK: qt.rms_norm %{{.*}}, %{{.*}} eps 9.9999999999999995E-7 : (tensor<?x4xbf16>, tensor<4xf32>) -> tensor<?x4xbf16>{{$}}
  %0 = qt.rms_norm %e, %n eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xf32>) -> tensor<?x4xbf16>
  // CHECK: qt.rms_norm {{.*}} -> tensor<?x4xbf16> rstd tensor<?xf32>
  %1:2 = qt.rms_norm %0, %n eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xf32>) -> tensor<?x4xbf16> rstd tensor<?xf32>
  %2 = qt.plain_rms_norm %1#0, %n eps 1.0e-6 : tensor<?x4xbf16>, tensor<4xf32> -> tensor<?x4xbf16>
  %3 = qt.l2_norm %2 eps 1.0e-6 : tensor<?x4xbf16> -> tensor<?x4xbf16>
  // CHECK: qt.causal_conv %{{.*}}, %{{.*}}, %{{.*}} : !qt.segments, tensor<?x4xbf16>, tensor<4x1x4xf32>
  %4 = qt.causal_conv %docs, %3, %c : !qt.segments, tensor<?x4xbf16>, tensor<4x1x4xf32>
  %5 = qt.reshape %4 : tensor<?x4xbf16> -> tensor<?x1x4xbf16>
  // CHECK: qt.rope %{{.*}}, %{{.*}} theta 1.000000e+04 dims 2 : !qt.segments, tensor<?x1x4xbf16>
  %6 = qt.rope %docs, %5 theta 1.0e4 dims 2 : !qt.segments, tensor<?x1x4xbf16>
  %7 = qt.reshape %6 : tensor<?x1x4xbf16> -> tensor<?x4xbf16>
  %8 = qt.linear %7, %w : tensor<?x4xbf16>, tensor<8x4xbf16> -> tensor<?x8xbf16>
  %loss = qt.cross_entropy %8, %labels : tensor<?x8xbf16>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: func @compound_ops
func.func @compound_ops(%docs: !qt.segments, %labels: tensor<?xi32>, %x: tensor<?x4xbf16>, %n: tensor<4xf32>, %qkv: tensor<?x16xbf16>,
                        %ab: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %z: tensor<?x4x2xbf16>, %head: tensor<4xf32>, %n2: tensor<2xf32>,
                        %weight: tensor<8x4xbf16>) {
  // CHECK: qt.add_rms_norm {{.*}} : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> tensor<?x4xbf16>, tensor<?x4xbf16>{{$}}
  %s0, %y0 = qt.add_rms_norm %x, %x, %n eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> tensor<?x4xbf16>, tensor<?x4xbf16>
  %s1, %y1, %rstd1 = qt.add_rms_norm %x, %x, %n eps 1.0e-6 : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> tensor<?x4xbf16>, tensor<?x4xbf16> rstd tensor<?xf32>
  // CHECK: qt.gated_delta_inputs %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} conv %{{.*}}, %{{.*}}, %{{.*}} eps
  %q, %k, %v, %g, %beta = qt.gated_delta_inputs %docs, %qkv, %ab, %ab conv %conv, %head, %head eps 1.0e-6
    : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xf32>)
    -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  // CHECK: qt.gated_delta_rule {{.*}} scale 7.500000e-01 {{.*}} -> tensor<?x4x2xbf16>{{$}}
  %o0 = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.75
    : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16>
  // CHECK: qt.gated_delta_rule {{.*}} inverse tensor<?x4x64xf32>
  %o1, %inverse = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.75
    : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>) -> tensor<?x4x2xbf16> inverse tensor<?x4x64xf32>
  %y2 = qt.gated_rms_norm %o0, %z, %n2 eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>) -> tensor<?x4x2xbf16>
  %y3, %rstd3 = qt.gated_rms_norm %o0, %z, %n2 eps 1.0e-6 : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>) -> tensor<?x4x2xbf16> rstd tensor<?x4xf32>
  // CHECK: qt.qk_norm_rope {{.*}} eps {{.*}} theta 1.000000e+04 dims 2 {{.*}} -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16>{{$}}
  %q4, %k4 = qt.qk_norm_rope %docs, %z, %k, %n2, %n2 eps 1.0e-6 theta 1.0e4 dims 2
    : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16>
  // CHECK: qt.qk_norm_rope {{.*}} q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  %q5, %k5, %qr5, %kr5 = qt.qk_norm_rope %docs, %z, %k, %n2, %n2 eps 1.0e-6 theta 1.0e4 dims 2
    : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x4x2xbf16>, tensor<?x2x2xbf16>
    q_rstd tensor<?x4xf32> k_rstd tensor<?x2xf32>
  // CHECK: qt.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} scale 5.000000e-01 {{.*}} -> tensor<?x4x2xbf16>{{$}}
  %y6 = qt.attention %docs, %q4, %k4, %k scale 0.5 : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>) -> tensor<?x4x2xbf16>
  // CHECK: qt.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} gate %{{.*}} scale 5.000000e-01 {{.*}} -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  %y7, %lse7, %o7 = qt.attention %docs, %q4, %k4, %k gate %z scale 0.5
    : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>) -> tensor<?x4x2xbf16> lse tensor<?x4xf32> o tensor<?x4x2xbf16>
  %y8 = qt.swiglu %x, %x : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x4xbf16>
  %rows = qt.gather_rows %docs, %x : (!qt.segments, tensor<?x4xbf16>) -> tensor<?x4xbf16>
  %targets = qt.gather_rows %docs, %labels : (!qt.segments, tensor<?xi32>) -> tensor<?xi32>
  // CHECK: qt.linear_cross_entropy {{.*}} -> tensor<f32>{{$}}
  %loss = qt.linear_cross_entropy %rows, %weight, %targets : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>) -> tensor<f32>
  // CHECK: qt.linear_cross_entropy {{.*}} -> tensor<f32> row_loss tensor<?xf32>
  %loss2, %row_loss = qt.linear_cross_entropy %rows, %weight, %targets : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>) -> tensor<f32> row_loss tensor<?xf32>
  return
}

// CHECK-LABEL: func @grad_ops
func.func @grad_ops(%docs: !qt.segments, %labels: tensor<?xi32>, %x: tensor<?x4xbf16>, %n: tensor<4xf32>, %r: tensor<?xf32>, %qkv: tensor<?x16xbf16>,
                    %ab: tensor<?x4xbf16>, %conv: tensor<16x1x4xbf16>, %z: tensor<?x4x2xbf16>, %k: tensor<?x2x2xbf16>, %g: tensor<?x4xf32>,
                    %inverse: tensor<?x4x64xf32>, %n2: tensor<2xf32>, %kr: tensor<?x2xf32>, %weight: tensor<8x4xbf16>, %dw: tensor<8x4xf32>,
                    %dy8: tensor<?x8xbf16>, %dloss: tensor<f32>) {
  %0 = qt.embedding_grad %docs, %labels, %labels, %x : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x4xbf16>) -> tensor<8x4xbf16>
  // CHECK: qt.embedding_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}} : {{.*}} -> tensor<8x4xf32>
  %1 = qt.embedding_grad %docs, %labels, %labels, %x into %dw : (!qt.segments, tensor<?xi32>, tensor<?xi32>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = qt.linear_input_grad %dy8, %weight : tensor<?x8xbf16>, tensor<8x4xbf16> -> tensor<?x4xbf16>
  %3 = qt.linear_weight_grad %dy8, %x : (tensor<?x8xbf16>, tensor<?x4xbf16>) -> tensor<8x4xbf16>
  // CHECK: qt.linear_weight_grad %{{.*}}, %{{.*}} into %{{.*}} : (tensor<?x8xbf16>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = qt.linear_weight_grad %dy8, %x into %dw : (tensor<?x8xbf16>, tensor<?x4xbf16>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: qt.rms_norm_grad %{{.*}}, %{{.*}} dy %{{.*}} eps
  %5:2 = qt.rms_norm_grad %x, %n dy %x eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xf32>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  // CHECK: qt.rms_norm_grad %{{.*}}, %{{.*}} rstd %{{.*}} dy %{{.*}} into %{{.*}} eps
  %6:2 = qt.rms_norm_grad %x, %n rstd %r dy %x into %n eps 1.0e-6
    : (tensor<?x4xbf16>, tensor<4xf32>, tensor<?xf32>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  // CHECK: qt.add_rms_norm_grad %{{.*}}, %{{.*}} dy %{{.*}} eps
  %7:2 = qt.add_rms_norm_grad %x, %n dy %x eps 1.0e-6 : (tensor<?x4xbf16>, tensor<4xf32>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  // CHECK: qt.add_rms_norm_grad %{{.*}}, %{{.*}} rstd %{{.*}} dsum %{{.*}} dy %{{.*}} into %{{.*}} eps
  %8:2 = qt.add_rms_norm_grad %x, %n rstd %r dsum %x dy %x into %n eps 1.0e-6
    : (tensor<?x4xbf16>, tensor<4xf32>, tensor<?xf32>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<4xf32>) -> (tensor<?x4xbf16>, tensor<4xf32>)
  %head = qt.zeros : tensor<4xf32>
  // CHECK: qt.gated_delta_inputs_grad %{{.*}} conv %{{.*}} grads %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} eps
  %9:6 = qt.gated_delta_inputs_grad %docs, %qkv, %ab, %ab conv %conv, %head, %head grads %k, %k, %z, %g, %ab into %conv, %head, %head eps 1.0e-6
    : (!qt.segments, tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<?x2x2xbf16>,
       tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xf32>)
    -> (tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<16x1x4xbf16>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: qt.gated_delta_rule_grad %{{.*}} inverse %{{.*}} dout %{{.*}} scale
  %10:5 = qt.gated_delta_rule_grad %docs, %k, %k, %z, %g, %ab inverse %inverse dout %z scale 1.0
    : (!qt.segments, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>, tensor<?x4x64xf32>, tensor<?x4x2xbf16>)
    -> (tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4xbf16>)
  // CHECK: qt.gated_rms_norm_grad %{{.*}}, %{{.*}}, %{{.*}} rstd %{{.*}} dy %{{.*}} into %{{.*}} eps
  %11:3 = qt.gated_rms_norm_grad %z, %z, %n2 rstd %g dy %z into %n2 eps 1.0e-6
    : (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x4x2xbf16>, tensor<2xf32>)
    -> (tensor<?x4x2xbf16>, tensor<?x4x2xbf16>, tensor<2xf32>)
  // CHECK: qt.qk_norm_rope_grad %{{.*}} q_rstd %{{.*}} k_rstd %{{.*}} grads %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} eps
  %12:4 = qt.qk_norm_rope_grad %docs, %z, %k, %n2, %n2 q_rstd %g k_rstd %kr grads %z, %k into %n2, %n2 eps 1.0e-6 theta 1.0e4 dims 2
    : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4x2xbf16>,
       tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: qt.attention_grad %{{.*}} gate %{{.*}} lse %{{.*}} o %{{.*}} dy %{{.*}} scale
  %13:4 = qt.attention_grad %docs, %z, %k, %k gate %z lse %g o %z dy %z scale 1.0
    : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>, tensor<?x4xf32>, tensor<?x4x2xbf16>,
       tensor<?x4x2xbf16>) -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
  // CHECK: qt.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} dy %{{.*}} scale
  %14:3 = qt.attention_grad %docs, %z, %k, %k dy %z scale 1.0
    : (!qt.segments, tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>, tensor<?x4x2xbf16>)
    -> (tensor<?x4x2xbf16>, tensor<?x2x2xbf16>, tensor<?x2x2xbf16>)
  %15:2 = qt.swiglu_grad %x, %x dy %x : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>) -> (tensor<?x4xbf16>, tensor<?x4xbf16>)
  %16 = qt.scatter_rows %docs, %x : (!qt.segments, tensor<?x4xbf16>) -> tensor<?x4xbf16>
  // CHECK: qt.linear_cross_entropy_grad {{.*}} -> (tensor<f32>, tensor<?x4xbf16>){{$}}
  %17:2 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss
    : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f32>) -> (tensor<f32>, tensor<?x4xbf16>)
  // CHECK: qt.linear_cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}} dloss %{{.*}} into %{{.*}} :
  %18:3 = qt.linear_cross_entropy_grad %x, %weight, %labels dloss %dloss into %dw
    : (tensor<?x4xbf16>, tensor<8x4xbf16>, tensor<?xi32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<?x4xbf16>, tensor<8x4xf32>)
  return
}

// CHECK-LABEL: func @state_ops
func.func @state_ops(%docs: !qt.segments<128, 4, 64, 96>, %hyper: tensor<8xf32> {qt.argument = #qt.argument<hyper>},
                     %seed: tensor<i64> {qt.argument = #qt.argument<seed>}, %gradient: tensor<10x4xf32>, %w: tensor<6xf32>) {
  %weight = qt.read @pack : tensor<10x4xbf16>
  %m = qt.read @pack.exp_avg : tensor<10x4xf32>
  %v = qt.read @pack.exp_avg_sq : tensor<10x4xf32>
  %master = qt.read @pack.master : tensor<10x4xf32>
  %counters = qt.read @counters : tensor<2xi64>
  // CHECK: qt.global_norm %{{.*}}, %{{.*}} : (tensor<10x4xf32>, tensor<6xf32>) -> tensor<f32>
  %norm = qt.global_norm %gradient, %w : (tensor<10x4xf32>, tensor<6xf32>) -> tensor<f32>
  %counted = qt.optimizer_step %norm, %counters : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  // CHECK: qt.adamw %{{.*}} norm %{{.*}} counters %{{.*}} hyper %{{.*}} seed %{{.*}} weight %{{.*}} moments %{{.*}}, %{{.*}} master %{{.*}} decay true members [11, 32, 12, 8] :
  %new:4 = qt.adamw %gradient norm %norm counters %counted hyper %hyper seed %seed weight %weight moments %m, %v master %master decay true members [11, 32, 12, 8]
    : (tensor<10x4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<10x4xbf16>, tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>)
    -> (tensor<10x4xbf16>, tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>)
  // CHECK: qt.adamw {{.*}} moments %{{.*}}, %{{.*}} decay false
  %other:3 = qt.adamw %gradient norm %norm counters %counted hyper %hyper seed %seed weight %weight moments %m, %v decay false members [11, 40]
    : (tensor<10x4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<10x4xbf16>, tensor<10x4xf32>, tensor<10x4xf32>)
    -> (tensor<10x4xbf16>, tensor<10x4xf32>, tensor<10x4xf32>)
  // CHECK: qt.update @pack, %{{.*}} : tensor<10x4xbf16>
  qt.update @pack, %new#0 : tensor<10x4xbf16>
  qt.update @pack.exp_avg, %new#1 : tensor<10x4xf32>
  qt.update @pack.exp_avg_sq, %new#2 : tensor<10x4xf32>
  qt.update @pack.master, %new#3 : tensor<10x4xf32>
  qt.update @counters, %counted : tensor<2xi64>
  return
}

// CHECK-LABEL: func.func @cluster
func.func @cluster(%x: tensor<?x4xbf16>, %column: tensor<?x1xf32>) {
  // CHECK: %{{.*}}:2 = qt.pointwise %{{.*}}, %{{.*}} : tensor<?x4xbf16>, tensor<?x1xf32> -> tensor<8x?x4xf32>, tensor<8x?x4xbf16> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<bf16>, %[[B:.*]]: tensor<f32>):
  // CHECK: qt.yield %{{.*}}, %[[A]] : tensor<f32>, tensor<bf16>
  %y:2 = qt.pointwise %x, %column : tensor<?x4xbf16>, tensor<?x1xf32> -> tensor<8x?x4xf32>, tensor<8x?x4xbf16> {
  ^bb0(%a: tensor<bf16>, %b: tensor<f32>):
    %wide = qt.cast %a : tensor<bf16> -> tensor<f32>
    %product = qt.mul %wide, %b : tensor<f32>, tensor<f32>
    qt.yield %product, %a : tensor<f32>, tensor<bf16>
  }
  return
}
