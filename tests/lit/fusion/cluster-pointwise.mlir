// Pointwise ops of one shape become one cluster, as far as they can stand in one place of the program.
// RUN: qcc-opt %s --cluster-pointwise --verify-fused --split-input-file | FileCheck %s

// Forward: what is inside is never written. An operand that is repeated along rows is read as it is.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[Y:.*]] = qt.pointwise %[[GATE:.*]], %[[UP:.*]], %[[ROW:.*]] {qt.scope = "layers.0.mlp"} : tensor<32x4xbf16>, tensor<32x4xbf16>, tensor<4xbf16> -> tensor<32x4xbf16> {
// CHECK-NEXT: ^bb0(%[[G:.*]]: tensor<bf16>, %[[U:.*]]: tensor<bf16>, %[[R:.*]]: tensor<bf16>):
// CHECK-NEXT:   %[[A:.*]] = qt.scale %[[G]] by 1.702000e+00 : tensor<bf16>
// CHECK-NEXT:   %[[B:.*]] = qt.sigmoid %[[A]] : tensor<bf16>
// CHECK-NEXT:   %[[C:.*]] = qt.mul %[[G]], %[[B]] : tensor<bf16>, tensor<bf16>
// CHECK-NEXT:   %[[D:.*]] = qt.mul %[[C]], %[[U]] : tensor<bf16>, tensor<bf16>
// CHECK-NEXT:   %[[E:.*]] = qt.add %[[D]], %[[R]] : tensor<bf16>, tensor<bf16>
// CHECK-NEXT:   qt.yield %[[E]] : tensor<bf16>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y]]
func.func @forward(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %gate: tensor<32x4xbf16>, %up: tensor<32x4xbf16>, %row: tensor<4xbf16>)
    -> tensor<32x4xbf16> attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.scale %gate by 1.702 {qt.scope = "layers.0.mlp.act"} : tensor<32x4xbf16>
  %1 = qt.sigmoid %0 {qt.scope = "layers.0.mlp.act"} : tensor<32x4xbf16>
  %2 = qt.mul %gate, %1 {qt.scope = "layers.0.mlp.act"} : tensor<32x4xbf16>, tensor<32x4xbf16>
  %3 = qt.mul %2, %up {qt.scope = "layers.0.mlp"} : tensor<32x4xbf16>, tensor<32x4xbf16>
  %4 = qt.add %3, %row {qt.scope = "layers.0.mlp"} : tensor<32x4xbf16>, tensor<4xbf16>
  return %4 : tensor<32x4xbf16>
}

// -----

// A column that is repeated along rows becomes a view with 1 in place of what it lacks; what comes first stays so. Casts are part of a cluster, a cast by
// itself is one.
// CHECK-LABEL: func.func @columns
// CHECK: %[[COLUMN:.*]] = qt.reshape %{{.*}} : tensor<32xf32> -> tensor<32x1x1xf32>
// CHECK-NEXT: qt.pointwise %{{.*}}, %[[COLUMN]], %{{.*}} : tensor<32x2x4xbf16>, tensor<32x1x1xf32>, tensor<4xf32> -> tensor<32x2x4xf32>
// CHECK: qt.pointwise %{{.*}} : tensor<32xf32> -> tensor<32xbf16>
// CHECK-NOT: qt.broadcast
func.func @columns(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x2x4xbf16>, %column: tensor<32xf32>, %row: tensor<4xf32>)
    -> (tensor<32x2x4xf32>, tensor<32xbf16>) attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.cast %x : tensor<32x2x4xbf16> -> tensor<32x2x4xf32>
  %1 = qt.broadcast %column dims [0] : tensor<32xf32> -> tensor<32x2x4xf32>
  %2 = qt.mul %0, %1 : tensor<32x2x4xf32>, tensor<32x2x4xf32>
  %3 = qt.broadcast %row dims [2] : tensor<4xf32> -> tensor<32x2x4xf32>
  %4 = qt.sub %2, %3 : tensor<32x2x4xf32>, tensor<32x2x4xf32>
  %5 = qt.cast %column : tensor<32xf32> -> tensor<32xbf16>
  return %4, %5 : tensor<32x2x4xf32>, tensor<32xbf16>
}

// -----

// Several results: values that are read elsewhere too, and neighbours that read the same.
// CHECK-LABEL: func.func @results
// CHECK-NEXT: %[[R:.*]]:3 = qt.pointwise %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>
// CHECK:   qt.yield %[[S:.*]], %[[DA:.*]], %[[DB:.*]] :
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func @results(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %a: tensor<32x4xf32>, %b: tensor<32x4xf32>, %dy: tensor<32x4xf32>)
    -> (tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>) attributes {qt.entry = #qt.entry<eval>} {
  %s = qt.sigmoid %a : tensor<32x4xf32>
  %1 = qt.mul %dy, %s : tensor<32x4xf32>, tensor<32x4xf32>
  %2 = qt.mul %dy, %b : tensor<32x4xf32>, tensor<32x4xf32>
  return %s, %1, %2 : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>
}

