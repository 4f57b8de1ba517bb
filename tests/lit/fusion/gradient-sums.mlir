// Sums of gradients go into the op that computes a term, where what it adds to is known before and nobody else reads it.
// RUN: qcc-opt %s --fuse-gradient-sums | FileCheck %s

qt.parameter @w : tensor<8x4xf32> init <zeros> names ["w"]
qt.state @w.gradient gradient of @w : tensor<8x4xf32>

// A chain, from the accumulated gradient through both terms of a tied weight.
// CHECK-LABEL: func.func @chain
// CHECK: %[[OLD:.*]] = qt.read @w.gradient
// CHECK: %{{.*}}, %{{.*}}, %[[DW:.*]] = qt.linear_cross_entropy_grad {{.*}} dloss %{{.*}} into %[[OLD]] :
// CHECK: %[[SUM:.*]] = qt.embedding_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} into %[[DW]] :
// CHECK-NEXT: qt.update @w.gradient, %[[SUM]]
// CHECK-NOT: qt.add
func.func @chain(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %ids: tensor<32xi32>, %order: tensor<32xi32>, %x: tensor<32x4xf32>, %seed: tensor<f32>)
    attributes {qt.entry = #qt.entry<accumulate>} {
  %w = qt.read @w : tensor<8x4xf32>
  %old = qt.read @w.gradient : tensor<8x4xf32>
  %loss, %dx, %dw = qt.linear_cross_entropy_grad %x, %w, %ids dloss %seed
    : (tensor<32x4xf32>, tensor<8x4xf32>, tensor<32xi32>, tensor<f32>) -> (tensor<f32>, tensor<32x4xf32>, tensor<8x4xf32>)
  %sum = qt.add %old, %dw : tensor<8x4xf32>, tensor<8x4xf32>
  %de = qt.embedding_grad %docs, %ids, %order, %dx : (!qt.segments<32, 2, 16, 32>, tensor<32xi32>, tensor<32xi32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %sum2 = qt.add %sum, %de : tensor<8x4xf32>, tensor<8x4xf32>
  qt.update @w.gradient, %sum2 : tensor<8x4xf32>
  return
}

// Of two terms the later one adds. A term may stand on either side.
// CHECK-LABEL: func.func @two_terms
// CHECK: %[[A:.*]] = qt.linear_weight_grad %{{.*}}, %{{.*}} : (
// CHECK-NEXT: %[[B:.*]] = qt.linear_weight_grad %{{.*}}, %{{.*}} into %[[A]] : (
// CHECK-NEXT: return %[[B]]
func.func @two_terms(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %dy: tensor<32x8xf32>, %x: tensor<32x4xf32>) -> tensor<8x4xf32>
    attributes {qt.entry = #qt.entry<step>} {
  %a = qt.linear_weight_grad %dy, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %b = qt.linear_weight_grad %dy, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %sum = qt.add %b, %a : tensor<8x4xf32>, tensor<8x4xf32>
  return %sum : tensor<8x4xf32>
}

// An op adds to all of its weight gradients or to none: what is not summed is added to zeros.
// CHECK-LABEL: func.func @some_of_several
// CHECK: %[[ZEROS:.*]] = qt.zeros {qt.scope = "s"} : tensor<2xf32>
// CHECK-NEXT: %{{.*}}, %{{.*}}, %[[DQ:.*]], %[[DK:.*]] = qt.qk_norm_rope_grad {{.*}} into %[[ZEROS]], %{{.*}} eps
// CHECK-NEXT: return %[[DQ]], %[[DK]]
func.func @some_of_several(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %q: tensor<32x4x2xf32>, %k: tensor<32x2x2xf32>, %w: tensor<2xf32>, %old: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>) attributes {qt.entry = #qt.entry<step>} {
  %r:4 = qt.qk_norm_rope_grad %docs, %q, %k, %w, %w grads %q, %k eps 1.0e-6 theta 1.0e4 dims 2 {qt.scope = "s"}
    : (!qt.segments<32, 2, 16, 32>, tensor<32x4x2xf32>, tensor<32x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<32x4x2xf32>, tensor<32x2x2xf32>)
    -> (tensor<32x4x2xf32>, tensor<32x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %dk = qt.add %old, %r#3 : tensor<2xf32>, tensor<2xf32>
  return %r#2, %dk : tensor<2xf32>, tensor<2xf32>
}

// The first norm of a residual stream: its gradient takes the stream's along, whether or not its weight's is summed.
// CHECK-LABEL: func.func @residual
// CHECK: %[[DX:.*]], %[[DW:.*]] = qt.add_rms_norm_grad %[[X:.*]], %[[W:.*]] dsum %[[D:.*]] dy %[[DY:.*]] into %[[OLDW:.*]] eps 9.9999999999999995E-7 {qt.scope = "norm"}
// CHECK-NEXT: %[[DX2:.*]], %[[DW2:.*]] = qt.add_rms_norm_grad %[[X]], %[[W]] rstd %{{.*}} dsum %[[DX]] dy %[[DY]] eps
// CHECK-NEXT: return %[[DX2]], %[[DW]], %[[DW2]]
func.func @residual(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>, %w: tensor<4xf32>, %old: tensor<4xf32>, %d: tensor<32x4xf32>, %dy: tensor<32x4xf32>,
                    %rstd: tensor<32xf32>) -> (tensor<32x4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %dx, %dw = qt.rms_norm_grad %x, %w dy %dy eps 1.0e-6 {qt.scope = "norm"} : (tensor<32x4xf32>, tensor<4xf32>, tensor<32x4xf32>) -> (tensor<32x4xf32>, tensor<4xf32>)
  %sum = qt.add %d, %dx : tensor<32x4xf32>, tensor<32x4xf32>
  %sumw = qt.add %old, %dw : tensor<4xf32>, tensor<4xf32>
  %dx2, %dw2 = qt.rms_norm_grad %x, %w rstd %rstd dy %dy eps 1.0e-6 : (tensor<32x4xf32>, tensor<4xf32>, tensor<32xf32>, tensor<32x4xf32>) -> (tensor<32x4xf32>, tensor<4xf32>)
  %sum2 = qt.add %dx2, %sum : tensor<32x4xf32>, tensor<32x4xf32>
  return %sum2, %sumw, %dw2 : tensor<32x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Not fused: a term that is read elsewhere, a value to add to that is read elsewhere or known too late, a sum with itself, a vector added to each row.
// CHECK-LABEL: func.func @not_fused
// CHECK-NOT: into
// CHECK-COUNT-5: qt.add
// CHECK: return
func.func @not_fused(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %dy: tensor<32x8xf32>, %x: tensor<32x4xf32>, %old: tensor<8x4xf32>, %row: tensor<4xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %a = qt.linear_weight_grad %dy, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %0 = qt.add %old, %a : tensor<8x4xf32>, tensor<8x4xf32>
  %kept = qt.scale %old by 2.0 : tensor<8x4xf32>
  %b = qt.linear_weight_grad %dy, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %1 = qt.add %kept, %b : tensor<8x4xf32>, tensor<8x4xf32>
  %c = qt.linear_weight_grad %dy, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %late = qt.scale %old by 2.0 : tensor<8x4xf32>
  %2 = qt.add %late, %c : tensor<8x4xf32>, tensor<8x4xf32>
  %d = qt.linear_weight_grad %dy, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %3 = qt.add %d, %d : tensor<8x4xf32>, tensor<8x4xf32>
  %e = qt.linear_weight_grad %dy, %x : (tensor<32x8xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %4 = qt.add %e, %row : tensor<8x4xf32>, tensor<4xf32>
  return %a, %0, %kept, %1, %2, %3, %4 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// Functions for any row stay as they are.
// CHECK-LABEL: func.func @generic
// CHECK: qt.add
func.func @generic(%docs: !qt.segments {qt.argument = #qt.argument<segments>}, %dy: tensor<?x8xf32>, %x: tensor<?x4xf32>, %old: tensor<8x4xf32>) -> tensor<8x4xf32>
    attributes {qt.entry = #qt.entry<step>} {
  %a = qt.linear_weight_grad %dy, %x : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<8x4xf32>
  %sum = qt.add %old, %a : tensor<8x4xf32>, tensor<8x4xf32>
  return %sum : tensor<8x4xf32>
}
