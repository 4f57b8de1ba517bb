// Only the trained rows, and their labels, go through the head. The logits have no name any more.
// RUN: qcc-opt %s --form-linear-cross-entropy | FileCheck %s --implicit-check-not="qt.linear " --implicit-check-not="qt.cross_entropy " --implicit-check-not=qt.cast

// CHECK-LABEL: func @written
// CHECK-SAME:  (%[[LABELS:.*]]: tensor<?xi32>, %[[DOCS:.*]]: !qt.segments, %[[X:.*]]: tensor<?x8xbf16>, %[[W:.*]]: tensor<32x8xbf16>)
// CHECK-NEXT:    %[[XR:.*]] = qt.gather_rows %[[DOCS]], %[[X]] {qt.scope = "lm_head"} : (!qt.segments, tensor<?x8xbf16>) -> tensor<?x8xbf16>
// CHECK-NEXT:    %[[LR:.*]] = qt.gather_rows %[[DOCS]], %[[LABELS]] {qt.scope = "lm_head"} : (!qt.segments, tensor<?xi32>) -> tensor<?xi32>
// CHECK-NEXT:    %[[LOSS:.*]] = qt.linear_cross_entropy %[[XR]], %[[W]], %[[LR]] {qt.scope = "lm_head"}
// CHECK:         qt.watch %[[X]] as "hidden.1"
// CHECK-NEXT:    return %[[LOSS]]
func.func @written(%labels: tensor<?xi32>, %docs: !qt.segments, %x: tensor<?x8xbf16>, %w: tensor<32x8xbf16>) -> tensor<f32> {
  %logits = qt.linear %x, %w {qt.scope = "lm_head"} : tensor<?x8xbf16>, tensor<32x8xbf16> -> tensor<?x32xbf16>
  %loss = qt.cross_entropy %logits, %labels {qt.scope = "loss"} : tensor<?x32xbf16>, tensor<?xi32> -> tensor<f32>
  qt.watch %x as "hidden.1" : tensor<?x8xbf16>
  return %loss : tensor<f32>
}

// Logits widened first are the same.
// CHECK-LABEL: func @widened
// CHECK:         qt.linear_cross_entropy
func.func @widened(%labels: tensor<?xi32>, %docs: !qt.segments, %x: tensor<?x8xbf16>, %w: tensor<32x8xbf16>) -> tensor<f32> {
  %logits = qt.linear %x, %w : tensor<?x8xbf16>, tensor<32x8xbf16> -> tensor<?x32xbf16>
  %wide = qt.cast %logits : tensor<?x32xbf16> -> tensor<?x32xf32>
  %loss = qt.cross_entropy %wide, %labels : tensor<?x32xf32>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}