// -----

// The gradient of a gate that is no swiglu: reader and op of one cluster may stand on both sides of another op, and what the forward pass computed is computed
// again from what is kept anyway. So each pass reads and writes what a fused kernel would.
// CHECK-LABEL: func.func @backward
// CHECK: %[[Y:.*]] = qt.pointwise %[[GATE:.*]], %[[UP:.*]] : tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x4xf32>
// CHECK: %[[D:.*]] = qt.linear %[[Y]]
// CHECK: %[[DY:.*]] = qt.linear_input_grad
// CHECK: qt.pointwise %[[GATE]], %[[DY]], %[[UP]] : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x4xf32>, tensor<32x4xf32>
// CHECK: qt.linear_weight_grad
// CHECK-NEXT: return
func.func @backward(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %gate: tensor<32x4xf32>, %up: tensor<32x4xf32>, %w: tensor<4x4xf32>, %g: tensor<32x4xf32>)
    -> (tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<4x4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %s = qt.sigmoid %gate : tensor<32x4xf32>
  %y = qt.mul %s, %up : tensor<32x4xf32>, tensor<32x4xf32>
  %d = qt.linear %y, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  %dy = qt.linear_input_grad %g, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  %ds = qt.mul %dy, %up : tensor<32x4xf32>, tensor<32x4xf32>
  %dup = qt.mul %dy, %s : tensor<32x4xf32>, tensor<32x4xf32>
  %dw = qt.linear_weight_grad %dup, %up : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  %square = qt.mul %s, %s : tensor<32x4xf32>, tensor<32x4xf32>
  %slope = qt.sub %s, %square : tensor<32x4xf32>, tensor<32x4xf32>
  %dgate = qt.mul %ds, %slope : tensor<32x4xf32>, tensor<32x4xf32>
  return %d, %dgate, %dup, %dw : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<4x4xf32>
}

// -----

// A sum of what is repeated is no sum by itself: the kernel `add` repeats nothing.
// CHECK-LABEL: func.func @repeated_sum
// CHECK: %[[COLUMN:.*]] = qt.reshape %{{.*}} : tensor<32xf32> -> tensor<32x1xf32>
// CHECK-NEXT: qt.pointwise %{{.*}}, %[[COLUMN]] : tensor<32x4xf32>, tensor<32x1xf32> -> tensor<32x4xf32>
// CHECK-NOT: qt.broadcast
func.func @repeated_sum(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>, %column: tensor<32xf32>)
    -> tensor<32x4xf32> attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.broadcast %column dims [0] : tensor<32xf32> -> tensor<32x4xf32>
  %1 = qt.add %x, %0 : tensor<32x4xf32>, tensor<32x4xf32>
  return %1 : tensor<32x4xf32>
}

// -----

// What is repeated to the last dimensions, and with them along all rows.
// CHECK-LABEL: func.func @last_dimensions
// CHECK: %[[HEAD:.*]] = qt.reshape %{{.*}} : tensor<2xf32> -> tensor<2x1xf32>
// CHECK-NEXT: qt.pointwise %{{.*}}, %[[ROW:.*]], %[[HEAD]] : tensor<32x2x4xf32>, tensor<4xf32>, tensor<2x1xf32> -> tensor<32x2x4xf32>
// CHECK-NOT: qt.broadcast
func.func @last_dimensions(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x2x4xf32>, %row: tensor<4xf32>, %head: tensor<2xf32>)
    -> tensor<32x2x4xf32> attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.broadcast %row dims [1] : tensor<4xf32> -> tensor<2x4xf32>
  %1 = qt.mul %x, %0 : tensor<32x2x4xf32>, tensor<2x4xf32>
  %2 = qt.broadcast %head dims [0] : tensor<2xf32> -> tensor<2x4xf32>
  %3 = qt.add %1, %2 : tensor<32x2x4xf32>, tensor<2x4xf32>
  return %3 : tensor<32x2x4xf32>
}

// -----

// What repeats nothing is what it is of, and what is repeated alike is one input.
// CHECK-LABEL: func.func @once
// CHECK: qt.pointwise %{{.*}}, %[[X:.*]] : tensor<32x1xf32>, tensor<32x4xf32> -> tensor<32x4xf32>
// CHECK-NOT: qt.broadcast
func.func @once(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>, %column: tensor<32x1xf32>)
    -> tensor<32x4xf32> attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.broadcast %x dims [0, 1] : tensor<32x4xf32> -> tensor<32x4xf32>
  %1 = qt.broadcast %column dims [0, 1] : tensor<32x1xf32> -> tensor<32x4xf32>
  %2 = qt.broadcast %column dims [0, 1] : tensor<32x1xf32> -> tensor<32x4xf32>
  %3 = qt.mul %1, %0 : tensor<32x4xf32>, tensor<32x4xf32>
  %4 = qt.add %3, %2 : tensor<32x4xf32>, tensor<32x4xf32>
  return %4 : tensor<32x4xf32>
}
