// Where pointwise ops stay apart, and which stay as they are.
// RUN: qcc-opt %s --cluster-pointwise --split-input-file | FileCheck %s

// Shapes differ: a cluster each.
// CHECK-LABEL: func.func @shapes
// CHECK: %[[A:.*]] = qt.pointwise %{{.*}} : tensor<4xf32> -> tensor<4xf32>
// CHECK: qt.pointwise %{{.*}}, %[[A]] : tensor<32x4xf32>, tensor<4xf32> -> tensor<32x4xf32>
func.func @shapes(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>, %row: tensor<4xf32>) -> tensor<32x4xf32>
    attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.exp %row : tensor<4xf32>
  %1 = qt.mul %x, %0 : tensor<32x4xf32>, tensor<4xf32>
  return %1 : tensor<32x4xf32>
}

// -----

// Another op between two reads one and makes what the other reads: they cannot be one.
// CHECK-LABEL: func.func @between
// CHECK: %[[A:.*]] = qt.pointwise %{{.*}} : tensor<32x4xf32> -> tensor<32x4xf32>
// CHECK: %[[B:.*]] = qt.linear %[[A]], %{{.*}}
// CHECK: qt.pointwise %[[A]], %[[B]] : tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x4xf32>
func.func @between(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %x: tensor<32x4xf32>, %z: tensor<32x4xf32>, %w: tensor<4x4xf32>) -> tensor<32x4xf32>
    attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.silu %x : tensor<32x4xf32>
  %1 = qt.linear %0, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  %2 = qt.mul %0, %1 : tensor<32x4xf32>, tensor<32x4xf32>
  qt.watch %x as "hidden.0" : tensor<32x4xf32>
  return %2 : tensor<32x4xf32>
}

// -----

// A value of two earlier ones that are read by nobody else here: it is kept, which is less to read than both.
// CHECK-LABEL: func.func @kept
// CHECK: %[[KEPT:.*]]:2 = qt.pointwise %{{.*}}, %{{.*}} : tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x4xf32>, tensor<32x4xf32>
// CHECK: %[[D:.*]] = qt.linear %[[KEPT]]#1, %{{.*}}
// CHECK: qt.pointwise %[[D]], %[[KEPT]]#0 : tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x4xf32>
func.func @kept(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %a: tensor<32x4xf32>, %b: tensor<32x4xf32>, %w: tensor<4x4xf32>) -> tensor<32x4xf32>
    attributes {qt.entry = #qt.entry<step>} {
  %0 = qt.mul %a, %b : tensor<32x4xf32>, tensor<32x4xf32>
  %1 = qt.silu %0 : tensor<32x4xf32>
  %2 = qt.linear %1, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  %3 = qt.mul %2, %0 : tensor<32x4xf32>, tensor<32x4xf32>
  return %3 : tensor<32x4xf32>
}

// -----

// The same of one value that is kept for an op after it in any case: computing it again would keep another one, too.
// CHECK-LABEL: func.func @kept_anyway
// CHECK: %[[KEPT:.*]] = qt.pointwise %{{.*}} : tensor<32x4xf32> -> tensor<32x4xf32>
// CHECK: qt.pointwise %{{.*}}, %[[KEPT]] : tensor<32x4xf32>, tensor<32x4xf32> -> tensor<32x4xf32>
func.func @kept_anyway(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %a: tensor<32x4xf32>, %w: tensor<4x4xf32>) -> (tensor<32x4xf32>, tensor<32x4xf32>)
    attributes {qt.entry = #qt.entry<step>} {
  %0 = qt.exp %a : tensor<32x4xf32>
  %1 = qt.linear %0, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  %2 = qt.mul %1, %0 : tensor<32x4xf32>, tensor<32x4xf32>
  %3 = qt.linear %0, %w : tensor<32x4xf32>, tensor<4x4xf32> -> tensor<32x4xf32>
  return %2, %3 : tensor<32x4xf32>, tensor<32x4xf32>
}

// -----

// Sums alone are added in place; a sum beside another pointwise op is part of its cluster. Numbers that no kernel has are left, for an error; so are
// functions of any row.
// CHECK-LABEL: func.func @sums
// CHECK: %[[A:.*]] = qt.add
// CHECK: qt.add %[[A]]
// CHECK: qt.pointwise
// CHECK-NEXT: ^bb0
// CHECK-NEXT: qt.neg
// CHECK-NEXT: qt.add
// CHECK: qt.exp %{{.*}} : tensor<32x4xf64>
func.func @sums(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %a: tensor<32x4xf32>, %b: tensor<32x4xf32>, %c: tensor<8xf32>, %d: tensor<32x4xf64>)
    -> (tensor<32x4xf32>, tensor<8xf32>, tensor<32x4xf64>) attributes {qt.entry = #qt.entry<step>} {
  %0 = qt.add %a, %b : tensor<32x4xf32>, tensor<32x4xf32>
  %1 = qt.add %0, %a : tensor<32x4xf32>, tensor<32x4xf32>
  %2 = qt.neg %c : tensor<8xf32>
  %3 = qt.add %2, %c : tensor<8xf32>, tensor<8xf32>
  %4 = qt.exp %d : tensor<32x4xf64>
  return %1, %3, %4 : tensor<32x4xf32>, tensor<8xf32>, tensor<32x4xf64>
}

// CHECK-LABEL: func.func @any_row
// CHECK-NOT: qt.pointwise
func.func @any_row(%docs: !qt.segments {qt.argument = #qt.argument<segments>}, %a: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.exp %a : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// More results than a kernel writes: two clusters.
// CHECK-LABEL: func.func @limits
// CHECK-COUNT-2: qt.pointwise
// CHECK-NOT: qt.pointwise
func.func @limits(%docs: !qt.segments<32, 2, 16, 32> {qt.argument = #qt.argument<segments>}, %a: tensor<32x4xf32>)
    -> (tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>) attributes {qt.entry = #qt.entry<eval>} {
  %0 = qt.exp %a : tensor<32x4xf32>
  %1 = qt.neg %a : tensor<32x4xf32>
  %2 = qt.silu %a : tensor<32x4xf32>
  %3 = qt.sigmoid %a : tensor<32x4xf32>
  %4 = qt.softplus %a : tensor<32x4xf32>
  return %0, %1, %2, %3, %4 : tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>, tensor<32x4xf32>
}
