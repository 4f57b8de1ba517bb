// A watch only looks: it keeps what it watches, and nothing from being formed.
// RUN: qcc-opt %s --form-attention-gate --form-swiglu --form-gated-norm --form-linear-cross-entropy | FileCheck %s

// CHECK-LABEL: func @attention
// CHECK:         %[[Y:.*]] = qt.attention {{.*}} gate
// CHECK:         %[[O:.*]] = qt.attention
// CHECK:         qt.watch %[[O]] as "ungated"
// CHECK:         return %[[Y]]
func.func @attention(%docs: !qt.segments, %q: tensor<?x4x8xf32>, %gate: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %o = qt.attention %docs, %q, %q, %q scale 0.5 : (!qt.segments, tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32>) -> tensor<?x4x8xf32>
  qt.watch %o as "ungated" : tensor<?x4x8xf32>
  %s = qt.sigmoid %gate : tensor<?x4x8xf32>
  %y = qt.mul %o, %s : tensor<?x4x8xf32>, tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// CHECK-LABEL: func @mlp
// CHECK:         %[[Y:.*]] = qt.swiglu
// CHECK:         qt.watch %{{.*}} as "silu"
// CHECK:         return %[[Y]]
func.func @mlp(%gate: tensor<?x8xf32>, %up: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = qt.silu %gate : tensor<?x8xf32>
  qt.watch %s as "silu" : tensor<?x8xf32>
  %y = qt.mul %s, %up : tensor<?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func @norm
// CHECK:         %[[Y:.*]] = qt.gated_rms_norm
// CHECK:         qt.watch %{{.*}} as "normed"
// CHECK:         return %[[Y]]
func.func @norm(%o: tensor<?x2x8xf32>, %z: tensor<?x2x8xf32>, %w: tensor<8xf32>) -> tensor<?x2x8xf32> {
  %s = qt.silu %z : tensor<?x2x8xf32>
  %n = qt.plain_rms_norm %o, %w eps 1.0e-6 : tensor<?x2x8xf32>, tensor<8xf32> -> tensor<?x2x8xf32>
  qt.watch %n as "normed" : tensor<?x2x8xf32>
  %y = qt.mul %s, %n : tensor<?x2x8xf32>, tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}

// CHECK-LABEL: func @loss
// CHECK:         %[[LOSS:.*]] = qt.linear_cross_entropy
// CHECK:         qt.watch %{{.*}} as "logits"
// CHECK:         return %[[LOSS]]
func.func @loss(%labels: tensor<?xi32>, %docs: !qt.segments, %x: tensor<?x8xf32>, %w: tensor<32x8xf32>) -> tensor<f32> {
  %logits = qt.linear %x, %w : tensor<?x8xf32>, tensor<32x8xf32> -> tensor<?x32xf32>
  qt.watch %logits as "logits" : tensor<?x32xf32>
  %loss = qt.cross_entropy %logits, %labels : tensor<?x32xf32>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}
