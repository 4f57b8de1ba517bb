// A cluster is computed again where the backward pass reads what it gives; not one that feeds a sum or another cluster, which may be the residual stream.
// RUN: qcc-opt %s --remat=policy=memory-bound --verify-remat --split-input-file -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: qcc-opt %t.mlir --split-input-file --cse --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @gate
// CHECK: %[[Y:.*]] = qt.pointwise %[[GATE:.*]] {qt.scope = "mlp"}
// CHECK: qt.linear %[[Y]]
// CHECK: %[[DY:.*]] = qt.mul
// CHECK: %[[KEPT:.*]] = qt.barrier %[[GATE]] after %[[DY]]
// CHECK: %[[AGAIN:.*]] = qt.pointwise %[[KEPT]] {qt.recomputed, qt.scope = "mlp"}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: qt.exp
// CHECK-NEXT: qt.yield
// CHECK: qt.linear_weight_grad %[[DY]], %[[AGAIN]]
func.func @gate(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %seed: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>},
                %gate: tensor<32x4xf32>, %w: tensor<4x4xf32>, %cotangent: tensor<32x4xf32>) -> (tensor<32x4xf32>, tensor<4x4xf32>)
    attributes {qt.entry = #qt.entry<step>} {
  %y = qt.pointwise %gate {qt.scope = "mlp"} : tensor<32x4xf32> -> tensor<32x4xf32> {
  ^bb0(%a: tensor<f32>):
    %0 = qt.exp %a : tensor<f32>
    qt.yield %0 : tensor<f32>
  }
  %d = qt.linear %y, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  %b = qt.broadcast %seed dims [] : tensor<f32> -> tensor<32x4xf32>
  %dy = qt.mul %cotangent, %b : tensor<32x4xf32>, tensor<32x4xf32>
  %dw = qt.linear_weight_grad %dy, %y : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  return %d, %dw : tensor<32x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @stream
// CHECK-NOT: qt.recomputed
func.func @stream(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %seed: tensor<f32> {qt.argument = #qt.argument<inverse_tokens>},
                  %x: tensor<32x4xf32>, %w: tensor<4x4xf32>, %cotangent: tensor<32x4xf32>) -> (tensor<32x4xf32>, tensor<4x4xf32>)
    attributes {qt.entry = #qt.entry<step>} {
  %y = qt.pointwise %x : tensor<32x4xf32> -> tensor<32x4xf32> {
  ^bb0(%a: tensor<f32>):
    %0 = qt.scale %a by 3.0 : tensor<f32>
    qt.yield %0 : tensor<f32>
  }
  %d = qt.linear %y, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  %sum = qt.add %y, %d : tensor<32x4xf32>, tensor<32x4xf32>
  %b = qt.broadcast %seed dims [] : tensor<f32> -> tensor<32x4xf32>
  %dy = qt.mul %cotangent, %b : tensor<32x4xf32>, tensor<32x4xf32>
  %dw = qt.linear_weight_grad %dy, %y : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  return %sum, %dw : tensor<32x4xf32>, tensor<4x4xf32>
}
